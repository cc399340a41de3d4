/** Runs of jobs, as the lanes and the streams have them: what they need, and the log line at the end of each. */
import { type AttemptServices, runAttempt } from '../attempt.js';
import type { Converter } from '../convert/converter-types.js';
import { workspaceRoot } from '../convert/workspace.js';
import { ActiveRuns, type Progress } from '../jobs/active-runs.js';
import { AttemptLogs, logsDirectory } from '../jobs/attempt-log.js';
import { DownTargets } from '../jobs/down-targets.js';
import type { Attempt, Job, LaneName, Outcome } from '../jobs/job.js';
import { Lane } from '../jobs/lane.js';
import type { JobStore } from '../jobs/store.js';
import type { Logger } from '../log/log.js';
import type { RunMetrics } from '../metrics/run-metrics.js';
import type { RemoteTargetBook, UploadLedger } from '../transfer/sink.js';
import { UrlHosts } from '../transfer/url-hosts.js';
import type { Config } from './settings.js';
import type { Hindrance } from './volumes.js';

interface RunParts {
  readonly targets: RemoteTargetBook;
  readonly logger: Logger;
  readonly metrics: RunMetrics;
  /** Why jobs do not start now. */
  readonly hindrances: () => readonly Hindrance[];
  /** A job has ended. */
  readonly onEnd: () => void;
}

/** Why the jobs of one remote target do not start now. */
interface TargetHindrance extends Omit<Hindrance, 'reason'> {
  readonly reason: 'sink_unreachable';
}

export class Runs {
  readonly services: AttemptServices;
  readonly lanes: Readonly<Record<LaneName, Lane>>;
  readonly active: ActiveRuns;
  readonly #down: DownTargets;

  constructor(config: Config, store: JobStore, converter: Converter, parts: RunParts) {
    const { targets, logger, metrics, onEnd } = parts;
    this.#down = new DownTargets({
      onChange: (target, isDown) => {
        if (isDown) logger.warn({ target }, 'target does not answer: one run at a time goes there');
        else logger.info({ target }, 'target answers again');
      },
    });
    this.active = new ActiveRuns({
      jobTimeoutMs: config.jobTimeoutMs,
      heartbeatTimeoutMs: config.heartbeatTimeoutMs,
      onProgress: ({ attempt, progress }) => {
        if (progress) store.feed.publish(attempt.job.id, { kind: 'progress', ...progress });
      },
    });
    this.services = {
      store: {
        input: (jobId) => store.input(jobId),
        settle: async (attempt, outcome, nowMs) => {
          const isSettled = await store.settle(attempt, outcome, nowMs);
          if (!isSettled) return false;
          logRun(logger, attempt, outcome, nowMs);
          metrics.runEnded(attempt.job, outcome, nowMs);
          onEnd();
          return true;
        },
      },
      converter,
      logs: new AttemptLogs({
        directory: logsDirectory(config.dbPath),
        maxBytes: config.attemptLogMaxBytes,
        onError: (error) => logger.warn({ err: error }, 'the log of a run is not kept'),
      }),
      runs: this.active,
      workspaceRoot: workspaceRoot(config.tempDir, config.dbPath),
      sinks: { outputDir: config.outputDir, targets, ledger: ledgerOf(store) },
      urls: {
        hosts: new UrlHosts(config.allowInputUrlHosts),
        timeoutMs: config.urlTimeoutMs,
        maxBytes: config.maxUploadBytes,
        followsRedirects: config.allowUrlRedirects,
      },
      now: Date.now,
      onFault: (error, job) => logger.error({ job: job.id, err: error }, 'job failed'),
    };
    this.lanes = {
      fast: this.#lane('fast', config.fastWorkers, config, store, parts),
      heavy: this.#lane('heavy', config.heavyWorkers, config, store, parts),
    };
  }

  /** How far a running job is. */
  progressOf(job: Job): Progress | undefined {
    return this.active.of(job.id)?.progress;
  }

  /** Targets that are known not to answer: their jobs wait for one of them to find out otherwise. */
  get downTargets(): readonly TargetHindrance[] {
    return this.#down.list().map(({ place, sinceMs }) => ({
      reason: 'sink_unreachable',
      sinceMs,
      kinds: [place],
      text: `${place} does not answer`,
    }));
  }

  start(): void {
    for (const lane of Object.values(this.lanes)) lane.start();
  }

  async drain(graceMs: number): Promise<void> {
    await Promise.all(Object.values(this.lanes).map((lane) => lane.drain(graceMs)));
  }

  #lane(
    name: LaneName,
    workers: number,
    config: Config,
    store: JobStore,
    { logger, metrics, hindrances }: RunParts,
  ): Lane {
    return new Lane({
      name,
      workers,
      store: {
        claim: async (lane, nowMs) => {
          const turn = this.#down.turn(nowMs);
          let attempt: Attempt | undefined;
          try {
            const kinds = hindrances().flatMap((hindrance) => hindrance.kinds ?? []);
            attempt = await store.claim(lane, nowMs, [...kinds, ...turn.exceptPlaces]);
          } finally {
            turn.end(attempt);
          }
          if (attempt) metrics.runStarted(attempt.job, nowMs);
          return attempt;
        },
        settle: this.services.store.settle,
        requeue: (attempt) => store.requeue(attempt),
      },
      run: async (run) => {
        const startedAtMs = performance.now();
        const outcome = await runAttempt(run, this.services);
        this.#down.runEnded(run.attempt, outcome, performance.now() - startedAtMs, Date.now());
        return outcome;
      },
      runs: this.active,
      mayStart: () => hindrances().every(({ kinds }) => kinds !== undefined),
      retry: {
        maxAttempts: config.maxJobAttempts,
        backoffMs: config.jobRetryBackoffMs,
        sinkRetryForMs: config.sinkRetryForMs,
      },
      now: Date.now,
      onError: (error, attempt) => logger.error({ lane: name, job: attempt?.job.id, err: error }, 'lane'),
    });
  }
}

function ledgerOf(store: JobStore): UploadLedger {
  return {
    planned: (jobId) => store.uploads(jobId),
    plan: (jobId, files) => store.planUploads(jobId, files),
    delivered: (jobId, receipt) => store.uploadDelivered(jobId, receipt, Date.now()),
  };
}

function logRun(logger: Logger, { job, number }: Attempt, outcome: Outcome, nowMs: number): void {
  const fields = {
    job: job.id,
    lane: job.lane,
    from: outcome.fromActual ?? job.from,
    to: job.to,
    attempt: number,
    outcome: outcome.kind,
    tookMs: nowMs - (job.startedAtMs ?? nowMs),
    inputBytes: outcome.inputBytes,
  };
  if (outcome.kind === 'succeeded') {
    logger.info({ ...fields, outputBytes: outcome.output.sizeBytes, pages: outcome.pages }, 'run');
  } else if (outcome.kind === 'cancelled') {
    logger.info(fields, 'run');
  } else {
    const fault = { code: outcome.errorCode, reason: outcome.reason };
    const wait = outcome.kind === 'retry' && {
      waitingFor: outcome.waitingReason,
      nextAttemptAt: new Date(outcome.runAtMs).toISOString(),
    };
    logger.warn({ ...fields, ...fault, ...wait }, 'run');
  }
}
