/** The thread that makes large inputs durable, so that their flushes delay no transaction and no request. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { keepInput, removeInputs } from './input-files.js';
import type { SubmittedInput } from './store.js';
import { errorReply, START_ID, type ThreadReply, type ThreadRequest } from './thread-messages.js';

export interface InputThreadData {
  readonly directory: string;
}

export interface InputThreadMethods {
  /** Returns the name of the file in the folder. */
  keep(input: SubmittedInput): string;
  remove(name: string): void;
  close(): void;
}

function serve(port: MessagePort, directory: string, request: ThreadRequest): void {
  const { id } = request;
  const answer = (reply: ThreadReply): void => port.postMessage([reply]);
  if (request.method === 'close') {
    answer({ id, kind: 'value', value: undefined });
    port.close();
    return;
  }
  try {
    const [argument] = request.args;
    const value =
      request.method === 'remove'
        ? removeInputs(directory, [argument as string])
        : keepInput(directory, argument as SubmittedInput, () => answer({ id, kind: 'alive' }));
    answer({ id, kind: 'value', value });
  } catch (error) {
    answer(errorReply(id, error));
  }
}

function main(port: MessagePort, { directory }: InputThreadData): void {
  port.on('message', (request: ThreadRequest) => serve(port, directory, request));
  port.postMessage([{ id: START_ID, kind: 'value', value: undefined } satisfies ThreadReply]);
}

if (parentPort) main(parentPort, workerData as InputThreadData);
