/** The composition root: from a configuration to a running service, started in order, closed in reverse. */
import { Closers } from './app/closers.js';
import { type Engines, startEngines } from './app/engines.js';
import { listen } from './app/listen.js';
import { misnamedPaths } from './app/named-paths.js';
import { notifierOf, targetEventsOf } from './app/notifications.js';
import { startOutputRetention } from './app/output-retention.js';
import { takeSecrets } from './app/reload.js';
import type { RepeatedWork } from './app/repeated-work.js';
import { startRetention } from './app/retention.js';
import { Runs } from './app/runs.js';
import type { Config } from './app/settings.js';
import { StartError } from './app/start-error.js';
import { ServiceState } from './app/state.js';
import { prepareVolumes } from './app/volume-check.js';
import { VolumeWatches } from './app/volumes.js';
import type { Converter } from './convert/converter-types.js';
import type { AbsentEngines } from './convert/plan.js';
import type { RequestRules } from './convert/request.js';
import { sweepWorkspaces, workspaceRoot } from './convert/workspace.js';
import { KeyRing } from './http/authorization.js';
import { createServer } from './http/server.js';
import type { HttpServer } from './http/services.js';
import { StreamSlots } from './http/stream-slots.js';
import { cancelByForce } from './jobs/forced-cancel.js';
import type { LaneName } from './jobs/job.js';
import { Reaper } from './jobs/reaper.js';
import { SqliteStore } from './jobs/sqlite-store.js';
import { type JobStore, StoreOpenError } from './jobs/store.js';
import { type Log, type Logger, openLog } from './log/log.js';
import { RunMetrics } from './metrics/run-metrics.js';
import { JOB_EVENT_NAMES } from './notify/keys.js';
import { RemoteTargets } from './transfer/remote/book.js';
import type { SinkSettings } from './transfer/sink.js';
import { sinkKindNamed } from './transfer/sinks/index.js';
import { admitHost, parseInputUrl, pathNameOf } from './transfer/sources/input-url.js';
import { UrlHosts } from './transfer/url-hosts.js';

export { ConfigError, loadConfig } from './app/settings.js';
export { StartError } from './app/start-error.js';
export type { Config };

/** Connections that are still in use when the grace is over are cut after so long. */
const CLOSE_CONNECTIONS_MS = 2000;
const CLOSE_IDLE_EVERY_MS = 100;

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
  /** Takes the log level and the secrets of another reading of the configuration; all else needs a new start. */
  reload(config: Config): void;
  /**
   * Takes no more work, waits for what runs at most `shutdown_grace`, queues the rest again, closes everything
   * (contract R6). Calling it again gives the same promise.
   */
  shutDown(): Promise<void>;
}

/** Starts everything, or nothing: what was started is closed again. Throws StartError for what the operator can mend. */
export async function startService(config: Config, options: StartOptions = {}): Promise<Service> {
  const closers = new Closers();
  try {
    return await start(config, options, closers);
  } catch (error) {
    // Why it did not start is what counts, whatever else hangs.
    await closers.close().catch(() => undefined);
    throw error;
  }
}

async function start(config: Config, options: StartOptions, closers: Closers): Promise<Service> {
  const startedAtMs = Date.now();
  const openness = await prepareVolumes(config);
  const { logger } = closers.add(await openLogOrFail(config));
  const misnamed = await misnamedPaths(config);
  for (const warning of [...(options.warnings ?? []), ...openness, ...misnamed]) logger.warn(warning);
  const store = closers.add(await openStore(config));
  await recover(config, store, logger);

  const metrics = new RunMetrics();
  const notifier = closers.add(notifierOf(config, store, logger));
  const workspaces = workspaceRoot(config.tempDir, config.dbPath);
  await sweepWorkspaces(workspaces);
  const engines = closers.add(await startEngines(config, metrics, workspaces));
  const converter = options.converter ?? engines.converter;
  const targets = closers.add(await RemoteTargets.open(config));
  const volumes = closers.add(await watchVolumes(config, logger));
  const runs = new Runs(config, store, converter, {
    targets,
    logger,
    metrics,
    hindrances: () => volumes.hindrances(),
    onEnd: () => notifier.wake(),
  });
  const slots = new StreamSlots({ fast: config.fastWorkers, heavy: config.heavyWorkers });
  const state = closers.add(await ServiceState.watch(store, volumes));
  const keys = new KeyRing(config);
  const server = createServer({
    config,
    keys,
    logger,
    store,
    attempt: runs.services,
    rules: requestRules(config, runs.services.sinks, engines.absent),
    slots,
    readiness: state,
    workers: { fast: config.fastWorkers, heavy: config.heavyWorkers, notify: config.notifyWorkers },
    startedAtMs,
    now: Date.now,
    wake: (lane: LaneName) => runs.lanes[lane].wake(),
    wakeNotifier: () => notifier.wake(),
    downTargets: () => runs.downTargets,
    progressOf: (job) => runs.progressOf(job),
    cancelByForce: (jobId) => cancelByForce(jobId, store, runs.active, Date.now),
    metrics,
  });
  closers.add({ close: () => closeServer(server) });
  const port = await listen(server, config.listen);
  closers.add(startPruning(config, store, logger));
  if (config.outputRetentionMs > 0) closers.add(startCleaning(config, volumes, logger));
  runs.start();
  closers.add(startReaper(store, runs, logger));
  notifier.start();
  const ready = (): void => {
    state.isStarted = true;
    logger.info({ listen: config.listen, port }, 'ready');
  };
  if (config.warmEngines) void warmUp(engines, state, logger).then(ready);
  else ready();

  let ending: Promise<void> | undefined;
  const shutDown = async (): Promise<void> => {
    logger.info({ graceMs: config.shutdownGraceMs }, 'shutting down');
    state.isShuttingDown = true;
    const graceEndMs = performance.now() + config.shutdownGraceMs;
    await Promise.all([runs.drain(config.shutdownGraceMs), slots.drain(config.shutdownGraceMs)]);
    // A product on its way to its client is running work as well: what is left of the grace is for it.
    await closeServer(server, graceEndMs - performance.now());
    logger.info('stopped');
    await closers.close();
  };
  return {
    port,
    logger,
    reload: (fresh) => {
      logger.level = fresh.logLevel;
      const { changed, needsRestart } = takeSecrets(config, fresh);
      logger.info({ logLevel: fresh.logLevel, changed: [...changed, ...keys.take(fresh)] }, 'configuration read again');
      if (needsRestart.length > 0) logger.warn({ keys: needsRestart }, 'these keys are taken by a restart alone');
    },
    shutDown: () => {
      ending ??= shutDown();
      return ending;
    },
  };
}

