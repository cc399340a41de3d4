/**
 * `make soak MIN=60`: the built daemon under a mixed load with faults, watched from outside. Ends with 1 where something
 * came out otherwise than it should, or a bound of bounds.ts is broken.
 */
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { setPriority, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { numbersFrom } from '../fuzz/numbers.js';
import { KEY } from '../support/key.js';
import { brokenBounds, type Measured } from './bounds.js';
import { pause, sha256Of } from './client.js';
import { openLibrary } from './documents.js';
import { Ledger } from './ledger.js';
import { Load, REST_MS } from './load.js';
import { unansweredOf } from './receiver.js';
import { disturb, type Remote, startRemotes, untilAborted } from './remotes.js';
import { outcomeLines, tableHead, tableRow, trends } from './report.js';
import { entriesBelow, type Sample } from './samples.js';
import type { Scene } from './scene.js';
import { Source } from './source.js';
import { RETENTION_SECONDS, World } from './world.js';

const SAMPLE_EVERY_MS = 15_000;
const RELOAD_EVERY_MS = 150_000;
/** Others on the machine come first. */
const NICENESS = 10;
const LONGEST_DRAIN_MS = 20 * 60_000;

function numberOf(name: string, fallback: number): number {
  const value = process.env[name] ? Number(process.env[name]) : fallback;
  if (Number.isFinite(value) && value > 0) return value;
  process.stderr.write(`${name}: "${process.env[name]}" is not a number above 0\n`);
  return process.exit(2);
}

const minutes = numberOf('MIN', 60);
const seed = numberOf('SEED', 1);
const ratePerSecond = numberOf('RATE', 2);
const report = resolve(process.env.REPORT || join('data', 'soak'));
const tree = process.cwd();

const print = (line: string): boolean => process.stdout.write(`${line}\n`);

/** Takes samples and looks at all jobs until it is stopped. */
class Watch {
  readonly samples: Sample[] = [];
  readonly #world: World;
  readonly #ledger: Ledger;
  readonly #path: string;
  #isStopped = false;
  #work: Promise<void> = Promise.resolve();

  constructor(world: World, ledger: Ledger, path: string) {
    this.#world = world;
    this.#ledger = ledger;
    this.#path = path;
  }

  start(): void {
    this.#work = this.#run();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#work;
  }

  async take(): Promise<Sample> {
    const jobRows = await this.#world.look(this.#ledger);
    const sample = { ...(await this.#world.sample()), jobRows };
    appendFileSync(this.#path, `${JSON.stringify(sample)}\n`);
    return sample;
  }

  async #run(): Promise<void> {
    let shownMinute = -1;
    while (!this.#isStopped) {
      await pause(SAMPLE_EVERY_MS);
      const sample = await this.take().catch((error: unknown) => {
        this.#ledger.note('sample', 'no answer', [], String(error));
        return undefined;
      });
      if (!sample) continue;
      this.samples.push(sample);
      const minute = Math.floor(sample.seconds / 60);
      if (minute !== shownMinute) print(tableRow(sample, this.#ledger));
      shownMinute = minute;
    }
  }
}

/** SIGHUP now and then, with another log level each time. */
async function reloadNowAndThen(world: World, signal: AbortSignal): Promise<void> {
  for (let count = 0; !signal.aborted; count += 1) {
    await untilAborted(signal, RELOAD_EVERY_MS);
    if (!signal.aborted) world.reload(count % 2 === 0 ? 'warn' : 'info');
  }
}

/** Until nothing is queued, running or to be told. */
async function untilIdle(world: World): Promise<boolean> {
  const untilMs = Date.now() + LONGEST_DRAIN_MS;
  const names = [
    'queue_depth{state="queued"}',
    'queue_depth{state="running"}',
    'notifications_pending{state="pending"}',
  ];
  while (Date.now() < untilMs) {
    const metrics = await world.metrics();
    const streams = ['fast', 'heavy'].map((lane) => metrics.get(`ofd_streams_active{lane="${lane}"}`) ?? 0);
    if (names.every((name) => metrics.get(`ofd_${name}`) === 0) && streams.every((count) => count === 0)) return true;
    await pause(500);
  }
  return false;
}

/** Whether each server holds what was delivered, all of it, and nothing else. */
async function compareRemotes(remotes: readonly Remote[], delivered: ReadonlyMap<string, string>): Promise<string[]> {
  const faults: string[] = [];
  for (const { server } of remotes) {
    const expected = [...delivered.keys()].filter((name) => name.startsWith(`${server.kind} `));
    const found = (await server.list()).map((path) => `${server.kind} ${path}`);
    faults.push(...found.filter((name) => !delivered.has(name)).map((name) => `${name}: nobody was told of it`));
    for (const name of expected) {
      const content = await server.read(name.slice(server.kind.length + 1));
      if (content === undefined) faults.push(`${name}: is not there`);
      else if (sha256Of(content) !== delivered.get(name)) faults.push(`${name}: has other content`);
    }
  }
  return faults;
}

function compareNotifications(world: World, told: ReadonlySet<string>): string[] {
  const { taken, bodies } = world.receiver;
  const unanswered = unansweredOf(world.logLines);
  const isTooOften = ([id, count]: readonly [string, number]): boolean => count > 1 + (unanswered.get(id) ?? 0);
  return [
    ...[...told].filter((id) => !taken.has(id)).map((id) => `notification ${id}: never arrived`),
    ...[...taken].filter(isTooOften).map(([id, count]) => `notification ${id}: taken ${count} times`),
    ...[...bodies].filter(([, set]) => set.size > 1).map(([id, set]) => `notification ${id}: ${set.size} bodies`),
    ...[...taken.keys()].filter((id) => !told.has(id)).map((id) => `notification ${id}: nobody expected it`),
  ];
}

async function soak(folder: string): Promise<string[]> {
  const numbers = numbersFrom(seed);
  const corpus = process.env.CORPUS || undefined;
  const library = await openLibrary(tree, corpus && resolve(corpus));
  const { remotes, absent } = await startRemotes();
  for (const reason of absent) print(`left out: ${reason}`);
  const world = new World(folder, numbersFrom(seed + 1));
  const source = new Source(library.light[0]?.bytes ?? new Uint8Array(0));
  await source.listen();
  await world.start(tree, remotes);
  const ready = (await world.client.call('/readyz')).json;
  const disabled = ((ready.disabled ?? []) as readonly { engine: string }[]).map(({ engine }) => engine);
  for (const engine of disabled) print(`left out: ${engine}`);
  const ledger = new Ledger();
  let count = 0;
  const scene: Scene = {
    client: world.client,
    limited: world.limitedClient,
    ledger,
    library,
    numbers,
    remotes,
    source,
    url: world.url,
    key: KEY,
    hasOffice: !disabled.includes('libreoffice'),
    hasBrowser: !disabled.includes('chromium'),
    told: new Set(),
    delivered: new Map(),
    next: () => ++count,
  };
  try {
    const watch = new Watch(world, ledger, join(report, 'samples.jsonl'));
    const atStart = await watch.take();
    print(tableHead());
    watch.start();
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(), minutes * 60_000);
    process.once('SIGINT', () => stop.abort());
    let isAlive = true;
    void world.daemon.exited.then(({ code, signal }) => {
      isAlive = false;
      const last = world.daemon.output.split('\n').slice(-3).join(' ');
      if (!stop.signal.aborted) ledger.note('daemon', `ended by ${signal ?? code}`, [], last);
      stop.abort();
    });
    const rests: Sample[] = [];
    const load = new Load(scene, ratePerSecond, async () => {
      const sample = await watch.take();
      rests.push(sample);
      print(`${tableRow(sample, ledger)} at rest`);
    });
    const disturbed = disturb(remotes, numbersFrom(seed + 2), stop.signal);
    await Promise.all([load.run(stop.signal), reloadNowAndThen(world, stop.signal)]);
    clearTimeout(timer);
    await watch.stop();
    const faults = await disturbed;
    const samples = [...watch.samples];
    print(
      `the load ends: ${load.started} begun, ${load.heldBack} held back, ${load.open} open, ${faults} faults of lines`,
    );
    if (!isAlive) return [...unexpectedOf(ledger), ...summary({ samples, rests }, ledger)];
    const drain = new Watch(world, ledger, join(report, 'samples.jsonl'));
    drain.start();
    await load.finish();
    const isIdle = await untilIdle(world);
    await pause(REST_MS);
    await drain.stop();
    const atEnd = await watch.take();
    rests.push(atEnd);
    print(`${tableRow(atEnd, ledger)} at rest`);
    return [
      ...(isIdle ? [] : [`not idle after ${LONGEST_DRAIN_MS / 60_000} minutes`]),
      ...unexpectedOf(ledger),
      ...ledger.barren(),
      ...ledger.lost().map((text) => `job ${text}`),
      ...ledger.differences(await world.metrics()),
      ...compareNotifications(world, scene.told),
      ...(await compareRemotes(remotes, scene.delivered)),
      ...world.leftovers().map((path) => `temp_dir holds ${path}`),
      ...(await end(world)),
      ...brokenBounds({
        samples,
        rests,
        atStart,
        atEnd,
        retentionSeconds: RETENTION_SECONDS,
        jobsASecond: ledger.jobs.size / Math.max(1, samples.at(-1)?.seconds ?? 1),
      }),
      ...summary({ samples, rests }, ledger),
    ];
  } finally {
    world.keepLog(join(report, 'log'));
    await world.close();
    source.close();
    for (const { proxy, server } of remotes) {
      await proxy.close();
      await server.close();
    }
  }
}

function unexpectedOf({ unexpected }: Ledger): string[] {
  return unexpected.map(({ scenario, outcome, detail }) => `${scenario}: ${outcome}: ${detail}`);
}

/** Prints the figures; finds no fault. */
function summary(measured: Pick<Measured, 'samples' | 'rests'>, ledger: Ledger): string[] {
  for (const line of [...outcomeLines(ledger), '', ...trends(measured)]) print(line);
  return [];
}

/** Ends the daemon as an operator does, and looks at what it leaves. */
async function end(world: World): Promise<string[]> {
  const { daemon, folder } = world;
  daemon.signal('SIGTERM');
  const { code, signal } = await daemon.exited;
  const left = entriesBelow(join(folder, 'tmp')).filter((path) => !/^work-[0-9a-f]+$/.test(path));
  return [
    ...(code === 0 ? [] : [`the daemon ended with ${code ?? signal}`]),
    ...left.slice(0, 20).map((path) => `temp_dir holds ${path} after the end`),
  ];
}

setPriority(NICENESS);
mkdirSync(report, { recursive: true });
writeFileSync(join(report, 'samples.jsonl'), '');
const folder = mkdtempSync(join(tmpdir(), 'ofd-soak-'));
print(`soak: ${minutes} minutes, seed ${seed}, ${ratePerSecond} a second, samples in ${join(report, 'samples.jsonl')}`);
const faults = await soak(folder).finally(() => rmSync(folder, { recursive: true, force: true }));
for (const fault of faults) print(`FAULT ${fault}`);
writeFileSync(join(report, 'faults.json'), JSON.stringify(faults, null, 2));
print(faults.length === 0 ? 'all as it should be' : `${faults.length} faults`);
process.exit(faults.length === 0 ? 0 : 1);
