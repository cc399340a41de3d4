/** The names in a ZIP archive and its small entries, read in pieces: office documents are looked at before an engine opens them. */
import { inflateRawSync } from 'node:zlib';
import type { ByteSource } from '../byte-source.js';

export interface ZipListing {
  readonly names: ReadonlySet<string>;
  /** What all entries claim to become when unpacked. */
  readonly unpackedBytes: number;
  /** The start of an entry, unpacked; undefined where there is none or it can't be read. */
  readStart(name: string, maxBytes: number): Promise<Buffer | undefined>;
}

interface Entry {
  readonly method: number;
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
const LOCAL_HEADER_BYTES = 30;
const LARGEST_DIRECTORY_BYTES = 32 * 1024 * 1024;
const MOST_ENTRIES = 100_000;
const STORED = 0;
const DEFLATED = 8;

/** undefined where the source is no ZIP archive with a whole directory. */
export async function listZip(source: ByteSource): Promise<ZipListing | undefined> {
  const directoryAt = await findDirectory(source);
  if (directoryAt === undefined || directoryAt >= source.sizeBytes) return undefined;
  const entries = entriesOf(await source.read(directoryAt, LARGEST_DIRECTORY_BYTES));
  if (entries.size === 0) return undefined;
  return {
    names: new Set(entries.keys()),
    unpackedBytes: [...entries.values()].reduce((sum, entry) => sum + entry.unpackedBytes, 0),
    readStart: async (name, maxBytes) => {
      const entry = entries.get(name);
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

function entriesOf(directory: Buffer): Map<string, Entry> {
  const entries = new Map<string, Entry>();
  for (let at = 0; at + CENTRAL_HEADER_BYTES <= directory.length && entries.size < MOST_ENTRIES; ) {
    if (directory.readUInt32LE(at) !== CENTRAL_HEADER) break;
    const nameBytes = directory.readUInt16LE(at + 28);
    const nameAt = at + CENTRAL_HEADER_BYTES;
    entries.set(directory.toString('utf8', nameAt, nameAt + nameBytes), {
      method: directory.readUInt16LE(at + 10),
      packedBytes: directory.readUInt32LE(at + 20),
      unpackedBytes: directory.readUInt32LE(at + 24),
      headerAt: directory.readUInt32LE(at + 42),
    });
    at = nameAt + nameBytes + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32);
  }
  return entries;
}

async function startOf(source: ByteSource, entry: Entry, maxBytes: number): Promise<Buffer | undefined> {
  const header = await source.read(entry.headerAt, LOCAL_HEADER_BYTES);
  if (header.length < LOCAL_HEADER_BYTES) return undefined;
  const dataAt = entry.headerAt + LOCAL_HEADER_BYTES + header.readUInt16LE(26) + header.readUInt16LE(28);
  const packed = await source.read(dataAt, Math.min(entry.packedBytes, maxBytes));
  if (entry.method === STORED) return packed;
  if (entry.method !== DEFLATED) return undefined;
  try {
    return inflateRawSync(packed, { finishFlush: 2, maxOutputLength: maxBytes });
  } catch {
    return undefined;
  }
}
