/** Every error code of the service in one table: HTTP status and whether another attempt may pass (contract A2, R4). */

export const ERROR_CODES = {
  invalid_request: { status: 400, retryable: false },
  unauthorized: { status: 401, retryable: false },
  forbidden: { status: 403, retryable: false },
  rate_limited: { status: 429, retryable: false },
  url_input_disabled: { status: 403, retryable: false },
  url_not_allowed: { status: 403, retryable: false },
  unknown_notify_target: { status: 400, retryable: false },
  unknown_remote_target: { status: 400, retryable: false },
  unsupported_conversion: { status: 400, retryable: false },
  payload_too_large: { status: 413, retryable: false },
  not_found: { status: 404, retryable: false },
  job_not_found: { status: 404, retryable: false },
  log_not_found: { status: 404, retryable: false },
  content_not_found: { status: 404, retryable: false },
  batch_not_found: { status: 404, retryable: false },
  notification_not_found: { status: 404, retryable: false },
  method_not_allowed: { status: 405, retryable: false },
  not_cancellable: { status: 409, retryable: false },
  not_retryable: { status: 409, retryable: false },
  job_not_finished: { status: 409, retryable: false },
  content_not_available: { status: 409, retryable: false },
  conflict: { status: 409, retryable: false },
  cancelled: { status: 409, retryable: false },
  conversion_failed: { status: 422, retryable: false },
  output_too_large: { status: 422, retryable: false },
  internal_error: { status: 500, retryable: false },
  engine_crashed: { status: 500, retryable: true },
  checksum_mismatch: { status: 500, retryable: true },
  sink_refused: { status: 502, retryable: false },
  sink_unreachable: { status: 502, retryable: true },
  source_refused: { status: 502, retryable: false },
  source_unreachable: { status: 502, retryable: true },
  server_busy: { status: 503, retryable: false },
  shutting_down: { status: 503, retryable: false },
  not_ready: { status: 503, retryable: false },
  unavailable: { status: 503, retryable: true },
  insufficient_storage: { status: 503, retryable: true },
  conversion_timeout: { status: 504, retryable: true },
} as const satisfies Record<string, { status: number; retryable: boolean }>;

export type ErrorCode = keyof typeof ERROR_CODES;

/** What kept a document from being converted; stands beside the code of every conversion error (contract A2). */
export const FAILURE_REASONS = [
  'not_ofd',
  'corrupt',
  'encrypted',
  'unsafe',
  'too_large',
  'unsupported',
  'timeout',
  'internal',
] as const;

export type FailureReason = (typeof FAILURE_REASONS)[number];

export interface ServiceErrorOptions extends ErrorOptions {
  readonly reason?: FailureReason;
  readonly retryAfterSeconds?: number;
}

/** An error that a client may see: a code of the table and a message that names the field, the value and the way out. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly code: ErrorCode;
  readonly reason: FailureReason | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, message: string, options: ServiceErrorOptions = {}) {
    super(message, options);
    this.code = code;
    this.reason = options.reason;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }

  get status(): number {
    return ERROR_CODES[this.code].status;
  }
}
