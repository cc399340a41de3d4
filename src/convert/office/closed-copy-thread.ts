/** The thread that makes closed copies: large documents are unpacked and searched there, one thread a document. */
import { parentPort, workerData } from 'node:worker_threads';
import { makeClosedCopy } from './closed-copy.js';
import { UnreadablePart } from './external.js';

export interface ClosedCopyRequest {
  readonly from: string;
  readonly to: string;
}

export type ClosedCopyReply =
  | { readonly kind: 'done'; readonly isChanged: boolean; readonly blocked: readonly (readonly [string, string])[] }
  | { readonly kind: 'unreadable'; readonly part: string; readonly isTooLarge: boolean };

/** More say nothing new. */
const MOST_BLOCKED = 200;
const LONGEST_TARGET = 200;

async function main({ from, to }: ClosedCopyRequest): Promise<ClosedCopyReply> {
  const blocked: (readonly [string, string])[] = [];
  try {
    const isChanged = await makeClosedCopy(from, to, (element, target) => {
      if (blocked.length < MOST_BLOCKED) blocked.push([element, target.slice(0, LONGEST_TARGET)]);
    });
    return { kind: 'done', isChanged, blocked };
  } catch (error) {
    if (error instanceof UnreadablePart)
      return { kind: 'unreadable', part: error.message, isTooLarge: error.isTooLarge };
    throw error;
  }
}

if (parentPort) {
  const port = parentPort;
  void main(workerData as ClosedCopyRequest).then((reply) => port.postMessage(reply));
}
