/** Configuration of the queue: database, workers, timeouts, retries, retention. */
import { bytes, type ConfigOf, duration, type KeyGroup, path, wholeNumber } from '../config/key.js';

export const JOB_KEYS = {
  db_path: path({ isRequired: true, env: ['OFD_SERVER_DB_PATH', 'OFD_SERVER_DB'] }),
  fast_workers: wholeNumber({ default: 4, max: 256, zero: 'default' }),
  heavy_workers: wholeNumber({ default: 1, max: 256, zero: 'default' }),
  /** 0 is no limit. */
  job_timeout: duration({ default: '0s', zero: 'itself', max: '500h' }),
  /** Runs in all; 0 and 1 both mean one (contract R4). */
  max_job_attempts: wholeNumber({ default: 0, max: 1000, zero: 'itself' }),
  job_retry_backoff: duration({ default: '5s', zero: 'default', max: '500h' }),
  /** How long a remote target that cannot be reached is waited for after those runs; 0 is not at all (contract R4). */
  sink_retry_for: duration({ default: '0s', zero: 'itself' }),
  /** A job whose run ended the process so often is failed and not run again; 0 is no limit (contract R5). */
  max_job_crashes: wholeNumber({ default: 3, max: 1000, zero: 'itself' }),
  /** A run without a sign of life for so long is ended; 0 is no limit (contract R5). */
  heartbeat_timeout: duration({ default: '10m', zero: 'itself', max: '500h' }),
  /** Of what the engines of a run print, the first so many bytes are kept (contract L1). */
  attempt_log_max_bytes: bytes({ default: 4 * 1024 * 1024 }),
  /** Free space of a volume below which no job starts; 0 is no limit (contract V2). */
  min_free_bytes: wholeNumber({ type: 'bytes', default: 256 * 1024 * 1024, max: 2 ** 50, zero: 'itself' }),
  retention: duration({ default: '168h', zero: 'default' }),
  /** How long running work may go on after SIGTERM; 0 puts it back in the queue at once (contract R6). */
  shutdown_grace: duration({ default: '30s', zero: 'itself', max: '24h' }),
} satisfies KeyGroup;

export type JobConfig = ConfigOf<typeof JOB_KEYS>;
