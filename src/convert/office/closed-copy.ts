/**
 * A copy of an office document that refers to nothing outside of it: of the ZIP kind (external.ts), or RTF (rtf.ts); with
 * A4 where it says nothing of its paper (default-paper.ts).
 * Reads and unpacks the whole document: for a thread.
 */
import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { crc32, deflateRawSync, inflateRawSync } from '../../zlib.js';
import { type ByteSource, sourceOf } from '../byte-source.js';
import { rtfWithPaper, wordWithPaper } from './default-paper.js';
import { type OnBlocked, UnreadablePart, withoutExternal } from './external.js';
import { withoutFetchingFields } from './rtf.js';
import { DEFLATED, dataStart, listZip, STORED, type ZipEntry, type ZipListing } from './zip-listing.js';

/** Larger parts are films and the like; XML of this size LibreOffice would not get through in an hour. */
const LARGEST_PART_BYTES = 256 * 1024 * 1024;
/** All parts together, those of documents in the document too. */
const LARGEST_UNPACKED_BYTES = 4 * 1024 ** 3;
/** A table in a text in a slide, and one more. */
const MOST_NESTED = 4;
const PIECE_BYTES = 1024 * 1024;
const ENCRYPTED_FLAG = 1;
/** Names are UTF-8. */
const KEPT_FLAGS = 0x0800;
const VERSION = 20;
/** 1980-01-01, the first day of the format. */
const DATE = 0x21;
const LARGEST_ZIP_BYTES = 0xffffffff;

/**
 * An archive is always written anew: readers differ in where they look for its directory, and LibreOffice shall see the
 * parts that were looked through and no others.
 * @returns whether a copy was made at `to`: false for RTF where there is nothing to change
 * @throws UnreadablePart
 */
export async function makeClosedCopy(source: ByteSource, to: string, onBlocked: OnBlocked): Promise<boolean> {
  if ((await source.read(0, 2)).toString('latin1') !== 'PK') return copyRtf(source, to, onBlocked);
  const zip = await listZip(source);
  if (!zip) throw new UnreadablePart('the archive');
  const changed = await closedParts(source, zip, { leftBytes: LARGEST_UNPACKED_BYTES, depth: 0, onBlocked });
  const descriptor = openSync(to, 'wx', 0o600);
  try {
    await write(source, zip.entries, changed, (bytes) => {
      for (let done = 0; done < bytes.length; )
        done += writeSync(descriptor, bytes, done, Math.min(PIECE_BYTES, bytes.length - done));
    });
  } finally {
    closeSync(descriptor);
  }
  return true;
}

/** What holds for all of a document. */
interface Looking {
  /** May still be unpacked. */
  leftBytes: number;
  /** Of documents in documents. */
  depth: number;
  readonly onBlocked: OnBlocked;
}

/** The parts that are to be others than they are. */
async function closedParts(source: ByteSource, zip: ZipListing, looking: Looking): Promise<Map<ZipEntry, Buffer>> {
  const changed = new Map<ZipEntry, Buffer>();
  for (const entry of zip.entries) {
    const part = await unpack(source, entry);
    looking.leftBytes -= part.length;
    if (looking.leftBytes < 0) throw unreadable(entry, true);
    const closed =
      part.toString('latin1', 0, 2) === 'PK'
        ? await closedArchive(part, entry, looking)
        : withoutExternal(part, looking.onBlocked);
    const kept = (looking.depth === 0 && wordWithPaper(closed ?? part)) || closed;
    if (kept) changed.set(entry, kept);
  }
  return changed;
}

/** A document in the document: closed as well; nothing is left of one that cannot be looked through. */
async function closedArchive(part: Buffer, { rawName }: ZipEntry, looking: Looking): Promise<Buffer> {
  const source = sourceOf(part);
  looking.depth++;
  try {
    if (looking.depth > MOST_NESTED) throw new UnreadablePart('documents in documents');
    const zip = await listZip(source);
    if (!zip) throw new UnreadablePart('the archive');
    const changed = await closedParts(source, zip, looking);
    const pieces: Buffer[] = [];
    await write(source, zip.entries, changed, (bytes) => void pieces.push(bytes));
    return Buffer.concat(pieces);
  } catch (error) {
    if (!(error instanceof UnreadablePart) || error.isTooLarge) throw error;
    looking.onBlocked('object', rawName.toString('utf8'));
    return Buffer.alloc(0);
  } finally {
    looking.depth--;
  }
}

