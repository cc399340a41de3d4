/** Walks the segments of a JBIG2 file (ITU-T T.88 Annex D): for the page's size and for embedding in PDF. */

export interface Jbig2Segment {
  readonly number: number;
  readonly type: number;
  /** 0 for segments that belong to no page. */
  readonly page: number;
  /** Where the header and the data stand in the file. */
  readonly headerStart: number;
  readonly headerEnd: number;
  readonly dataStart: number;
  readonly dataEnd: number;
  /** Where the page association stands, and whether it takes four bytes. */
  readonly pageAt: number;
  readonly isPageLong: boolean;
}

export interface Jbig2File {
  readonly isSequential: boolean;
  readonly segments: readonly Jbig2Segment[];
  /** The last segment is whole. */
  readonly isComplete: boolean;
}

export const PAGE_INFORMATION = 48;
export const END_OF_PAGE = 49;
const END_OF_STRIPE = 50;
export const END_OF_FILE = 51;
const IMMEDIATE_GENERIC_REGION = 38;
const UNKNOWN = 0xffffffff;
const MAX_SEGMENTS = 100_000;

type Header = Omit<Jbig2Segment, 'dataStart' | 'dataEnd'> & { length: number };

/** The segments of a file with its file header, as far as they can be read. */
export function jbig2Segments(bytes: Uint8Array): Jbig2File {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const flags = bytes.length > 8 ? bytes[8]! : 0;
  const isSequential = (flags & 1) === 1;
  const start = (flags & 2) === 0 ? 13 : 9; // bit 1: number of pages unknown, so not written
  return isSequential ? sequential(view, start) : randomAccess(view, start);
}

function sequential(view: DataView, start: number): Jbig2File {
  const segments: Jbig2Segment[] = [];
  let at = start;
  while (segments.length < MAX_SEGMENTS) {
    const header = readHeader(view, at);
    if (header === undefined) return { isSequential: true, segments, isComplete: at === view.byteLength };
    const { length, ...rest } = header;
    const dataStart = rest.headerEnd;
    const dataEnd = length === UNKNOWN ? unknownEnd(view, rest.type, dataStart) : dataStart + length;
    if (dataEnd > view.byteLength) {
      segments.push({ ...rest, dataStart, dataEnd: view.byteLength });
      return { isSequential: true, segments, isComplete: false };
    }
    segments.push({ ...rest, dataStart, dataEnd });
    at = dataEnd;
    if (rest.type === END_OF_FILE) break;
  }
  return { isSequential: true, segments, isComplete: true };
}

function randomAccess(view: DataView, start: number): Jbig2File {
  const headers: Header[] = [];
  let at = start;
  while (headers.length < MAX_SEGMENTS) {
    const header = readHeader(view, at);
    if (header === undefined) break;
    headers.push(header);
    at = header.headerEnd;
    if (header.type === END_OF_FILE) break;
  }
  let isComplete = true;
  const segments = headers.map(({ length, ...rest }) => {
    const dataStart = at;
    const wanted = length === UNKNOWN ? unknownEnd(view, rest.type, dataStart) : dataStart + length;
    if (wanted > view.byteLength) isComplete = false;
    at = Math.min(wanted, view.byteLength);
    return { ...rest, dataStart, dataEnd: at };
  });
  return { isSequential: false, segments, isComplete };
}

function readHeader(view: DataView, headerStart: number): Header | undefined {
  if (headerStart + 11 > view.byteLength) return undefined;
  const number = view.getUint32(headerStart);
  const flags = view.getUint8(headerStart + 4);
  let at = headerStart + 5;
  let referredCount = view.getUint8(at) >> 5;
  if (referredCount === 7) {
    referredCount = view.getUint32(at) & 0x1fffffff;
    at += 4 + ((referredCount + 8) >> 3);
  } else at += 1;
  const referredSize = number <= 256 ? 1 : number <= 65536 ? 2 : 4;
  at += referredCount * referredSize;
  const isPageLong = (flags & 0x40) !== 0;
  const pageAt = at;
  const headerEnd = at + (isPageLong ? 4 : 1) + 4;
  if (headerEnd > view.byteLength) return undefined;
  const page = isPageLong ? view.getUint32(pageAt) : view.getUint8(pageAt);
  const length = view.getUint32(headerEnd - 4);
  return { number, type: flags & 0x3f, page, headerStart, headerEnd, pageAt, isPageLong, length };
}

/** Only an immediate generic region may leave its length open; it ends with a mark and a row count (T.88 7.2.7). */
function unknownEnd(view: DataView, type: number, dataStart: number): number {
  if (type !== IMMEDIATE_GENERIC_REGION || dataStart + 18 > view.byteLength) return view.byteLength + 1;
  const isMmr = (view.getUint8(dataStart + 17) & 1) === 1;
  const mark = isMmr ? 0x0000 : 0xffac;
  for (let at = dataStart + 18; at + 6 <= view.byteLength; at++) {
    if (view.getUint16(at) === mark) return at + 6;
  }
  return view.byteLength + 1;
}

/** Size of the first page. A height left open is told by the last stripe. */
export function jbig2PageSize(bytes: Uint8Array): { width: number; height: number } | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const { segments } = jbig2Segments(bytes);
  const info = segments.find((segment) => segment.type === PAGE_INFORMATION);
  if (info === undefined || info.dataEnd - info.dataStart < 8) return undefined;
  const width = view.getUint32(info.dataStart);
  const height = view.getUint32(info.dataStart + 4);
  if (height !== UNKNOWN) return { width, height };
  const stripes = segments.filter((s) => s.type === END_OF_STRIPE && s.page === info.page);
  const last = stripes.at(-1);
  if (last === undefined || last.dataEnd - last.dataStart < 4) return undefined;
  return { width, height: view.getUint32(last.dataStart) + 1 };
}
