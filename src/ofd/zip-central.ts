/** The central directory of a ZIP file, checked against the local headers it points to. */
import { setImmediate } from 'node:timers/promises';
import { type Entry, fromRandomAccessReader, RandomAccessReader, type ZipFile } from 'yauzl';
import {
  bufferOf,
  CENTRAL_SIGNATURE,
  CENTRAL_SIZE,
  claimsUtf8,
  END_SIZE,
  isEncryptedFlag,
  isReadableMethod,
  type RawEntry,
  readLocalHeader,
  viewOf,
} from './zip-headers.js';

/** End records looked at, from the last backwards, for one that fits its directory. */
const MAX_END_RECORDS = 16;

export interface CentralDirectory {
  /** What the offsets count in: the input without junk in front and behind. */
  readonly bytes: Uint8Array;
  readonly entries: readonly RawEntry[];
  /** Entries again, by the name in their local header, where that is another. */
  readonly renamed: readonly RawEntry[];
  /** Entries with a method that nobody knows, read by that of their local header. */
  readonly repaired: readonly RawEntry[];
  /** Names of entries whose local header is not where it should be. */
  readonly lost: readonly Uint8Array[];
}

/** Undefined where there is no whole directory. `checkCount` may throw; nothing else does. */
export async function readCentralDirectory(
  input: Uint8Array,
  checkCount: (count: number) => void,
): Promise<CentralDirectory | undefined> {
  const records = await readRecords(input, checkCount);
  if (records !== undefined) return withLocalHeaders(input, records);
  const trimmed = withoutJunk(input);
  const second = trimmed === undefined ? undefined : await readRecords(trimmed, checkCount);
  return trimmed === undefined || second === undefined ? undefined : withLocalHeaders(trimmed, second);
}

interface CentralRecord extends Omit<RawEntry, 'start' | 'end'> {
  readonly headerOffset: number;
  readonly packedBytes: number;
}

/** Undefined where the directory is not whole. */
async function readRecords(
  bytes: Uint8Array,
  checkCount: (count: number) => void,
): Promise<CentralRecord[] | undefined> {
  let zip: ZipFile;
  try {
    zip = await openZip(bytes);
  } catch {
    return undefined;
  }
  // A count that the file has no room for is damage, not size.
  if (zip.entryCount * CENTRAL_SIZE > bytes.length) return undefined;
  checkCount(zip.entryCount);
  try {
    return await listRecords(zip);
  } catch {
    return undefined;
  }
}

function openZip(bytes: Uint8Array): Promise<ZipFile> {
  const options = { lazyEntries: true, decodeStrings: false, validateEntrySizes: false };
  return new Promise((resolve, reject) => {
    fromRandomAccessReader(new MemoryReader(bytes), bytes.length, options, (error, zip) =>
      error ? reject(error) : resolve(zip),
    );
  });
}

/** Answers at once: the library's own reader of buffers waits for the event loop twice an entry. */
class MemoryReader extends RandomAccessReader {
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    super();
    this.#bytes = bytes;
  }

  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null) => void,
  ): void {
    if (position + length > this.#bytes.length) {
      callback(new Error(`The directory runs over the end of the file (${this.#bytes.length} bytes)`));
      return;
    }
    buffer.set(this.#bytes.subarray(position, position + length), offset);
    callback(null);
  }
}

async function listRecords(zip: ZipFile): Promise<CentralRecord[]> {
  const records: CentralRecord[] = [];
  let failure: Error | undefined;
  zip.on('entry', (entry) => records.push(recordOf(entry)));
  zip.on('error', (error) => {
    failure = error;
  });
  while (records.length < zip.entryCount) {
    const count = records.length;
    zip.readEntry();
    // The library puts off what needs no bytes at all (an entry without a name).
    while (records.length === count && failure === undefined) await setImmediate();
    if (failure !== undefined) throw failure;
  }
  return records;
}

function recordOf(entry: Entry): CentralRecord {
  return {
    name: entry.fileNameRaw,
    isUtf8Claimed: claimsUtf8(entry.generalPurposeBitFlag),
    method: entry.compressionMethod,
    isEncrypted: isEncryptedFlag(entry.generalPurposeBitFlag),
    crc32: entry.crc32,
    sizeBytes: entry.uncompressedSize,
    packedBytes: entry.compressedSize,
    headerOffset: entry.relativeOffsetOfLocalHeader,
  };
}

function withLocalHeaders(bytes: Uint8Array, records: readonly CentralRecord[]): CentralDirectory {
  const view = viewOf(bytes);
  const entries: RawEntry[] = [];
  const renamed: RawEntry[] = [];
  const repaired: RawEntry[] = [];
  const lost: Uint8Array[] = [];
  for (const { headerOffset, packedBytes, ...record } of records) {
    const local = readLocalHeader(bytes, view, headerOffset);
    if (local === undefined) {
      lost.push(record.name);
      continue;
    }
    const isRepaired = !isReadableMethod(record.method) && isReadableMethod(local.method);
    const method = isRepaired ? local.method : record.method;
    const end = Math.min(local.dataStart + packedBytes, bytes.length);
    const entry: RawEntry = { ...record, method, start: local.dataStart, end };
    entries.push(entry);
    if (isRepaired) repaired.push(entry);
    if (Buffer.compare(local.name, record.name) !== 0) renamed.push({ ...entry, name: local.name });
  }
  return { bytes, entries, renamed, repaired, lost };
}

/** A second try: without what stands in front of the package and behind it. */
function withoutJunk(bytes: Uint8Array): Uint8Array | undefined {
  const buffer = bufferOf(bytes);
  const view = viewOf(bytes);
  let end = bytes.length;
  for (let i = 0; i < MAX_END_RECORDS && end > 0; i++) {
    const at = buffer.lastIndexOf('PK\x05\x06', end - 1, 'latin1');
    if (at < 0) return undefined;
    end = at;
    if (at + END_SIZE > bytes.length) continue;
    const recordEnd = at + END_SIZE + view.getUint16(at + 20, true);
    const directory = at - view.getUint32(at + 12, true);
    const start = directory - view.getUint32(at + 16, true);
    const fits = start >= 0 && directory + 4 <= at && view.getUint32(directory, true) === CENTRAL_SIGNATURE;
    // A package that starts where the file does is not junk in front of another that is stored in it.
    const from = fits && readLocalHeader(bytes, view, 0) === undefined ? start : 0;
    const to = Math.min(recordEnd, bytes.length);
    if (recordEnd <= bytes.length && (from > 0 || to < bytes.length)) return bytes.subarray(from, to);
  }
  return undefined;
}
