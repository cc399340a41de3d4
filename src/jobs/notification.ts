/**
 * Notifications (contract N1 to N3): what the outbox keeps, and what whoever delivers may ask of it. Plain data that may
 * cross threads.
 */

/**
 * pending    → delivered, dead, abandoned, pending again (a later attempt)
 * abandoned  → delivered, dead, abandoned again: tried no more by itself, but not forgotten
 * delivered, dead → nothing
 */
export type NotificationState = 'pending' | 'delivered' | 'dead' | 'abandoned';

/** Ways for a job to end that somebody may be told of. */
export type JobEvent = 'succeeded' | 'failed';

export interface Notification {
  /** `<job>:<event>`, with `:2` … for a job that ended again after a retry by hand; the same in every attempt. */
  readonly id: string;
  readonly jobId: string;
  /** Name of the registered target. */
  readonly target: string;
  readonly event: string;
  /** The JSON that is sent, the same bytes in every attempt. */
  readonly body: string;
  readonly state: NotificationState;
  /** Attempts that were made and answered, or failed. */
  readonly attempts: number;
  readonly createdAtMs: number;
  /** Undefined where no attempt will be made by itself. */
  readonly nextAttemptAtMs: number | undefined;
  readonly deliveredAtMs: number | undefined;
  /** HTTP status of the last answer; undefined where none came. */
  readonly lastStatus: number | undefined;
  readonly lastError: string | undefined;
}

/** How an attempt to deliver ended. */
export interface DeliveryResult {
  readonly state: NotificationState;
  readonly status?: number | undefined;
  readonly error?: string | undefined;
  /** Of a notification that is still to be delivered. */
  readonly nextAttemptAtMs?: number | undefined;
}

/** The place that notifications are written to together with the end of their jobs. */
export interface Outbox {
  /**
   * Hands out the notification that has been due for longest. No two callers get the same one.
   * @param exceptTargets names of targets that are to be left alone now
   */
  claimNotification(nowMs: number, exceptTargets: readonly string[]): Promise<Notification | undefined>;

  /** Writes down an attempt. False where the claim is no longer the caller's. */
  settleNotification(claimed: Notification, result: DeliveryResult, nowMs: number): Promise<boolean>;

  /** Gives a claimed notification back, as if no attempt had been made. */
  releaseNotification(claimed: Notification): Promise<void>;
}

/** Which events each registered target wants to hear of; all where its list is empty or holds `*`. */
export type TargetEvents = Readonly<Record<string, readonly string[]>>;

/**
 * Whether a job's end is told: the request narrows what the target hears, and never widens it (contract N2). A target
 * that is not registered any more is no reason for silence: its notification is written, and shown as dead.
 */
export function isWanted(
  event: JobEvent,
  notify: { readonly target: string; readonly events?: readonly string[] | undefined },
  targetEvents: TargetEvents,
): boolean {
  return includesEvent(targetEvents[notify.target], event) && includesEvent(notify.events, event);
}

function includesEvent(events: readonly string[] | undefined, event: string): boolean {
  return !events || events.length === 0 || events.includes('*') || events.includes(event);
}
