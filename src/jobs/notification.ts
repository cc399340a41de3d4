/**
 * Notifications (contract N1 to N3): what the outbox keeps, and what whoever delivers may ask of it. Plain data that may
 * cross threads.
 */

import type { Page } from './paging.js';

/**
 * pending    → delivered, dead, abandoned, pending again (a later attempt)
 * abandoned  → delivered, dead, abandoned again: tried on a slow clock for as long as it is kept
 * all        → pending, by hand
 */
export const NOTIFICATION_STATES = ['pending', 'delivered', 'dead', 'abandoned'] as const;

export type NotificationState = (typeof NOTIFICATION_STATES)[number];

/** Ways for a job to end that somebody may be told of. */
export const JOB_EVENTS = ['succeeded', 'failed'] as const;

export type JobEvent = (typeof JOB_EVENTS)[number];

/** The last item of a batch has ended. */
export const BATCH_EVENT = 'batch_completed';

export type NotificationEvent = JobEvent | typeof BATCH_EVENT;

/** All of a notification but what it says. */
export interface NotificationSummary {
  /** `<job or batch>:<event>`, with `:2` … for one that ended again after a retry by hand; the same in every attempt. */
  readonly id: string;
  /** The job it is about; undefined where that is a batch. */
  readonly jobId: string | undefined;
  readonly batchId: string | undefined;
  /** Name of the registered target. */
  readonly target: string;
  readonly event: NotificationEvent;
  readonly state: NotificationState;
  /** Attempts that were made and answered, or failed. */
  readonly attempts: number;
  /** Those of them that were made before it was last sent again by hand. */
  readonly earlierAttempts: number;
  readonly createdAtMs: number;
  /** Undefined where no attempt will be made by itself. */
  readonly nextAttemptAtMs: number | undefined;
  readonly deliveredAtMs: number | undefined;
  /** HTTP status of the last answer; undefined where none came. */
  readonly lastStatus: number | undefined;
  readonly lastError: string | undefined;
}

export interface Notification extends NotificationSummary {
  /** The JSON that is sent, the same bytes in every attempt. */
  readonly body: string;
}

/** Which notifications are wanted; all where a field is absent. */
export interface NotificationFilter {
  readonly state?: NotificationState | undefined;
  readonly target?: string | undefined;
  readonly event?: string | undefined;
  /** Id of the job or the batch that it is about. */
  readonly subject?: string | undefined;
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

  /**
   * Makes a notification due now, whatever became of it: under the same id, with all attempts before it.
   * @returns as it is then; undefined where there is none
   */
  redeliverNotification(id: string, nowMs: number): Promise<NotificationSummary | undefined>;

  notification(id: string): Promise<NotificationSummary | undefined>;

  /**
   * Notifications, newest first.
   * @param limit at most so many
   * @param cursor `nextCursor` of the page before
   */
  listNotifications(
    filter: NotificationFilter,
    limit: number,
    cursor: string | undefined,
  ): Promise<Page<NotificationSummary>>;
}

/** Which events each registered target wants to hear of; all where its list is empty or holds `*`. */
export type TargetEvents = Readonly<Record<string, readonly string[]>>;

/**
 * Whether an end is told: the request narrows what the target hears, and never widens it (contract N2). A target
 * that is not registered any more is no reason for silence: its notification is written, and shown as dead.
 */
export function isWanted(
  event: string,
  notify: { readonly target: string; readonly events?: readonly string[] | undefined },
  targetEvents: TargetEvents,
): boolean {
  return includesEvent(targetEvents[notify.target], event) && includesEvent(notify.events, event);
}

function includesEvent(events: readonly string[] | undefined, event: string): boolean {
  return !events || events.length === 0 || events.includes('*') || events.includes(event);
}
