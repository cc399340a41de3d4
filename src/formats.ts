/** The registry of formats (contract B1): names, extensions, media types, and how many files a document becomes. */

export interface Format {
  /** First one is canonical. */
  readonly extensions: readonly string[];
  readonly mediaType: string;
  /** 'document': one file; 'page': a file for each page. Only outputs have it. */
  readonly paging?: 'document' | 'page';
}

export const FORMATS = {
  ofd: { extensions: ['ofd'], mediaType: 'application/ofd' },
  pdf: { extensions: ['pdf'], mediaType: 'application/pdf', paging: 'document' },
  txt: { extensions: ['txt'], mediaType: 'text/plain; charset=utf-8', paging: 'document' },
  md: { extensions: ['md', 'markdown'], mediaType: 'text/markdown; charset=utf-8', paging: 'document' },
  png: { extensions: ['png'], mediaType: 'image/png', paging: 'page' },
  jpeg: { extensions: ['jpeg', 'jpg'], mediaType: 'image/jpeg', paging: 'page' },
  webp: { extensions: ['webp'], mediaType: 'image/webp', paging: 'page' },
  svg: { extensions: ['svg'], mediaType: 'image/svg+xml', paging: 'page' },
  html: { extensions: ['html', 'htm'], mediaType: 'text/html; charset=utf-8', paging: 'document' },
  mhtml: { extensions: ['mhtml', 'mht'], mediaType: 'multipart/related' },
  json: { extensions: ['json'], mediaType: 'application/json', paging: 'document' },
  csv: { extensions: ['csv'], mediaType: 'text/csv; charset=utf-8' },
  rtf: { extensions: ['rtf'], mediaType: 'application/rtf' },
  doc: { extensions: ['doc'], mediaType: 'application/msword' },
  docx: {
    extensions: ['docx'],
    mediaType: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  },
  odt: { extensions: ['odt'], mediaType: 'application/vnd.oasis.opendocument.text' },
  xls: { extensions: ['xls'], mediaType: 'application/vnd.ms-excel' },
  xlsx: { extensions: ['xlsx'], mediaType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet' },
  ods: { extensions: ['ods'], mediaType: 'application/vnd.oasis.opendocument.spreadsheet' },
  ppt: { extensions: ['ppt'], mediaType: 'application/vnd.ms-powerpoint' },
  pptx: {
    extensions: ['pptx'],
    mediaType: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  },
  odp: { extensions: ['odp'], mediaType: 'application/vnd.oasis.opendocument.presentation' },
  tiff: { extensions: ['tiff', 'tif'], mediaType: 'image/tiff' },
  bmp: { extensions: ['bmp'], mediaType: 'image/bmp' },
} as const satisfies Record<string, Format>;

export type FormatId = keyof typeof FORMATS;

export const FORMAT_IDS = Object.keys(FORMATS) as readonly FormatId[];

/** The format of a name such as `pdf`, `JPG` or `.md`; undefined for a name that is none. */
export function formatNamed(name: string): FormatId | undefined {
  const wanted = name.trim().toLowerCase().replace(/^\./, '');
  return FORMAT_IDS.find((id) => id === wanted || (FORMATS[id] as Format).extensions.includes(wanted));
}

/** The format that a file name's extension claims. */
export function formatOfFileName(fileName: string): FormatId | undefined {
  const dot = fileName.lastIndexOf('.');
  return dot < 0 ? undefined : formatNamed(fileName.slice(dot + 1));
}

/** Servers say it of anything. */
const VAGUE_TYPES: readonly string[] = ['text/plain'];

/** The format that a Content-Type claims; undefined for one that says nothing. */
export function formatOfMediaType(contentType: string): FormatId | undefined {
  const essence = (text: string): string => text.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const wanted = essence(contentType);
  return VAGUE_TYPES.includes(wanted) ? undefined : FORMAT_IDS.find((id) => essence(FORMATS[id].mediaType) === wanted);
}
