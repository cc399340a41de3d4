/** The thread that makes closed copies: large documents are unpacked and searched there, one thread a document. */
import { parentPort, workerData } from 'node:worker_threads';
import { guardThread, type ThreadGuard } from '../../thread-guard.js';
import { withFileSource } from '../byte-source.js';
import { makeClosedCopy } from './closed-copy.js';
import { UnreadablePart } from './external.js';

export interface ClosedCopyRequest {
  readonly from: string;
  readonly to: string;
  readonly guard: ThreadGuard;
}

export type ClosedCopyReply =
  | { readonly kind: 'done'; readonly isChanged: boolean; readonly blocked: readonly (readonly [string, string])[] }
  | { readonly kind: 'unreadable'; readonly part: string; readonly isTooLarge: boolean };

/** Comes first: from then on the thread can be ended without leaving a file open. */
export interface ClosedCopyOpened {
  readonly kind: 'opened';
}

/** More say nothing new. */
const MOST_BLOCKED = 200;
const LONGEST_TARGET = 200;

async function main({ from, to }: ClosedCopyRequest, onOpened: () => void): Promise<ClosedCopyReply> {
  const blocked: (readonly [string, string])[] = [];
  try {
    const isChanged = await withFileSource(from, (source) => {
      onOpened();
      return makeClosedCopy(source, to, (element, target) => {
        if (blocked.length < MOST_BLOCKED) blocked.push([element, target.slice(0, LONGEST_TARGET)]);
      });
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
  const onOpened = (): void => port.postMessage({ kind: 'opened' } satisfies ClosedCopyOpened);
  guardThread((workerData as ClosedCopyRequest).guard);
  void main(workerData as ClosedCopyRequest, onOpened).then((reply) => port.postMessage(reply));
}
