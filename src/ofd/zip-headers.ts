/** The records of a ZIP file as bytes: local headers, and the entries that can be found from them alone. */

const LOCAL_SIGNATURE = 0x04034b50;
export const CENTRAL_SIGNATURE = 0x02014b50;
const DESCRIPTOR_SIGNATURE = 0x08074b50;
const END_SIGNATURE = 0x06054b50;
const LOCAL_SIZE = 30;
export const CENTRAL_SIZE = 46;
export const END_SIZE = 22;
export const STORED = 0;
const DEFLATED = 8;
const FLAG_ENCRYPTED = 0x1;
const FLAG_DESCRIPTOR = 0x8;
const FLAG_UTF8 = 0x800;
const ZIP64_FIELD = 0x0001;
const IN_ZIP64_FIELD = 0xffffffff;

/** An entry before its name is judged. */
export interface RawEntry {
  readonly name: Uint8Array;
  /** The writer says that the name is UTF-8. */
  readonly isUtf8Claimed: boolean;
  readonly method: number;
  readonly isEncrypted: boolean;
  /** Undefined where nothing recorded it. */
  readonly crc32: number | undefined;
  /** Where the deflated (or stored) bytes stand. */
  readonly start: number;
  readonly end: number;
  /** Size after inflation as recorded; 0 where nothing recorded it. */
  readonly sizeBytes: number;
}

interface LocalHeader {
  readonly name: Uint8Array;
  readonly flags: number;
  readonly method: number;
  readonly crc32: number;
  readonly compressedBytes: number;
  readonly sizeBytes: number;
  readonly dataStart: number;
}

export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** The same memory with Node's searches. */
export function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

export function isReadableMethod(method: number): boolean {
  return method === STORED || method === DEFLATED;
}

export function claimsUtf8(flags: number): boolean {
  return (flags & FLAG_UTF8) !== 0;
}

export function isEncryptedFlag(flags: number): boolean {
  return (flags & FLAG_ENCRYPTED) !== 0;
}

/** The local header at `offset`, or undefined where there is none that is whole. */
export function readLocalHeader(bytes: Uint8Array, view: DataView, offset: number): LocalHeader | undefined {
  if (offset < 0 || offset + LOCAL_SIZE > bytes.length) return undefined;
  if (view.getUint32(offset, true) !== LOCAL_SIGNATURE) return undefined;
  const nameLength = view.getUint16(offset + 26, true);
  const extraLength = view.getUint16(offset + 28, true);
  const nameStart = offset + LOCAL_SIZE;
  const dataStart = nameStart + nameLength + extraLength;
  if (dataStart > bytes.length) return undefined;
  const sizes = sizesOf(view, offset, nameStart + nameLength, dataStart);
  return {
    name: bytes.subarray(nameStart, nameStart + nameLength),
    flags: view.getUint16(offset + 6, true),
    method: view.getUint16(offset + 8, true),
    crc32: view.getUint32(offset + 14, true),
    ...sizes,
    dataStart,
  };
}

function sizesOf(view: DataView, offset: number, extraStart: number, extraEnd: number) {
  const compressedBytes = view.getUint32(offset + 18, true);
  const sizeBytes = view.getUint32(offset + 22, true);
  if (compressedBytes !== IN_ZIP64_FIELD && sizeBytes !== IN_ZIP64_FIELD) return { compressedBytes, sizeBytes };
  for (let at = extraStart; at + 4 <= extraEnd; at += 4 + view.getUint16(at + 2, true)) {
    const isWhole = view.getUint16(at + 2, true) >= 16 && at + 20 <= extraEnd;
    if (view.getUint16(at, true) !== ZIP64_FIELD || !isWhole) continue;
    return { sizeBytes: uint64(view, at + 4), compressedBytes: uint64(view, at + 12) };
  }
  return { compressedBytes, sizeBytes };
}

function uint64(view: DataView, at: number): number {
  return Number(view.getBigUint64(at, true));
}

/**
 * All entries that local headers describe, in file order, stopping after `maxEntries` + 1. Reads no directory. An entry
 * that runs over the end of the file is cut there. Linear in the size of the file.
 */
