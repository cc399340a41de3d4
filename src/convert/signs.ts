/** What the bytes of a file tell of its format, read in pieces: an upload may be large and lie on disk (contract B2). */
import type { FormatId } from '../formats.js';
import type { ByteSource } from './byte-source.js';

export interface ContentSigns {
  /** Where a PDF header stands among the first 1,024 bytes. */
  readonly pdfHeaderAt: number | undefined;
  /** A ZIP archive with an entry OFD.xml at its root. */
  readonly isOfd: boolean;
  /** Another format that only this content has. */
  readonly other: FormatId | undefined;
}

const PDF_HEADER_WITHIN = 1024;

export async function readSigns(source: ByteSource): Promise<ContentSigns> {
  const head = (await source.read(0, PDF_HEADER_WITHIN)).toString('latin1');
  const pdfHeaderAt = head.search(/%PDF-\d/);
  const names = head.startsWith(LOCAL_HEADER) ? await namesIn(source) : undefined;
  return {
    pdfHeaderAt: pdfHeaderAt < 0 ? undefined : pdfHeaderAt,
    isOfd: names?.isOfd ?? false,
    other: STARTS.find(([, isOf]) => isOf(head))?.[0] ?? names?.openXmlFormat,
  };
}

const LOCAL_HEADER = 'PK\x03\x04';
const LOCAL_HEADER_BYTES = 30;
const CENTRAL_HEADER_SIGNATURE = 0x02014b50;
const CENTRAL_HEADER_BYTES = 46;
const END_RECORD = 'PK\x05\x06';
const END_RECORD_BYTES = 22;
const LONGEST_COMMENT = 65_535;
const MOST_ENTRIES = 200_000;
/** Longer names are looked at so far. */
const LONGEST_NAME = 20;
const WINDOW_BYTES = 1024 * 1024;

/** OpenDocument: the first entry of the package names the type, and is stored as it is; the next one follows. */
function isOpenDocument(head: string, type: string): boolean {
  const typeAt = LOCAL_HEADER_BYTES + FIRST_ENTRY.length;
  return (
    head.startsWith(LOCAL_HEADER) &&
    head.startsWith(FIRST_ENTRY, LOCAL_HEADER_BYTES) &&
    ['PK', '-templatePK'].some((end) => head.startsWith(`application/vnd.oasis.opendocument.${type}${end}`, typeAt))
  );
}

const FIRST_ENTRY = 'mimetype';

const STARTS: readonly (readonly [FormatId, (head: string) => boolean])[] = [
  ['odt', (head) => isOpenDocument(head, 'text')],
  ['ods', (head) => isOpenDocument(head, 'spreadsheet')],
  ['odp', (head) => isOpenDocument(head, 'presentation')],
  ['rtf', (head) => head.startsWith('{\\rtf')],
  ['png', (head) => head.startsWith('\x89PNG\r\n\x1a\n')],
  ['jpeg', (head) => head.startsWith('\xff\xd8\xff')],
  ['tiff', (head) => head.startsWith('II*\0') || head.startsWith('MM\0*')],
  ['webp', (head) => head.startsWith('RIFF') && head.startsWith('WEBP', 8)],
  // Two letters begin many a text; the four reserved bytes are in none.
  ['bmp', (head) => head.startsWith('BM') && head.startsWith('\0\0\0\0', 6)],
];

interface NameSigns {
  readonly isOfd: boolean;
  readonly openXmlFormat?: FormatId | undefined;
}

/** Where the directory is lost, the local headers are looked at. */
async function namesIn(zip: ByteSource): Promise<NameSigns> {
  const tailAt = Math.max(0, zip.sizeBytes - END_RECORD_BYTES - LONGEST_COMMENT);
  const tail = await zip.read(tailAt, zip.sizeBytes - tailAt);
  const endAt = tail.lastIndexOf(END_RECORD, undefined, 'latin1');
  const end = endAt < 0 ? undefined : tail.subarray(endAt);
  if (end && end.length >= END_RECORD_BYTES) {
    const listed = await namesListed(new Windows(zip), end.readUInt32LE(16), end.readUInt16LE(10));
    if (listed !== undefined) return listed;
  }
  return { isOfd: await hasLocalRootXml(zip) };
}

