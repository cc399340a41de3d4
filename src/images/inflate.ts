/** Inflates at most as many bytes as the header promised, and keeps what came before any damage. */
import { constants, createInflate, inflateSync } from '../zlib.js';

export interface Inflated {
  /** At most the expected number of bytes. */
  readonly bytes: Uint8Array;
  /** The stream was whole and gave exactly the expected bytes. */
  readonly isExact: boolean;
}

/** A bomb is cut at `expectedBytes`; a cut or damaged stream gives fewer. Never throws. */
export async function inflateUpTo(data: Uint8Array, expectedBytes: number): Promise<Inflated> {
  try {
    const bytes = inflateSync(data, { maxOutputLength: Math.max(1, expectedBytes) });
    return { bytes, isExact: bytes.length === expectedBytes };
  } catch {
    return { bytes: await salvage(data, expectedBytes), isExact: false };
  }
}

function salvage(data: Uint8Array, expectedBytes: number): Promise<Uint8Array> {
  return new Promise((resolve) => {
    const stream = createInflate({ finishFlush: constants.Z_SYNC_FLUSH });
    const chunks: Buffer[] = [];
    let size = 0;
    const finish = () => {
      stream.destroy();
      resolve(Buffer.concat(chunks).subarray(0, expectedBytes));
    };
    stream.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= expectedBytes) finish();
    });
    stream.once('end', finish);
    stream.once('error', finish);
    stream.end(data);
  });
}