export function scanLocalHeaders(bytes: Uint8Array, maxEntries: number): RawEntry[] {
  const view = viewOf(bytes);
  const marks = findMarks(bytes, view);
  const entries: RawEntry[] = [];
  let from = 0;
  for (let i = 0; i < marks.locals.length && entries.length <= maxEntries; i++) {
    const offset = marks.locals[i]!;
    // Inside the data of the entry before: a package that is stored in this one.
    if (offset < from) continue;
    const header = readLocalHeader(bytes, view, offset);
    if (header === undefined) continue;
    const found = extentOf(header, bytes, view, marks, i);
    entries.push({
      name: header.name,
      isUtf8Claimed: claimsUtf8(header.flags),
      method: header.method,
      isEncrypted: isEncryptedFlag(header.flags),
      crc32: found.crc32,
      start: header.dataStart,
      end: found.end,
      sizeBytes: found.sizeBytes,
    });
    from = found.isSure ? found.end : header.dataStart;
  }
  return entries;
}

interface Descriptor {
  readonly end: number;
  readonly crc32: number;
  readonly sizeBytes: number;
}

interface Marks {
  /** Offsets of what looks like a local header. */
  readonly locals: readonly number[];
  /** Start of data → the descriptor whose size says that its data start there. */
  readonly descriptors: ReadonlyMap<number, Descriptor>;
  /** Where the first directory record stands after the last local header, or the end of the file. */
  readonly tail: number;
}

/** One pass over the file for the signatures that all start with 'PK'. */
function findMarks(bytes: Uint8Array, view: DataView): Marks {
  const buffer = bufferOf(bytes);
  const locals: number[] = [];
  const descriptors = new Map<number, Descriptor>();
  let tail = bytes.length;
  for (let at = buffer.indexOf('PK'); at >= 0 && at + 4 <= bytes.length; at = buffer.indexOf('PK', at + 2)) {
    const signature = view.getUint32(at, true);
    if (signature === DESCRIPTOR_SIGNATURE) addDescriptor(descriptors, view, at + 4, at);
    else if (signature === LOCAL_SIGNATURE || signature === CENTRAL_SIGNATURE) {
      // A descriptor may go without a signature: it ends where the next header starts, or the file.
      if (at >= 12) addDescriptor(descriptors, view, at - 12, at - 12);
      if (signature === LOCAL_SIGNATURE) {
        locals.push(at);
        tail = bytes.length;
      } else if (tail === bytes.length) tail = at;
    }
  }
  if (bytes.length >= 12) addDescriptor(descriptors, view, bytes.length - 12, bytes.length - 12);
  return { locals, descriptors, tail };
}

function addDescriptor(into: Map<number, Descriptor>, view: DataView, at: number, end: number): void {
  const add = (compressedBytes: number, sizeBytes: number): void => {
    const start = end - compressedBytes;
    if (start > 0 && !into.has(start)) into.set(start, { end, crc32: view.getUint32(at, true), sizeBytes });
  };
  if (at + 12 <= view.byteLength) add(view.getUint32(at + 4, true), view.getUint32(at + 8, true));
  if (at + 20 <= view.byteLength) add(uint64(view, at + 4), uint64(view, at + 12));
}

interface Extent {
  readonly end: number;
  readonly crc32: number | undefined;
  readonly sizeBytes: number;
  /** The end is known, not guessed. */
  readonly isSure: boolean;
}

function extentOf(header: LocalHeader, bytes: Uint8Array, view: DataView, marks: Marks, index: number): Extent {
  const { dataStart, compressedBytes, crc32, sizeBytes } = header;
  const end = dataStart + compressedBytes;
  const isRecorded = compressedBytes > 0 || (header.flags & FLAG_DESCRIPTOR) === 0;
  if (isRecorded && end <= bytes.length && isBoundary(view, end)) return { end, crc32, sizeBytes, isSure: true };
  const descriptor = marks.descriptors.get(dataStart);
  if (descriptor !== undefined) return { ...descriptor, isSure: true };
  const nextLocal = marks.locals[index + 1] ?? bytes.length;
  const limit = Math.max(dataStart, Math.min(nextLocal, marks.tail));
  if (isRecorded) {
    // Deflated data end by themselves: better too many bytes than too few.
    const last = header.method === STORED ? end : Math.max(end, limit);
    return { end: Math.min(last, bytes.length), crc32, sizeBytes, isSure: false };
  }
  return { end: limit, crc32: undefined, sizeBytes: 0, isSure: false };
}

/** Whether a record, or the end of the file, is at `offset`. */
function isBoundary(view: DataView, offset: number): boolean {
  if (offset + 4 > view.byteLength) return offset === view.byteLength;
  const signature = view.getUint32(offset, true);
  return (
    signature === LOCAL_SIGNATURE ||
    signature === CENTRAL_SIGNATURE ||
    signature === DESCRIPTOR_SIGNATURE ||
    signature === END_SIGNATURE
  );
}
