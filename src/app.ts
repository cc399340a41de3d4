/** The composition root: from a configuration to a running service, started in order, closed in reverse. */
import { listen } from './app/listen.js';
import { Retention } from './app/retention.js';
import type { Config } from './app/settings.js';
import { StartError } from './app/start-error.js';
import { prepareVolumes, VolumeWatches } from './app/volumes.js';
import { Watch } from './app/watch.js';
import { type AttemptServices, runAttempt } from './attempt.js';
import { ThreadConverter } from './convert/converter.js';
import type { Converter } from './convert/converter-types.js';
import type { RequestRules } from './convert/request.js';
import { sweepWorkspaces, workspaceRoot } from './convert/workspace.js';
import { createServer } from './http/server.js';
import type { HttpServer, Progress, Readiness } from './http/services.js';
import { StreamSlots } from './http/stream-slots.js';
import type { Attempt, Job, LaneName, Outcome } from './jobs/job.js';
import { Lane } from './jobs/lane.js';
import { SqliteStore } from './jobs/sqlite-store.js';
import { type JobStore, StoreOpenError } from './jobs/store.js';
import { type Log, type Logger, openLog } from './log/log.js';
import { EVENT_NAMES } from './notify/keys.js';
import { sinkKindNamed } from './transfer/sinks/index.js';

export { ConfigError, loadConfig } from './app/settings.js';
export { StartError } from './app/start-error.js';
export type { Config };

/** A job whose run ended the process so often is failed and not run again (contract R5). */
const MAX_JOB_CRASHES = 3;
/** Connections that are still in use when everything else is done are cut after so long. */
const CLOSE_CONNECTIONS_MS = 2000;
const PING_EVERY_MS = 800;
const PING_DEADLINE_MS = 1000;

export interface StartOptions {
  /** Lines about what is allowed but insecure; logged. */
  readonly warnings?: readonly string[];
  /** In place of the worker threads. */
  readonly converter?: Converter;
}

export interface Service {
  /** The port that is listened on. */
  readonly port: number;
  readonly logger: Logger;
  /**
   * Takes no more work, waits for what runs at most `shutdown_grace`, queues the rest again, closes everything
   * (contract R6). Calling it again gives the same promise.
   */
  shutDown(): Promise<void>;
}

/** Starts everything, or nothing: what was started is closed again. Throws StartError for what the operator can mend. */
export async function startService(config: Config, options: StartOptions = {}): Promise<Service> {
  const releasers: (() => unknown)[] = [];
  const release = async (): Promise<void> => {
    for (const close of releasers.reverse()) await close();
  };
  try {
    return await start(config, options, releasers, release);
  } catch (error) {
    await release();
    throw error;
  }
}

async function start(
  config: Config,
  options: StartOptions,
  releasers: (() => unknown)[],
  release: () => Promise<void>,
): Promise<Service> {
  const startedAtMs = Date.now();
  const { logger } = await opened(openLogOrFail(config), releasers);
  for (const warning of options.warnings ?? []) logger.warn(warning);
  await prepareVolumes(config);
  const store = await opened(openStore(config), releasers);
  logger.info(await store.recover({ nowMs: Date.now(), maxJobCrashes: MAX_JOB_CRASHES }), 'recovered');
  const root = workspaceRoot(config.tempDir, config.dbPath);
  await sweepWorkspaces(root);

  const converter = options.converter ?? startConverter(config, releasers);
  const progress = new Map<string, Progress>();
  const attempt = attemptServices(config, store, converter, root, progress, logger);
  const lanes = {
    fast: laneOf('fast', config, attempt, store, logger),
    heavy: laneOf('heavy', config, attempt, store, logger),
  };
  const slots = new StreamSlots({ fast: config.fastWorkers, heavy: config.heavyWorkers });
  const state = new ServiceState(
    await opened(VolumeWatches.start(config), releasers),
    await watchStore(store, releasers),
  );
  const server = createServer({
    config,
    logger,
    store,
    attempt,
    rules: requestRules(config),
    slots,
    readiness: state,
    workers: { fast: config.fastWorkers, heavy: config.heavyWorkers, notify: config.notifyWorkers },
    jobTimeoutMs: config.jobTimeoutMs,
    startedAtMs,
    now: Date.now,
    wake: (lane: LaneName) => lanes[lane].wake(),
    progressOf: (job: Job) => progress.get(job.id),
  });
  releasers.push(() => closeServer(server));
  await opened(Promise.resolve(startRetention(config, store, logger)), releasers);
  const port = await listen(server, config.listen);
  for (const lane of Object.values(lanes)) lane.start();
  state.isStarted = true;
  logger.info({ listen: config.listen, port }, 'ready');

  const shutDown = async (): Promise<void> => {
    logger.info({ graceMs: config.shutdownGraceMs }, 'shutting down');
    state.isShuttingDown = true;
    const draining = [...Object.values(lanes), slots].map((worker) => worker.drain(config.shutdownGraceMs));
    await Promise.all(draining);
    logger.info('stopped');
    await release();
  };
  let ending: Promise<void> | undefined;
  return {
    port,
    logger,
    shutDown: () => {
      ending ??= shutDown();
      return ending;
    },
  };
}

interface Closable {
  close(): unknown;
}

async function opened<Thing extends Closable>(opening: Promise<Thing>, releasers: (() => unknown)[]): Promise<Thing> {
  const thing = await opening;
  releasers.push(() => thing.close());
  return thing;
}

