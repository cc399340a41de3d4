/** What the clients of a soak share, and what most of them do: submit, wait, fetch, and write down how it ended. */
import type { Numbers } from '../fuzz/numbers.js';
import {
  type Client,
  type JobAnswer,
  outcomeOfAnswer,
  outcomeOfJob,
  type Product,
  type Submission,
  sha256Of,
} from './client.js';
import type { Document, Library } from './documents.js';
import type { Ledger } from './ledger.js';
import type { Remote } from './remotes.js';
import type { Source } from './source.js';

/** The service, and what its clients send, know and keep. */
export interface Scene {
  readonly client: Client;
  /** A client whose key may ask `LIMITED_A_MINUTE` times. */
  readonly limited: Client;
  readonly ledger: Ledger;
  readonly library: Library;
  readonly numbers: Numbers;
  readonly remotes: readonly Remote[];
  readonly source: Source;
  readonly url: string;
  readonly key: string;
  readonly hasOffice: boolean;
  readonly hasBrowser: boolean;
  /** Ids of notifications that must arrive once. */
  readonly told: Set<string>;
  /** What lies at a remote target: server and path to digest. */
  readonly delivered: Map<string, string>;
  /** Counts what makes names different. */
  next(): number;
}

/** Of the key that asks too much. */
export const LIMITED_A_MINUTE = 6;
/** Name of the target that notifications go to. */
export const NOTIFY_TARGET = 'soak';

/** A stream may find the house full: it is told so at once. */
export const BUSY = 'server_busy';

/** Heavy: only a few are open at a time. */
type Weight = 'light' | 'heavy';

/** One of the things that clients do. */
export interface Scenario {
  readonly name: string;
  /** How often, beside the others. */
  readonly share: number;
  readonly weight: Weight;
  run(scene: Scene, name: string): Promise<void>;
}

/** A conversion inside its request; the product must not be empty where the format has anything to hold. */
export async function streamOf(scene: Scene, name: string, document: Document, format: string): Promise<void> {
  const { client, ledger, numbers } = scene;
  const way = numbers.pick(['json', 'form', 'bare'] as const);
  const answer = await client.submit({ ...document, kind: 'stream', format }, way);
  const outcome = answer.status === 200 ? 'succeeded' : outcomeOfAnswer(answer);
  ledger.note(
    name,
    outcome,
    [...document.expected, BUSY],
    `${document.name} to ${format}: ${answer.bytes.subarray(0, 300)}`,
  );
  // A page without a letter is a text without one.
  const mayBeEmpty = format === 'txt' || format === 'md';
  if (answer.status === 200 && answer.bytes.length === 0 && !mayBeEmpty) ledger.note(name, 'empty', [], document.name);
}

/** Submits a job; its id, or undefined where it was refused, which is noted. */
export async function accepted(
  scene: Scene,
  name: string,
  submission: Submission,
  expected: readonly string[],
): Promise<string | undefined> {
  const way = submission.output || submission.fields ? 'json' : scene.numbers.pick(['json', 'form', 'bare'] as const);
  const answer = await scene.client.submit(submission, way);
  if (answer.status !== 202) {
    scene.ledger.note(
      name,
      outcomeOfAnswer(answer),
      expected,
      `${submission.name} to ${submission.format}: ${answer.bytes}`,
    );
    return undefined;
  }
  const id = String(answer.json.id);
  scene.ledger.promised.set(id, { scenario: name, expected });
  return id;
}

export async function ended(
  scene: Scene,
  name: string,
  id: string,
  expected: readonly string[],
  detail = '',
): Promise<JobAnswer | undefined> {
  const job = await scene.client.ended(id);
  const outcome = outcomeOfJob(job);
  scene.ledger.note(name, outcome, expected, `${id} ${detail} ${job?.error ?? ''}`);
  return job;
}

/** A job from its submission to its end, one of three with a notification, and half of the products looked at. */
export async function jobOf(scene: Scene, name: string, document: Document, format: string): Promise<void> {
  const { numbers, told } = scene;
  const isTold = numbers.once(3);
  const fields = isTold ? { notify: { target: NOTIFY_TARGET }, high_priority: numbers.once(4) } : undefined;
  const submission = { ...document, kind: 'dir', format, ...(fields && { fields }) };
  const id = await accepted(scene, name, submission, document.expected);
  if (id === undefined) return;
  const job = await ended(scene, name, id, document.expected, `${document.name} to ${format}`);
  if (isTold && job) told.add(`${id}:${job.state}`);
  if (job?.state === 'succeeded' && numbers.once(2)) await fetchProducts(scene, name, job);
}

async function fetchProducts({ client, ledger, numbers }: Scene, name: string, job: JobAnswer): Promise<void> {
  const products = job.output?.products ?? [];
  const product = numbers.pick(products) as Product;
  const query = products.length === 1 || numbers.once(3) ? '' : `?name=${encodeURIComponent(product.name)}`;
  const answer = await client.call(`/v1/jobs/${job.id}/content${query}`);
  const isWhole = query === '' && products.length > 1;
  const isRight = answer.status === 200 && (isWhole || sha256Of(answer.bytes) === product.sha256);
  ledger.note(`${name} content`, isRight ? 'right' : `wrong ${answer.status}`, ['right'], `${job.id} ${product.name}`);
}