/** Starts the engines while the probes answer already. */
async function warmUp(engines: Engines, state: ServiceState, logger: Logger): Promise<void> {
  const startedMs = performance.now();
  state.coldEngines = await engines.warm();
  for (const cold of state.coldEngines) logger.warn(cold, 'an engine could not be warmed');
  logger.info({ tookMs: Math.round(performance.now() - startedMs) }, 'engines are warm');
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
    return await SqliteStore.open({ path: config.dbPath, targetEvents: targetEventsOf(config) });
  } catch (error) {
    throw error instanceof StoreOpenError ? new StartError(error.message, { cause: error }) : error;
  }
}

function watchVolumes(config: Config, logger: Logger): Promise<VolumeWatches> {
  return VolumeWatches.start({
    config,
    onSpace: (text, isLow) => logger[isLow ? 'warn' : 'info']({ space: text }, isLow ? 'no space' : 'space again'),
    onFault: (key, fault) => {
      if (fault === undefined) logger.info({ volume: key }, 'volume can be used again');
      else logger.warn({ volume: key, fault }, 'volume cannot be used');
    },
  });
}

function requestRules(config: Config, sinks: SinkSettings, absentEngines: AbsentEngines): RequestRules {
  return {
    absentEngines,
    checkDestination: (kind, destination) => sinkKindNamed(kind)?.check(destination, sinks),
    admitUrl: urlAdmission(config),
    notifyTargets: new Set(config.notifyTargets.keys()),
    notifyEvents: JOB_EVENT_NAMES,
  };
}

/** The check of addresses at submission; undefined where none is allowed. */
function urlAdmission(config: Config): RequestRules['admitUrl'] {
  const hosts = new UrlHosts(config.allowInputUrlHosts);
  if (hosts.isEmpty) return undefined;
  return (text) => {
    const url = parseInputUrl(text, 'input.url');
    admitHost(url, hosts, 'input.url');
    return { fileName: pathNameOf(url.target) };
  };
}

/** Finds out what ran when the last process ended, and removes what that left half done. */
async function recover(config: Config, store: JobStore, logger: Logger): Promise<void> {
  const recovery = await store.recover({ nowMs: Date.now(), maxJobCrashes: config.maxJobCrashes });
  const { interrupted, ...counts } = recovery;
  logger.info(counts, 'recovered');
  for (const job of interrupted) {
    const { output } = job.request;
    await sinkKindNamed(output.kind)
      ?.sweep?.(job.id, output, { outputDir: config.outputDir })
      .catch((error: unknown) => logger.warn({ job: job.id, err: error }, 'sweep'));
  }
}

function startReaper(store: JobStore, runs: Runs, logger: Logger): Reaper {
  const reaper = new Reaper({
    store,
    runs: runs.active,
    now: Date.now,
    onReaped: ({ job, number }) => logger.warn({ job: job.id, attempt: number }, 'a run that nobody ran was ended'),
    onError: (error) => logger.error({ err: error }, 'reaper'),
  });
  reaper.start();
  return reaper;
}

function startPruning(config: Config, store: JobStore, logger: Logger): RepeatedWork {
  return startRetention({
    store,
    retentionMs: config.retentionMs,
    now: Date.now,
    onError: (error) => logger.error({ err: error }, 'retention'),
  });
}

function startCleaning(config: Config, volumes: VolumeWatches, logger: Logger): RepeatedWork {
  return startOutputRetention({
    outputDir: config.outputDir,
    retentionMs: config.outputRetentionMs,
    now: Date.now,
    mustWait: () => volumes.hung('output_dir') !== undefined,
    onRemoved: (files, bytes) => logger.info({ files, freedBytes: bytes }, 'old products removed'),
    onError: (error) => logger.warn({ err: error }, 'old products'),
  });
}

/**
 * Ends the answers in progress, those to slow clients by force.
 * @param graceMs for what is being sent
 */
async function closeServer(server: HttpServer, graceMs = 0): Promise<void> {
  const limitMs = Math.max(graceMs, CLOSE_CONNECTIONS_MS);
  const timer = setTimeout(() => server.server.closeAllConnections(), limitMs);
  // A client may keep its connection when it has its answer.
  const looks = setInterval(() => server.server.closeIdleConnections(), CLOSE_IDLE_EVERY_MS);
  await server.close();
  clearTimeout(timer);
  clearInterval(looks);
}
