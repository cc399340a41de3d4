/**
 * The daemon, killed with -9 at random instants while it accepts, converts, publishes, settles and notifies, and started
 * again: every accepted job ends succeeded exactly once (contract R5, A5, N1). ROUNDS and SEED come from the environment.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, watch, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { expect, it, onTestFinished } from 'vitest';
import { ThreadConverter } from '../../src/convert/converter.js';
import type { FormatId } from '../../src/formats.js';
import { callDaemon, copyOfBuild, Daemon } from '../support/daemon.js';
import { temporaryFolder } from '../support/jobs.js';
import { buildOfd, textXml } from '../support/ofd-builder.js';
import { KEY } from '../support/service.js';
import { Receiver } from './receiver.js';

const ROUNDS = Number(process.env.ROUNDS || 30);
const SEED = Number(process.env.SEED || 20260815);
const CLIENTS = 5;
const JOBS_A_ROUND = 30;
/** With more jobs open than this, as on a busy machine, a round submits little and is killed later. */
const MANY_OPEN = 100;
const SECRET = 'chaos-receiver';
const FORMATS: readonly FormatId[] = ['pdf', 'txt', 'svg'];

/** Small numbers from a seed (mulberry32): 0 ≤ x < 1. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Some small enough for the database, some that become a file beside it. */
const DOCUMENTS: readonly Uint8Array[] = Array.from({ length: 6 }, (_, index) =>
  buildOfd({
    publicRes: '<ofd:Fonts><ofd:Font ID="1" FontName="DejaVu Sans"/></ofd:Fonts>',
    pages: [textXml(`Document ${index}`)],
    files: index % 3 === 2 ? { 'Doc_0/Attach.bin': noise(90_000 + index) } : {},
  }),
);

function noise(length: number): Uint8Array {
  const random = randomFrom(length);
  return Uint8Array.from({ length }, () => random() * 256);
}

const sha256Of = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** Digest of each product by its name: what one undisturbed conversion makes. */
async function expectedProducts(folder: string): Promise<Map<string, string>> {
  const converter = new ThreadConverter({ maxThreads: 1, fontDirs: [] });
  const expected = new Map<string, string>();
  for (const [index, bytes] of DOCUMENTS.entries()) {
    const inputPath = join(folder, `expected-${index}.ofd`);
    writeFileSync(inputPath, bytes);
    for (const to of FORMATS) {
      const outputDirectory = join(folder, `expected-${index}-${to}`);
      mkdirSync(outputDirectory);
      const { files } = await converter.run(
        {
          engine: 'ofd',
          inputPath,
          from: 'ofd',
          to,
          options: {},
          outputDirectory,
          scratchDirectory: folder,
          baseName: `d${index}`,
        },
        { signal: new AbortController().signal },
      );
      for (const { name, sha256 } of files) expected.set(name, sha256);
    }
  }
  await converter.close();
  return expected;
}

class Chaos {
  readonly folder: string;
  readonly #program: string;
  readonly configPath: string;
  readonly outputDir: string;
  readonly receiver: Receiver;
  readonly accepted: string[] = [];
  readonly kills: Record<string, number> = {};
  readonly random = randomFrom(SEED);
  unanswered = 0;

  constructor(folder: string) {
    this.folder = folder;
    this.#program = copyOfBuild(join(folder, 'program'));
    this.configPath = join(folder, 'config.json');
    this.outputDir = join(folder, 'out');
    this.receiver = new Receiver(SECRET, () => this.random() < 0.05);
  }

  async configure(): Promise<void> {
    const target = { url: await this.receiver.listen(), secret: SECRET, max_attempts: 1000 };
    const config = {
      listen: '127.0.0.1:0',
      api_key: KEY,
      db_path: join(this.folder, 'data/jobs.db'),
      temp_dir: join(this.folder, 'tmp'),
      output_dir: this.outputDir,
      // Every kill hits some jobs, and all of them are to succeed in the end.
      max_job_crashes: 0,
      notify_retry_backoff: '20ms',
      notify_targets: { chaos: target },
    };
    writeFileSync(this.configPath, JSON.stringify(config), { mode: 0o600 });
    mkdirSync(this.outputDir, { recursive: true });
  }

