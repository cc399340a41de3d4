// Writes small PDF files by hand, object by object, for tests of what reads them.

export type PdfObject = string | { readonly dict: string; readonly stream: string | Uint8Array };

export interface PageSpec {
  /** Operators of the content stream. */
  readonly content?: string;
  /** Points, MediaBox of [0 0 width height]. */
  readonly size?: readonly [number, number];
  /** Anything else of the page's dictionary: `/Rotate 90 /CropBox [...]`. */
  readonly extra?: string;
  /** Entries of the resources dictionary beside the fonts. */
  readonly resources?: string;
}

export interface PdfSpec {
  readonly pages: readonly PageSpec[];
  /** Entries of the font dictionary of every page: `/F1 10 0 R`. */
  readonly fonts?: string;
  /** Objects from number 100 on. */
  readonly objects?: readonly PdfObject[];
  /** Entries of the catalog: `/AcroForm 100 0 R`. */
  readonly catalog?: string;
  /** Entries of the information dictionary: `/Title (Report)`. */
  readonly info?: string;
}

export const FIRST_EXTRA_OBJECT = 100;
/** Helvetica, which no PDF has to carry. */
export const HELVETICA = '/F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>';

/** A Chinese font that is not embedded, its text in UTF-16. */
export function hanFont(name: string): string {
  const descriptor = `<< /Type /FontDescriptor /FontName /${name} /Flags 6 /FontBBox [0 -200 1000 900] /ItalicAngle 0 /Ascent 880 /Descent -120 /CapHeight 700 /StemV 80 >>`;
  const descendant = `<< /Type /Font /Subtype /CIDFontType0 /BaseFont /${name} /CIDSystemInfo << /Registry (Adobe) /Ordering (GB1) /Supplement 4 >> /DW 1000 /FontDescriptor ${descriptor} >>`;
  return `<< /Type /Font /Subtype /Type0 /BaseFont /${name} /Encoding /UniGB-UCS2-H /DescendantFonts [${descendant}] >>`;
}

/** `text` as a hexadecimal string for a font of `hanFont`. */
export function utf16Hex(text: string): string {
  return `<${Buffer.from(text, 'utf16le').swap16().toString('hex')}>`;
}

/** The bytes of a file with a right cross-reference table. */
export function writePdf(spec: PdfSpec): Buffer {
  const { pages, fonts = HELVETICA, objects = [], catalog = '', info } = spec;
  const numbered = new Map<number, PdfObject>();
  const pageNumber = (i: number): number => 3 + 2 * i;
  const kids = pages.map((_, i) => `${pageNumber(i)} 0 R`).join(' ');
  numbered.set(1, `<< /Type /Catalog /Pages 2 0 R ${catalog} >>`);
  numbered.set(2, `<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`);
  pages.forEach(({ content = '', size = [595, 842], extra = '', resources = '' }, i) => {
    const box = `/MediaBox [0 0 ${size[0]} ${size[1]}]`;
    const resource = `/Resources << /Font << ${fonts} >> ${resources} >>`;
    const number = pageNumber(i);
    numbered.set(number, `<< /Type /Page /Parent 2 0 R ${box} ${resource} /Contents ${number + 1} 0 R ${extra} >>`);
    numbered.set(number + 1, { dict: '', stream: content });
  });
  for (const [i, object] of objects.entries()) numbered.set(FIRST_EXTRA_OBJECT + i, object);
  const infoNumber = FIRST_EXTRA_OBJECT + objects.length;
  if (info !== undefined) numbered.set(infoNumber, `<< ${info} >>`);
  return assemble(numbered, info === undefined ? '' : `/Info ${infoNumber} 0 R`);
}

function assemble(objects: ReadonlyMap<number, PdfObject>, trailer: string): Buffer {
  const parts: Buffer[] = [Buffer.from('%PDF-1.7\n%\xe2\xe3\xcf\xd3\n', 'latin1')];
  const offsets = new Map<number, number>();
  let length = parts[0]!.length;
  const add = (bytes: Buffer): void => {
    parts.push(bytes);
    length += bytes.length;
  };
  for (const [number, object] of objects) {
    offsets.set(number, length);
    add(Buffer.from(`${number} 0 obj\n`));
    if (typeof object === 'string') add(Buffer.from(`${object}\nendobj\n`));
    else {
      const stream = Buffer.from(object.stream);
      add(Buffer.from(`<< ${object.dict} /Length ${stream.length} >>\nstream\n`));
      add(stream);
      add(Buffer.from('\nendstream\nendobj\n'));
    }
  }
  const startOfTable = length;
  const size = Math.max(...objects.keys()) + 1;
  const rows = Array.from({ length: size }, (_, number) => {
    const offset = offsets.get(number);
    return offset === undefined ? '0000000000 65535 f \n' : `${String(offset).padStart(10, '0')} 00000 n \n`;
  });
  add(Buffer.from(`xref\n0 ${size}\n${rows.join('')}`));
  add(Buffer.from(`trailer\n<< /Size ${size} /Root 1 0 R ${trailer} >>\nstartxref\n${startOfTable}\n%%EOF\n`));
  return Buffer.concat(parts);
}