function isRootXml(name: Buffer): boolean {
  return /^[/\\]?ofd\.xml$/i.test(name.toString('latin1'));
}

/** undefined where the directory is not where the end record says. */
async function namesListed(zip: Windows, directoryAt: number, entryCount: number): Promise<NameSigns | undefined> {
  const openXml = new OpenXmlNames();
  let at = directoryAt;
  for (let entry = 0; entry < Math.min(entryCount, MOST_ENTRIES); entry++) {
    const header = zip.at(at, CENTRAL_HEADER_BYTES + LONGEST_NAME) ?? (await zip.load(at));
    if (header.length < CENTRAL_HEADER_BYTES || header.readUInt32LE(0) !== CENTRAL_HEADER_SIGNATURE) return undefined;
    const nameLength = header.readUInt16LE(28);
    const name = header.subarray(CENTRAL_HEADER_BYTES, CENTRAL_HEADER_BYTES + nameLength);
    if (isRootXml(name)) return { isOfd: true };
    openXml.take(name.toString('latin1', 0, LONGEST_NAME));
    at += CENTRAL_HEADER_BYTES + nameLength + header.readUInt16LE(30) + header.readUInt16LE(32);
  }
  return { isOfd: false, openXmlFormat: openXml.format };
}

/** Office files of Microsoft's name their types in one entry; the folder beside it tells which program they are of. */
class OpenXmlNames {
  #hasTypes = false;
  readonly #found = new Set<FormatId>();

  /** @param name or how it begins */
  take(name: string): void {
    if (name === '[Content_Types].xml') this.#hasTypes = true;
    const folder = /^(word|xl|ppt)\//i.exec(name)?.[1];
    if (folder !== undefined) this.#found.add(OPEN_XML_FOLDERS[folder.toLowerCase() as keyof typeof OPEN_XML_FOLDERS]);
  }

  get format(): FormatId | undefined {
    const [format, ...more] = this.#found;
    return this.#hasTypes && more.length === 0 ? format : undefined;
  }
}

const OPEN_XML_FOLDERS = { word: 'docx', xl: 'xlsx', ppt: 'pptx' } as const;

async function hasLocalRootXml(zip: ByteSource): Promise<boolean> {
  const overlap = LOCAL_HEADER_BYTES + LONGEST_NAME;
  for (let start = 0; start < zip.sizeBytes; start += WINDOW_BYTES - overlap) {
    const window = await zip.read(start, WINDOW_BYTES);
    for (let at = 0; at >= 0; at = window.indexOf(LOCAL_HEADER, at + 1, 'latin1')) {
      const header = window.subarray(at, at + overlap);
      if (header.length < LOCAL_HEADER_BYTES || header.indexOf(LOCAL_HEADER, 0, 'latin1') !== 0) continue;
      if (isRootXml(header.subarray(LOCAL_HEADER_BYTES, LOCAL_HEADER_BYTES + header.readUInt16LE(26)))) return true;
    }
  }
  return false;
}

/** A source read in large pieces for somebody who goes through it in small steps. */
class Windows {
  readonly #source: ByteSource;
  #window: Buffer = Buffer.alloc(0);
  #start = 0;

  constructor(source: ByteSource) {
    this.#source = source;
  }

  /** `length` bytes where the window has all of them. */
  at(at: number, length: number): Buffer | undefined {
    const from = at - this.#start;
    return from >= 0 && from + length <= this.#window.length ? this.#window.subarray(from, from + length) : undefined;
  }

  /** What there is from `at` on, read anew. */
  async load(at: number): Promise<Buffer> {
    this.#start = at;
    this.#window = await this.#source.read(at, WINDOW_BYTES);
    return this.#window;
  }
}