  /** Starts the daemon, submits, and kills it at an instant of one of several kinds. */
  async round(): Promise<void> {
    const isBehind = this.accepted.length - filesBelow(this.outputDir).length > MANY_OPEN;
    const daemon = new Daemon(this.configPath, this.#program);
    if (this.random() < 0.1) {
      await pause(this.random() * 1200);
      this.#count('starting');
      await daemon.kill();
      return;
    }
    const url = await daemon.ready;
    if (!url) throw new Error(`The daemon did not start:\n${daemon.output}`);
    const killed = this.#instant(isBehind ? 4 : 1).then(() => daemon.kill());
    const wanted = this.accepted.length + (isBehind ? CLIENTS : JOBS_A_ROUND);
    await Promise.all([killed, ...Array.from({ length: CLIENTS }, () => this.#submitUntilKilled(url, wanted))]);
    this.#look();
  }

  /** Resolves at the instant of the kill: a time, or a moment after something was seen to happen. */
  async #instant(patience: number): Promise<void> {
    const kind = ['time', 'time', 'accepting', 'publishing', 'publishing', 'delivering'][Math.floor(this.random() * 6)];
    const delayMs = this.random() * (kind === 'time' ? 1200 * patience : 12);
    if (kind === 'time') return pause(delayMs);
    const wanted = this.accepted.length + 1 + this.random() * JOBS_A_ROUND * 0.8;
    let trigger: () => void = () => undefined;
    const seen = new Promise<void>((resolve) => {
      trigger = resolve;
    });
    const watcher = watch(this.outputDir, { recursive: true }, () => {
      if (kind === 'publishing' && this.random() < 0.1) trigger();
    });
    this.receiver.onCall = () => {
      if (kind === 'delivering' && this.random() < 0.2) trigger();
    };
    this.#onAccepted = () => {
      if (kind === 'accepting' && this.accepted.length >= wanted) trigger();
    };
    await Promise.race([seen, pause(2500 * patience)]);
    watcher.close();
    this.receiver.onCall = () => undefined;
    this.#onAccepted = () => undefined;
    await pause(delayMs);
  }

  #onAccepted: () => void = () => undefined;

  async #submitUntilKilled(url: string, wanted: number): Promise<void> {
    while (this.accepted.length < wanted) {
      try {
        const response = await callDaemon(url, '/v1/convert', { method: 'POST', body: this.#submission() });
        const job = (await response.json()) as { id: string };
        if (response.status !== 202) throw new Error(`${response.status} ${JSON.stringify(job)}`);
        this.accepted.push(job.id);
        this.#onAccepted();
      } catch (error) {
        if (!(error instanceof TypeError)) throw error;
        // The daemon is gone: this one may or may not have been taken.
        this.unanswered += 1;
        return;
      }
    }
  }

  #submission(): string {
    const index = Math.floor(this.random() * DOCUMENTS.length);
    return JSON.stringify({
      input: { file_name: 'a.ofd', bytes: Buffer.from(DOCUMENTS[index] as Uint8Array).toString('base64') },
      output: { kind: 'dir', format: FORMATS[Math.floor(this.random() * FORMATS.length)], file_name: `d${index}` },
      notify: this.random() < 0.8 ? { target: 'chaos' } : undefined,
      high_priority: this.random() < 0.2,
    });
  }

  /** What the dead daemon was at, as its files tell. */
  #look(): void {
    const names = filesBelow(this.outputDir);
    if (names.some((name) => name.endsWith('.part'))) this.#count('publishing');
    if (filesBelow(join(this.folder, 'tmp')).length > 0) this.#count('converting');
    this.#count('all');
  }

  #count(kind: string): void {
    this.kills[kind] = (this.kills[kind] ?? 0) + 1;
  }

