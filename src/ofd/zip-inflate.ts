/** The content of one ZIP entry, as much of it as there is. */
import { constants, crc32, inflateRawSync } from '../zlib.js';
import { isReadableMethod, STORED } from './zip-headers.js';

const MAX_CHUNK = 1024 * 1024;
/** How near the search for the last sound byte of a damaged stream comes to it: in bytes, and as a part of the stream. */
const SEARCH_BYTES = 64;
const SEARCH_PART = 1 / 256;

export interface EntryData {
  readonly method: number;
  readonly isEncrypted: boolean;
  readonly crc32: number | undefined;
  /** Size as the directory has it; only a hint. */
  readonly sizeBytes: number;
}

export interface EntryContent {
  /** Undefined where nothing can be read. */
  readonly content: Uint8Array | undefined;
  /** What was wrong; undefined where all is well. */
  readonly fault?: { readonly code: string; readonly reason: string };
}

/** The entry holds more than `maxBytes`. */
export class TooManyBytes extends Error {}

/**
 * Inflates and checks `packed`. A stream that breaks off gives what stands before the fault.
 * Throws TooManyBytes, and nothing else.
 */
export function readEntryContent(packed: Uint8Array, entry: EntryData, maxBytes: number): EntryContent {
  if (entry.isEncrypted) return failed('part_encrypted', 'it is encrypted');
  if (!isReadableMethod(entry.method)) {
    return failed(
      'part_unsupported',
      `compression method ${entry.method} is not supported (only stored and deflated are)`,
    );
  }
  if (entry.method === STORED && packed.length > maxBytes) throw new TooManyBytes();
  const content = entry.method === STORED ? packed : inflateWhole(packed, entry.sizeBytes, maxBytes);
  return content === undefined ? inflatePart(packed, maxBytes) : checked(content, entry);
}

function failed(code: string, reason: string): EntryContent {
  return { content: undefined, fault: { code, reason } };
}

function checked(content: Uint8Array, entry: EntryData): EntryContent {
  if (entry.crc32 === undefined || crc32(content) === entry.crc32) return { content };
  const isShort = entry.method === STORED && content.length < entry.sizeBytes;
  if (isShort) return { content, fault: truncated(content.length) };
  return { content, fault: { code: 'crc_mismatch', reason: 'its checksum is wrong; it is used as it is' } };
}

/** Undefined where the stream is damaged or ends too early. */
function inflateWhole(packed: Uint8Array, sizeHint: number, maxBytes: number): Uint8Array | undefined {
  return inflate(packed, sizeHint, maxBytes, constants.Z_FINISH);
}

function inflate(packed: Uint8Array, sizeHint: number, maxBytes: number, finishFlush: number): Uint8Array | undefined {
  // One chunk of the right size spares the copy at the end; one byte more lets zlib see the end of the stream.
  const chunkSize = Math.min(Math.max(sizeHint + 1, 1024), MAX_CHUNK);
  try {
    return inflateRawSync(packed, { maxOutputLength: maxBytes, chunkSize, finishFlush });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE') throw new TooManyBytes();
    return undefined;
  }
}

/** Bisects for the longest start of the stream that inflates. */
function inflatePart(packed: Uint8Array, maxBytes: number): EntryContent {
  const attempt = (length: number): Uint8Array | undefined =>
    inflate(packed.subarray(0, length), 0, maxBytes, constants.Z_SYNC_FLUSH);
  const step = Math.max(SEARCH_BYTES, packed.length * SEARCH_PART);
  let best = attempt(packed.length);
  let sound = best === undefined ? 0 : packed.length;
  let broken = packed.length;
  while (best !== undefined ? broken - sound > step : broken > 1) {
    const middle = (sound + broken) >> 1;
    const part = attempt(middle);
    if (part === undefined) broken = middle;
    else {
      best = part;
      sound = middle;
    }
  }
  if (best === undefined || best.length === 0) return failed('part_corrupt', 'its compressed data are damaged');
  return { content: best, fault: truncated(best.length) };
}

function truncated(length: number): NonNullable<EntryContent['fault']> {
  return { code: 'part_truncated', reason: `its data are damaged; the first ${length} bytes are used` };
}
