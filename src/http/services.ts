/** What the routes need of the rest of the service; app.ts puts it together, tests put fakes in. */
import type { FastifyInstance } from 'fastify';
import type { AttemptServices } from '../attempt.js';
import type { RequestRules } from '../convert/request.js';
import type { Job, LaneName } from '../jobs/job.js';
import type { CancelAnswer, JobStore } from '../jobs/store.js';
import type { Logger } from '../log/log.js';
import type { RunMetrics } from '../metrics/run-metrics.js';
import type { KeyRing } from './authorization.js';
import type { HttpConfig } from './keys.js';
import type { TypeBoxProvider } from './schemas.js';
import type { StreamSlots } from './stream-slots.js';

type RawServer = FastifyInstance['server'];
type RawRequest = FastifyInstance extends FastifyInstance<RawServer, infer Request> ? Request : never;
type RawReply = FastifyInstance extends FastifyInstance<RawServer, RawRequest, infer Reply> ? Reply : never;

/** The server as routes see it: types of requests come from their schemas. */
export type HttpServer = FastifyInstance<RawServer, RawRequest, RawReply, Logger, TypeBoxProvider>;

export interface Progress {
  readonly done: number;
  readonly total: number;
}

/** Why jobs do not start now (contract V2, V3). */
export interface Hindrance {
  readonly reason: string;
  readonly sinceMs: number;
  /** `output.kind` of the jobs that wait, of remote ones with the target (`s3/archive`); every job does where absent. */
  readonly kinds?: readonly string[];
  readonly text: string;
}

export interface Readiness {
  /** What keeps jobs from starting; they are taken and wait. */
  hindrances(): readonly Hindrance[];
  /** Why nothing may be sent to a volume now: it hangs. */
  hung(key: 'db_path' | 'temp_dir' | 'output_dir'): Hindrance | undefined;
  /** There is no room for what a submission brings. */
  noRoomForInputs(): Hindrance | undefined;
  /** Engines that could not be made ready at start, and will be tried with their first conversion. */
  readonly coldEngines: readonly { readonly engine: string; readonly reason: string }[];
  /** What is free on each volume, by the key that names it. */
  freeBytes(): readonly { readonly volume: string; readonly bytes: number }[];
  /** Why the service takes no work now; nothing where it does. */
  reasons(): readonly string[];
  /** After SIGTERM: submissions are refused, the rest is answered. */
  readonly isShuttingDown: boolean;
}

export interface HttpServices {
  readonly config: HttpConfig;
  readonly keys: KeyRing;
  readonly logger: Logger;
  readonly store: JobStore;
  readonly attempt: AttemptServices;
  readonly rules: RequestRules;
  readonly slots: StreamSlots;
  readonly readiness: Readiness;
  readonly workers: { readonly fast: number; readonly heavy: number; readonly notify: number };
  readonly startedAtMs: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Tells a lane that there may be a job. */
  wake(lane: LaneName): void;
  /** There may be a notification to send. */
  wakeNotifier(): void;
  /** Remote targets that do not answer, whose jobs wait for one of them to find out otherwise. */
  downTargets(): readonly Hindrance[];
  /** How far a running job is. */
  progressOf(job: Job): Progress | undefined;
  /**
   * Cancels a job also where it runs, and resolves when it has stopped. Throws `unavailable` where it does not stop.
   */
  cancelByForce(jobId: string): Promise<CancelAnswer>;
  readonly metrics: RunMetrics;
}