  /** Starts once more, and lets it finish all jobs and notifications. */
  async finish(): Promise<Metrics> {
    const daemon = new Daemon(this.configPath, this.#program);
    const url = (await daemon.ready) ?? '';
    for (;;) {
      const metrics = metricsOf(await (await callDaemon(url, '/metrics')).text());
      const open = [
        'queue_depth{state="queued"}',
        'queue_depth{state="running"}',
        'notifications_pending{state="pending"}',
      ];
      if (open.every((name) => metrics.get(`ofd_${name}`) === 0)) {
        daemon.signal('SIGTERM');
        expect(await daemon.exited).toEqual({ code: 0, signal: null });
        return metrics;
      }
      await pause(50);
    }
  }
}

type Metrics = ReadonlyMap<string, number>;

function metricsOf(text: string): Metrics {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]));
}

function filesBelow(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

interface JobRow {
  readonly id: string;
  readonly state: string;
  readonly attempt: number;
  readonly to_format: string;
  readonly output_path: string;
  readonly products: string;
  readonly request: string;
  readonly ends: number;
}

it(`loses nothing and does nothing twice in ${ROUNDS} kills`, { timeout: 60_000 + ROUNDS * 15_000 }, async () => {
  const folder = temporaryFolder('chaos');
  const chaos = new Chaos(folder.path);
  onTestFinished(() => {
    chaos.receiver.close();
    folder.remove();
  });
  const expected = await expectedProducts(folder.path);
  await chaos.configure();
  for (let round = 0; round < ROUNDS; round += 1) await chaos.round();
  const metrics = await chaos.finish();

  const database = new Sqlite(join(folder.path, 'data/jobs.db'), { readonly: true });
  onTestFinished(() => {
    database.close();
  });
  const jobs = database.prepare('SELECT * FROM jobs').all() as JobRow[];
  const runs = jobs.reduce((sum, { attempt }) => sum + attempt, 0);
  const { deliveries, faults } = chaos.receiver;
  const reused = jobs.filter(({ products }) => products.includes('"reused":true')).length;
  const calls = [...deliveries.values()].reduce((sum, delivery) => sum + delivery.calls, 0);
  console.log(
    `seed ${SEED}: ${chaos.accepted.length} accepted, ${chaos.unanswered} unanswered, ${jobs.length} jobs in ${runs} runs, ` +
      `${reused} killed between publishing and settling, ` +
      `${deliveries.size} notifications in ${calls} calls; kills ${JSON.stringify(chaos.kills)}`,
  );

  // Every 202 is there, and whatever is there has succeeded, once.
  const byId = new Map(jobs.map((job) => [job.id, job]));
  expect(chaos.accepted.filter((id) => !byId.has(id))).toEqual([]);
  expect(new Set(chaos.accepted).size).toBe(chaos.accepted.length);
  expect(jobs.filter(({ state, ends }) => state !== 'succeeded' || ends !== 1)).toEqual([]);

  // One product each, with the right bytes, and nothing else.
  const products = jobs.map((job) => {
    const [product] = JSON.parse(job.products) as [{ location: string; sha256: string }];
    expect(product.sha256, job.id).toBe(expected.get(basename(product.location)));
    return product.location;
  });
  const files = filesBelow(chaos.outputDir);
  expect(files.sort()).toEqual(products.sort());
  for (const file of files) expect(sha256Of(readFileSync(file)), file).toBe(expected.get(basename(file)));
  expect(filesBelow(join(folder.path, 'tmp'))).toEqual([]);
  expect(readdirSync(join(folder.path, 'data/inputs'))).toEqual([]);

  // The counters are the jobs.
  for (const to of FORMATS) {
    const count = jobs.filter((job) => job.to_format === to).length;
    expect(metrics.get(`ofd_conversions_total{from="ofd",to="${to}",state="succeeded"}`) ?? 0, to).toBe(count);
  }
  expect([...metrics.keys()].filter((name) => name.includes('state="failed"'))).toEqual([]);

  // Every notification has arrived, under one id and with one body.
  const toldOf = jobs.filter(({ request }) => (JSON.parse(request) as { notify?: object }).notify).map(({ id }) => id);
  expect([...deliveries.keys()].sort()).toEqual(toldOf.map((id) => `${id}:succeeded`).sort());
  expect([...deliveries].filter(([, { bodies }]) => bodies.size > 1)).toEqual([]);
  expect(faults).toEqual([]);
  expect(metrics.get('ofd_notifications_total{outcome="delivered"}')).toBe(toldOf.length);
});
