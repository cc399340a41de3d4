/**
 * The PDF that LibreOffice wrote becomes a product: the same bytes for the same input (contract X1). LibreOffice puts
 * the time of day into the date, the file identifier and a checksum; they are overwritten in place, so that no offset
 * of the file changes.
 */
import type { ByteSource } from '../byte-source.js';
import type { AsyncOutputFile } from '../output-files.js';

const WINDOW_BYTES = 1024 * 1024;
/** Longer than every piece that is looked for. */
const OVERLAP_BYTES = 256;
const PAGE_LIST_BYTES = 4 * 1024 * 1024;

interface Patch {
  readonly at: number;
  readonly bytes: Buffer;
}

interface Marks {
  readonly patches: readonly Patch[];
  readonly pages: number;
}

/** Whether the source is a PDF with a beginning and an end. */
export async function isWholePdf(source: ByteSource): Promise<boolean> {
  const head = await source.read(0, 5);
  const tail = await source.read(Math.max(0, source.sizeBytes - 1024), 1024);
  return head.toString('latin1') === '%PDF-' && tail.includes('%%EOF');
}

/**
 * Writes the product, piece by piece.
 * @param identifier 16 bytes that stand for the input
 * @returns the number of its pages
 */
export async function writePdfProduct(source: ByteSource, identifier: Buffer, file: AsyncOutputFile): Promise<number> {
  const { patches, pages } = await findMarks(source, identifier.toString('hex').toUpperCase());
  for (let at = 0; at < source.sizeBytes; at += WINDOW_BYTES) {
    const piece = await source.read(at, WINDOW_BYTES);
    for (const patch of patches) {
      // A patch may begin in one piece and end in the next.
      const from = Math.max(patch.at, at);
      const to = Math.min(patch.at + patch.bytes.length, at + piece.length);
      if (from < to) patch.bytes.copy(piece, from - at, from - patch.at, to - patch.at);
    }
    await file.write(piece);
  }
  return pages;
}

const VOLATILE = {
  creationDate: /\/CreationDate\(D:[^)]{8,40}\)/g,
  checksum: /\/DocChecksum \/[0-9A-F]{32}/g,
  identifier: /\/ID \[ ?<[0-9A-F]{32}>\s?<[0-9A-F]{32}> ?\]/g,
  pageList: /\/Type\/Pages\b/g,
};

/** The last of each: what stands before belongs to a document that is embedded in this one. */
async function findMarks(source: ByteSource, identifier: string): Promise<Marks> {
  const last = new Map<string, { at: number; text: string }>();
  for (let at = 0; at < source.sizeBytes; at += WINDOW_BYTES) {
    const window = (await source.read(at, WINDOW_BYTES + OVERLAP_BYTES)).toString('latin1');
    for (const [name, pattern] of Object.entries(VOLATILE)) {
      for (const match of window.matchAll(pattern)) last.set(name, { at: at + match.index, text: match[0] });
    }
  }
  const replacement = (name: string, text: string): string =>
    name === 'identifier' ? text.replace(/[0-9A-F]{32}/g, identifier) : ' '.repeat(text.length);
  const patches = [...last]
    .filter(([name]) => name !== 'pageList')
    .map(([name, { at, text }]) => ({ at, bytes: Buffer.from(replacement(name, text), 'latin1') }));
  const list = last.get('pageList');
  const text = list && (await source.read(list.at, PAGE_LIST_BYTES)).toString('latin1');
  return { patches, pages: Number(/\/Count (\d+)/.exec(text ?? '')?.[1] ?? 0) };
}