async function openLogOrFail(config: Config): Promise<Log> {
  try {
    return await openLog(config);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new StartError(`log_dir: cannot write the log in ${config.logDir} (${code ?? message})`, { cause: error });
  }
}

async function openStore(config: Config): Promise<JobStore> {
  try {
    return await SqliteStore.open({ path: config.dbPath });
  } catch (error) {
    throw error instanceof StoreOpenError ? new StartError(`db_path: ${error.message}`, { cause: error }) : error;
  }
}

/** Threads for the lane's workers and as many for streams. */
function startConverter(config: Config, releasers: (() => unknown)[]): Converter {
  const converter = new ThreadConverter({ maxThreads: 2 * config.fastWorkers, fontDirs: config.fontDirs });
  releasers.push(() => converter.close());
  return converter;
}

/** Also keeps how far each running job is, and writes the log line at the end of each run. */
function attemptServices(
  config: Config,
  store: JobStore,
  converter: Converter,
  root: string,
  progress: Map<string, Progress>,
  logger: Logger,
): AttemptServices {
  return {
    store: {
      input: (jobId) => store.input(jobId),
      settle: async (attempt, outcome, nowMs) => {
        const isSettled = await store.settle(attempt, outcome, nowMs);
        progress.delete(attempt.job.id);
        logRun(logger, attempt, outcome, nowMs);
        return isSettled;
      },
    },
    converter,
    workspaceRoot: root,
    sinks: { outputDir: config.outputDir },
    now: Date.now,
    onProgress: (job, done, total) => progress.set(job.id, { done, total }),
    onFault: (error, job) => logger.error({ job: job.id, err: error }, 'job failed'),
  };
}

function laneOf(name: LaneName, config: Config, attempt: AttemptServices, store: JobStore, logger: Logger): Lane {
  return new Lane({
    name,
    workers: name === 'fast' ? config.fastWorkers : config.heavyWorkers,
    store: {
      claim: (lane, nowMs) => store.claim(lane, nowMs),
      settle: attempt.store.settle,
      requeue: (stopped) => store.requeue(stopped),
    },
    run: (claimed, signal) => runAttempt(claimed, attempt, signal),
    retry: { maxAttempts: config.maxJobAttempts, backoffMs: config.jobRetryBackoffMs },
    jobTimeoutMs: config.jobTimeoutMs,
    now: Date.now,
    onError: (error, claimed) => logger.error({ lane: name, job: claimed?.job.id, err: error }, 'lane'),
  });
}

/** One line a run; its names are those of the job's answer. */
function logRun(logger: Logger, { job, number }: Attempt, outcome: Outcome, nowMs: number): void {
  const startedAtMs = job.startedAtMs ?? nowMs;
  const fields = {
    job: job.id,
    lane: job.lane,
    from: job.from,
    to: job.to,
    attempt: number,
    outcome: outcome.kind,
    tookMs: nowMs - startedAtMs,
    inputBytes: outcome.inputBytes,
  };
  if (outcome.kind === 'succeeded') {
    logger.info({ ...fields, outputBytes: outcome.output.sizeBytes, pages: outcome.pages }, 'run');
  } else if (outcome.kind === 'cancelled') {
    logger.info(fields, 'run');
  } else {
    logger.warn({ ...fields, code: outcome.errorCode, reason: outcome.reason }, 'run');
  }
}

function requestRules(config: Config): RequestRules {
  return {
    checkDestination: (kind, destination) => sinkKindNamed(kind)?.check(destination, { outputDir: config.outputDir }),
    isUrlInputEnabled: config.allowInputUrlHosts.length > 0,
    notifyTargets: new Set(config.notifyTargets.keys()),
    notifyEvents: EVENT_NAMES,
  };
}

/** Starting → ready → shutting down, and what is not well meanwhile. */
class ServiceState implements Readiness {
  isStarted = false;
  isShuttingDown = false;
  readonly #volumes: VolumeWatches;
  readonly #store: Watch;

  constructor(volumes: VolumeWatches, store: Watch) {
    this.#volumes = volumes;
    this.#store = store;
  }

  reasons(): readonly string[] {
    if (this.isShuttingDown) return ['shutting down'];
    if (!this.isStarted) return ['starting'];
    return [...this.#volumes.faults(), ...(this.#store.fault ? [this.#store.fault] : [])];
  }
}

async function watchStore(store: JobStore, releasers: (() => unknown)[]): Promise<Watch> {
  const watch = new Watch({
    name: 'store',
    probe: () => store.ping(),
    everyMs: PING_EVERY_MS,
    deadlineMs: PING_DEADLINE_MS,
  });
  releasers.push(() => watch.close());
  await watch.start();
  return watch;
}

function startRetention(config: Config, store: JobStore, logger: Logger): Retention {
  const retention = new Retention({
    store,
    retentionMs: config.retentionMs,
    now: Date.now,
    onError: (error) => logger.error({ err: error }, 'retention'),
  });
  retention.start();
  return retention;
}

/** Ends the answers in progress, those to slow clients by force. */
async function closeServer(server: HttpServer): Promise<void> {
  const timer = setTimeout(() => server.server.closeAllConnections(), CLOSE_CONNECTIONS_MS);
  await server.close();
  clearTimeout(timer);
}
