/** The names in a ZIP archive and its small entries, read in pieces: office documents are looked at before an engine opens them. */
import { constants, inflateRawSync } from '../../zlib.js';
import type { ByteSource } from '../byte-source.js';

export interface ZipListing {
  readonly names: ReadonlySet<string>;
  /** As they lie in the archive; the directory may name one twice. */
  readonly entries: readonly ZipEntry[];
  /** What all entries claim to become when unpacked. */
  readonly unpackedBytes: number;
  /** The start of an entry, unpacked; undefined where there is none or it can't be read. */
  readStart(name: string, maxBytes: number): Promise<Buffer | undefined>;
}

export interface ZipEntry {
  /** As it is written, in whatever encoding. */
  readonly rawName: Buffer;
  readonly flags: number;
  readonly method: number;
  readonly crc32: number;
  readonly packedBytes: number;
  readonly unpackedBytes: number;
  readonly headerAt: number;
}

const END_RECORD = Buffer.from('PK\x05\x06', 'latin1');
const END_RECORD_BYTES = 22;
const ZIP64_LOCATOR = 0x07064b50;
const ZIP64_LOCATOR_BYTES = 20;
const ZIP64_END_BYTES = 56;
const LONGEST_COMMENT = 65_535;
const CENTRAL_HEADER = 0x02014b50;
const CENTRAL_HEADER_BYTES = 46;
const LOCAL_HEADER = 0x04034b50;
const LOCAL_HEADER_BYTES = 30;
const LARGEST_DIRECTORY_BYTES = 32 * 1024 * 1024;
const MOST_ENTRIES = 100_000;
const ZIP64_EXTRA = 1;
const IN_ZIP64 = 0xffffffff;
export const STORED = 0;
export const DEFLATED = 8;

/** undefined where the source is no ZIP archive with a whole directory. */
export async function listZip(source: ByteSource): Promise<ZipListing | undefined> {
  const directoryAt = await findDirectory(source);
  if (directoryAt === undefined || directoryAt >= source.sizeBytes) return undefined;
  const entries = entriesOf(await source.read(directoryAt, LARGEST_DIRECTORY_BYTES));
  if (entries.length === 0) return undefined;
  const byName = new Map(entries.map((entry) => [entry.rawName.toString('utf8'), entry]));
  return {
    names: new Set(byName.keys()),
    entries: [...entries].sort((a, b) => a.headerAt - b.headerAt),
    unpackedBytes: entries.reduce((sum, entry) => sum + entry.unpackedBytes, 0),
    readStart: async (name, maxBytes) => {
      const entry = byName.get(name);
      return entry && startOf(source, entry, maxBytes);
    },
  };
}

async function findDirectory(source: ByteSource): Promise<number | undefined> {
  const tailAt = Math.max(0, source.sizeBytes - END_RECORD_BYTES - LONGEST_COMMENT);
  const tail = await source.read(tailAt, source.sizeBytes - tailAt);
  const endAt = tail.lastIndexOf(END_RECORD);
  if (endAt < 0 || endAt + END_RECORD_BYTES > tail.length) return undefined;
  const directoryAt = tail.readUInt32LE(endAt + 16);
  if (directoryAt !== 0xffffffff) return directoryAt;
  const locator = await source.read(tailAt + endAt - ZIP64_LOCATOR_BYTES, ZIP64_LOCATOR_BYTES);
  if (locator.length < ZIP64_LOCATOR_BYTES || locator.readUInt32LE(0) !== ZIP64_LOCATOR) return undefined;
  const end = await source.read(Number(locator.readBigUInt64LE(8)), ZIP64_END_BYTES);
  return end.length < ZIP64_END_BYTES ? undefined : Number(end.readBigUInt64LE(48));
}

function entriesOf(directory: Buffer): ZipEntry[] {
  const entries: ZipEntry[] = [];
  for (let at = 0; at + CENTRAL_HEADER_BYTES <= directory.length && entries.length < MOST_ENTRIES; ) {
    if (directory.readUInt32LE(at) !== CENTRAL_HEADER) break;
    const nameAt = at + CENTRAL_HEADER_BYTES;
    const extraAt = nameAt + directory.readUInt16LE(at + 28);
    const extraEnd = extraAt + directory.readUInt16LE(at + 30);
    const [unpackedBytes = 0, packedBytes = 0, headerAt = 0] = widened(
      [directory.readUInt32LE(at + 24), directory.readUInt32LE(at + 20), directory.readUInt32LE(at + 42)],
      directory.subarray(extraAt, extraEnd),
    );
    entries.push({
      rawName: directory.subarray(nameAt, extraAt),
      flags: directory.readUInt16LE(at + 8),
      method: directory.readUInt16LE(at + 10),
      crc32: directory.readUInt32LE(at + 16),
      packedBytes,
      unpackedBytes,
      headerAt,
    });
    at = extraEnd + directory.readUInt16LE(at + 32);
  }
  return entries;
}

/** Numbers that stand in the ZIP64 field instead, in this order. */
function widened(numbers: readonly number[], extra: Buffer): number[] {
  let wide: Buffer = Buffer.alloc(0);
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) === ZIP64_EXTRA) wide = extra.subarray(at + 4, at + 4 + extra.readUInt16LE(at + 2));
  }
  let at = 0;
  return numbers.map((number) => {
    if (number !== IN_ZIP64 || at + 8 > wide.length) return number;
    at += 8;
    return Number(wide.readBigUInt64LE(at - 8));
  });
}

/** Where the data of an entry begins; undefined where its own header is not there. */
export async function dataStart(source: ByteSource, entry: ZipEntry): Promise<number | undefined> {
  const header = await source.read(entry.headerAt, LOCAL_HEADER_BYTES);
  if (header.length < LOCAL_HEADER_BYTES || header.readUInt32LE(0) !== LOCAL_HEADER) return undefined;
  return entry.headerAt + LOCAL_HEADER_BYTES + header.readUInt16LE(26) + header.readUInt16LE(28);
}

async function startOf(source: ByteSource, entry: ZipEntry, maxBytes: number): Promise<Buffer | undefined> {
  const dataAt = await dataStart(source, entry);
  if (dataAt === undefined) return undefined;
  const packed = await source.read(dataAt, Math.min(entry.packedBytes, maxBytes));
  if (entry.method === STORED) return packed;
  if (entry.method !== DEFLATED) return undefined;
  try {
    return inflateRawSync(packed, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: maxBytes });
  } catch {
    return undefined;
  }
}
