/** Where a soak takes place: folders, a configuration as an operator would write it, and the daemon as its own process. */
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Numbers } from '../fuzz/numbers.js';
import { copyOfBuild, Daemon } from '../support/daemon.js';
import { KEY } from '../support/key.js';
import { unitEnvironment } from '../support/unit.js';
import { percentileOf } from './bounds.js';
import { Client, type JobAnswer } from './client.js';
import type { Ledger } from './ledger.js';
import { Receiver } from './receiver.js';
import { type Remote, remoteKeys } from './remotes.js';
import { entriesBelow, metricsOf, mibOf, type Sample, sampleProcess } from './samples.js';
import { LIMITED_A_MINUTE, NOTIFY_TARGET } from './scene.js';

const LIMITED_KEY = 'the-key-of-somebody-who-asks-too-much';
export const RETENTION_SECONDS = 180;

export class World {
  readonly folder: string;
  readonly receiver: Receiver;
  readonly #configPath: string;
  readonly #startedMs = Date.now();
  #config: Record<string, unknown> = {};
  #daemon: Daemon | undefined;
  #probe: Worker | undefined;
  url = '';

  /** @param folder empty; everything that the daemon writes lies below */
  constructor(folder: string, numbers: Numbers) {
    this.folder = folder;
    this.#configPath = join(folder, 'config.json');
    this.receiver = new Receiver(numbers);
  }

  /** @param tree root of the tree with the build in `dist` */
  async start(tree: string, remotes: readonly Remote[]): Promise<void> {
    this.#config = {
      listen: '127.0.0.1:0',
      api_key: KEY,
      api_keys: { somebody: { key: LIMITED_KEY, scopes: ['read'], requests_per_minute: LIMITED_A_MINUTE } },
      ui: true,
      db_path: join(this.folder, 'data/jobs.db'),
      temp_dir: join(this.folder, 'tmp'),
      output_dir: join(this.folder, 'out'),
      log_dir: join(this.folder, 'log'),
      log_max_size_mb: 5,
      log_max_backups: 3,
      log_to_stdout: true,
      fast_workers: 3,
      heavy_workers: 2,
      // Far more than any document needs, also on a busy machine.
      job_timeout: '150s',
      url_timeout: '10m',
      max_job_attempts: 8,
      job_retry_backoff: '500ms',
      sink_retry_for: '30m',
      retention: `${RETENTION_SECONDS}s`,
      output_retention: `${RETENTION_SECONDS}s`,
      allow_input_url_hosts: ['127.0.0.1'],
      notify_retry_backoff: '200ms',
      notify_targets: {
        [NOTIFY_TARGET]: { url: await this.receiver.listen(), secret: 'soak', timeout_seconds: 2, max_attempts: 20 },
      },
      ...remoteKeys(remotes),
    };
    this.#write('info');
    for (const name of ['tmp', 'out', 'log']) mkdirSync(join(this.folder, name));
    const program = copyOfBuild(join(this.folder, 'program'), tree);
    this.#daemon = new Daemon(this.#configPath, program, ['env', ...unitEnvironment(tree)]);
    const url = await this.#daemon.ready;
    if (url === undefined) throw new Error(`The daemon did not start:\n${this.#daemon.output}`);
    this.url = url;
    this.#probe = new Worker(new URL('./health-probe.js', import.meta.url), { workerData: url });
  }

  get daemon(): Daemon {
    if (!this.#daemon) throw new Error('The daemon has not been started');
    return this.#daemon;
  }

  get client(): Client {
    return new Client(this.url, KEY);
  }

  get limitedClient(): Client {
    return new Client(this.url, LIMITED_KEY);
  }

  #write(level: string): void {
    writeFileSync(this.#configPath, JSON.stringify({ ...this.#config, log_level: level }, null, 2), { mode: 0o600 });
  }

  /** Another log level by SIGHUP. */
  reload(level: 'info' | 'warn'): void {
    this.#write(level);
    this.daemon.signal('SIGHUP');
  }

  /** Entries below temp_dir that belong to no engine that waits for work. */
  leftovers(): string[] {
    return entriesBelow(join(this.folder, 'tmp')).filter((path) =>
      /^work-[0-9a-f]+\/(?!profiles(\/|$))|^(?!work-)/.test(path),
    );
  }

  async sample(): Promise<Sample> {
    const { client, folder } = this;
    const at = (path: string): string => join(folder, path);
    const metrics = metricsOf((await client.call('/metrics')).bytes.toString());
    const inMib = (name: string): number => (metrics.get(name) ?? 0) / 1024 / 1024;
    const health = await this.#health();
    const database = at('data/jobs.db');
    return {
      seconds: (Date.now() - this.#startedMs) / 1000,
      ...sampleProcess(this.daemon.pid),
      heapMib: inMib('nodejs_heap_size_used_bytes'),
      externalMib: inMib('nodejs_external_memory_bytes'),
      tempEntries: this.leftovers().length,
      profileFiles: entriesBelow(at('tmp')).filter((path) => path.includes('/profiles/')).length,
      inputFiles: entriesBelow(at('data/inputs')).length,
      logFiles: entriesBelow(at('data/logs')).length,
      outputFiles: entriesBelow(at('out')).length,
      databaseMib: mibOf(database, `${database}-wal`),
      queued: metrics.get('ofd_queue_depth{state="queued"}') ?? 0,
      running: metrics.get('ofd_queue_depth{state="running"}') ?? 0,
      jobRows: 0,
      ...health,
    };
  }

  async #health(): Promise<Pick<Sample, 'healthP99Ms' | 'probeP99Ms'>> {
    const probe = this.#probe;
    if (!probe) return { healthP99Ms: 0, probeP99Ms: 0 };
    const reply = new Promise<{ answers: number[]; lateness: number[] }>((resolve) => probe.once('message', resolve));
    probe.postMessage('tell');
    const { answers, lateness } = await reply;
    return { healthP99Ms: percentileOf(answers, 0.99), probeP99Ms: percentileOf(lateness, 0.99) };
  }

  /** Looks at every job that there is a record of; how many there are. */
  async look(ledger: Ledger): Promise<number> {
    let cursor: string | undefined;
    let count = 0;
    do {
      const page = await this.client.call(`/v1/jobs?limit=200${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`);
      const jobs = (page.json.jobs ?? []) as readonly JobAnswer[];
      for (const job of jobs) {
        ledger.see({ id: job.id, state: job.state, from: job.from_actual ?? 'unknown', to: job.to });
      }
      count += jobs.length;
      cursor = page.json.next_cursor as string | undefined;
    } while (cursor !== undefined);
    return count;
  }

  async metrics(): Promise<ReadonlyMap<string, number>> {
    return metricsOf((await this.client.call('/metrics')).bytes.toString());
  }

  /** Keeps the log where the folder goes. */
  /** All lines that the daemon has written. */
  get logLines(): string {
    const folder = join(this.folder, 'log');
    return readdirSync(folder)
      .map((name) => readFileSync(join(folder, name), 'utf8'))
      .join('\n');
  }

  keepLog(path: string): void {
    cpSync(join(this.folder, 'log'), path, { recursive: true });
  }

  async close(): Promise<void> {
    await this.#probe?.terminate();
    this.receiver.close();
  }
}
