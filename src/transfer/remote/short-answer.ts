/** What a server answers beside the content of files is short, and read whole: one that goes on and on is cut off. */
import { pipeline, type Readable, Transform } from 'node:stream';
import { RemoteFault } from './client.js';

/** Many times what any answer needs. */
const LONGEST_ANSWER_BYTES = 1024 * 1024;

/** The same stream, which fails with a RemoteFault, as its source does then, where more comes. */
export function shortAnswer(body: Readable): Readable {
  let sizeBytes = 0;
  const limit = new Transform({
    transform(piece: Buffer, _encoding, done) {
      sizeBytes += piece.length;
      if (sizeBytes <= LONGEST_ANSWER_BYTES) done(null, piece);
      else done(new RemoteFault('refused', `answers with more than ${LONGEST_ANSWER_BYTES} bytes`));
    },
  });
  return pipeline(body, limit, () => undefined);
}

/** The text of an answer. Throws RemoteFault where it is too long. */
export async function shortText(body: Readable): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of shortAnswer(body)) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString('utf8');
}