async function copyRtf(source: ByteSource, to: string, onBlocked: OnBlocked): Promise<boolean> {
  if (source.sizeBytes > LARGEST_PART_BYTES) throw new UnreadablePart('a text of this size', true);
  const document = await source.read(0, source.sizeBytes);
  const closed = withoutFetchingFields(document, onBlocked);
  const changed = rtfWithPaper(closed ?? document) ?? closed;
  if (changed) writeFileSync(to, changed, { mode: 0o600, flag: 'wx' });
  return changed !== undefined;
}

async function packedData(source: ByteSource, entry: ZipEntry): Promise<Buffer> {
  const at = await dataStart(source, entry);
  const data = at === undefined ? undefined : await source.read(at, entry.packedBytes);
  if (data?.length !== entry.packedBytes) throw unreadable(entry);
  return data;
}

async function unpack(source: ByteSource, entry: ZipEntry): Promise<Buffer> {
  if (entry.unpackedBytes > LARGEST_PART_BYTES) throw unreadable(entry, true);
  if ((entry.flags & ENCRYPTED_FLAG) !== 0) throw unreadable(entry);
  const data = await packedData(source, entry);
  if (entry.method === STORED) {
    if (entry.packedBytes !== entry.unpackedBytes) throw unreadable(entry);
    return data;
  }
  if (entry.method !== DEFLATED) throw unreadable(entry);
  try {
    return inflateRawSync(data, { maxOutputLength: LARGEST_PART_BYTES });
  } catch (error) {
    throw unreadable(entry, (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE');
  }
}

function unreadable({ rawName }: ZipEntry, isTooLarge = false): UnreadablePart {
  return new UnreadablePart(`the part ${JSON.stringify(rawName.toString('utf8').slice(0, 100))}`, isTooLarge);
}

async function write(
  source: ByteSource,
  entries: readonly ZipEntry[],
  changed: ReadonlyMap<ZipEntry, Buffer>,
  put: (bytes: Buffer) => void,
): Promise<void> {
  let at = 0;
  const add = (bytes: Buffer): void => {
    put(bytes);
    at += bytes.length;
    if (at > LARGEST_ZIP_BYTES) throw new UnreadablePart('an archive of more than 4 GB', true);
  };
  const directory: Buffer[] = [];
  for (const entry of entries) {
    const part = changed.get(entry);
    const data = part ? (entry.method === STORED ? part : deflateRawSync(part)) : await packedData(source, entry);
    const facts = part ? { crc32: crc32(part), unpackedBytes: part.length } : entry;
    const fields = fieldsOf(entry, facts, data.length);
    const headerAt = at;
    add(localHeader(fields, entry.rawName));
    add(data);
    directory.push(centralHeader(fields, entry.rawName, headerAt));
  }
  const directoryAt = at;
  for (const header of directory) add(header);
  add(endRecord(directory.length, at - directoryAt, directoryAt));
}

/** What both headers of an entry have in common, from the version on. */
function fieldsOf(entry: ZipEntry, facts: Pick<ZipEntry, 'crc32' | 'unpackedBytes'>, packedBytes: number): Buffer {
  const fields = Buffer.alloc(24);
  fields.writeUInt16LE(VERSION, 0);
  fields.writeUInt16LE(entry.flags & KEPT_FLAGS, 2);
  fields.writeUInt16LE(entry.method, 4);
  fields.writeUInt16LE(DATE, 8);
  fields.writeUInt32LE(facts.crc32, 10);
  fields.writeUInt32LE(packedBytes, 14);
  fields.writeUInt32LE(facts.unpackedBytes, 18);
  fields.writeUInt16LE(entry.rawName.length, 22);
  return fields;
}

function localHeader(fields: Buffer, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), fields, Buffer.alloc(2), name]);
}

function centralHeader(fields: Buffer, name: Buffer, headerAt: number): Buffer {
  const rest = Buffer.alloc(16);
  rest.writeUInt32LE(headerAt, 12);
  const version = Buffer.alloc(2);
  version.writeUInt16LE(VERSION, 0);
  return Buffer.concat([Buffer.from('PK\x01\x02', 'latin1'), version, fields, rest, name]);
}

function endRecord(count: number, sizeBytes: number, at: number): Buffer {
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 0, 'latin1');
  end.writeUInt16LE(Math.min(count, 0xffff), 8);
  end.writeUInt16LE(Math.min(count, 0xffff), 10);
  end.writeUInt32LE(sizeBytes, 12);
  end.writeUInt32LE(at, 16);
  return end;
}
