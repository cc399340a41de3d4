/**
 * The thread that SQLite lives in (contract V3). Everything that waits in the port when a call arrives is taken with it:
 * reads are answered at once, all writes share one transaction and so one flush of the disk.
 */
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { logsDirectory } from './attempt-log.js';
import { removeAttemptLogs, sweepAttemptLogs } from './attempt-log-files.js';
import { JobDatabase } from './database.js';
import { inputsDirectory, removeInputs, sweepInputs } from './input-files.js';
import type { TargetEvents } from './notification.js';
import { openDatabase } from './open-database.js';
import type { RecoverOptions, Recovery, StoreOpenError } from './store.js';
import { errorReply, START_ID, startErrorReply, type ThreadReply, type ThreadRequest } from './thread-messages.js';

export interface StoreThreadData {
  readonly path: string;
  readonly targetEvents: TargetEvents;
}

/** What the client may call: the operations of JobDatabase, and the end. */
export type StoreThreadMethods = Pick<
  JobDatabase,
  | 'submit'
  | 'begin'
  | 'claim'
  | 'input'
  | 'settle'
  | 'requeue'
  | 'cancel'
  | 'retry'
  | 'get'
  | 'listStep'
  | 'running'
  | 'claimNotification'
  | 'settleNotification'
  | 'releaseNotification'
  | 'redeliverNotification'
  | 'notification'
  | 'notificationListStep'
  | 'submitBatch'
  | 'batch'
  | 'cancelBatch'
  | 'openJobsOfBatch'
  | 'uploads'
  | 'planUploads'
  | 'uploadDelivered'
  | 'snapshot'
  | 'prune'
  | 'ping'
> & {
  recover(options: RecoverOptions): Recovery;
  close(): void;
};

/** Not more calls than this in one transaction, so that the first of them need not wait for ever. */
const BATCH_LIMIT = 1000;

/** Of the sweep of logs; some milliseconds. */
const JOBS_A_STEP = 2000;

/** What changes nothing on disk. */
const READS = new Set([
  'get',
  'listStep',
  'running',
  'input',
  'claimNotification',
  'releaseNotification',
  'notification',
  'notificationListStep',
  'batch',
  'openJobsOfBatch',
  'uploads',
  'snapshot',
  'ping',
]);

class StoreThread {
  readonly #port: MessagePort;
  readonly #database: JobDatabase;
  readonly #inputs: string;
  readonly #logs: string;
  #isClosed = false;

  constructor(port: MessagePort, database: JobDatabase, databasePath: string) {
    this.#port = port;
    this.#database = database;
    this.#inputs = inputsDirectory(databasePath);
    this.#logs = logsDirectory(databasePath);
  }

  serve(first: ThreadRequest): void {
    const requests = [first, ...this.#waiting()];
    const close = requests.find((request) => request.method === 'close');
    this.#answer(requests.filter((request) => READS.has(request.method)).map((request) => this.#read(request)));
    this.#answer(this.#write(requests.filter((request) => !READS.has(request.method) && request !== close)));
    if (close) this.#close(close);
  }

  #waiting(): ThreadRequest[] {
    const requests: ThreadRequest[] = [];
    while (requests.length < BATCH_LIMIT) {
      const received = receiveMessageOnPort(this.#port);
      if (!received) break;
      requests.push(received.message as ThreadRequest);
    }
    return requests;
  }

  #answer(replies: readonly ThreadReply[]): void {
    if (replies.length > 0) this.#port.postMessage(replies);
  }

  #read(request: ThreadRequest): ThreadReply {
    try {
      return { id: request.id, kind: 'value', value: this.#run(request) };
    } catch (error) {
      return errorReply(request.id, error);
    }
  }

  #write(requests: readonly ThreadRequest[]): ThreadReply[] {
    if (requests.length === 0) return [];
    try {
      const answers = this.#database.transact(requests.map((request) => () => this.#run(request)));
      this.#removeUnreferenced();
      return answers.map((answer, index) => {
        const { id } = requests[index] as ThreadRequest;
        return 'value' in answer ? { id, kind: 'value', value: answer.value } : errorReply(id, answer.error);
      });
    } catch (error) {
      return requests.map((request) => errorReply(request.id, error));
    }
  }

  /** The jobs have ended for good by now: a file that cannot be removed is left to the sweep of the next start. */
  #removeUnreferenced(): void {
    try {
      const { files, runs } = this.#database.takeLeft();
      removeInputs(this.#inputs, files);
      removeAttemptLogs(this.#logs, runs);
    } catch {
      return;
    }
  }

  /** Names and arguments come from the one client, which is typed by StoreThreadMethods. */
  #run(request: ThreadRequest): unknown {
    if (request.method === 'recover') return this.#recover(request.args[0] as RecoverOptions);
    const method = this.#database[request.method as keyof JobDatabase] as (...args: readonly unknown[]) => unknown;
    return method.apply(this.#database, [...request.args]);
  }

  #recover(options: RecoverOptions): Recovery {
    const { inputFiles, ...counts } = this.#database.recover(options);
    this.#sweepLogs();
    return { ...counts, orphanInputs: sweepInputs(this.#inputs, inputFiles) };
  }

  /** In steps between the calls: nobody waits for it, and a start least of all. What it does not come to is left. */
  #sweepLogs(): void {
    const steps = sweepAttemptLogs(this.#logs, (id) => this.#database.runsAfter(id, JOBS_A_STEP));
    const step = (): void => {
      if (this.#isClosed) return;
      try {
        if (!steps.next().done) setImmediate(step);
      } catch {
        return;
      }
    };
    setImmediate(step);
  }

  #close(request: ThreadRequest): void {
    this.#isClosed = true;
    this.#database.close();
    this.#answer([{ id: request.id, kind: 'value', value: undefined }]);
    this.#port.close();
  }
}

function main(port: MessagePort, data: StoreThreadData): void {
  let database: JobDatabase;
  try {
    database = new JobDatabase(openDatabase(data.path), data.targetEvents);
  } catch (error) {
    port.postMessage([startErrorReply(error as StoreOpenError)]);
    return;
  }
  const thread = new StoreThread(port, database, data.path);
  port.on('message', (request: ThreadRequest) => thread.serve(request));
  port.postMessage([{ id: START_ID, kind: 'value', value: undefined } satisfies ThreadReply]);
}

if (parentPort) main(parentPort, workerData as StoreThreadData);
