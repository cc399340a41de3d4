/** The list of notifications, newest first: looked through in steps, so that a rare filter over many rows blocks nobody. */

import type { NotificationFilter, NotificationSummary } from './notification.js';
import { type NotificationRow, summaryOf } from './notification-rows.js';
import type { ListStep } from './paging.js';
import type { Statements } from './statements.js';

/** Rows looked at in one step; some milliseconds. */
const ROWS_A_STEP = 5000;

/** Everything but the body, which may be long. */
const COLUMNS = `id, job_id, target, event, state, attempts, earlier_attempts, created_at_ms, next_attempt_at_ms,
  delivered_at_ms, last_status, last_error`;

/** A place in the order of the list: the time of a notification, then its id. */
type Place = readonly [createdAtMs: number, id: string];

const placeText = ([createdAtMs, id]: Place): string => `${createdAtMs} ${id}`;

/** The place of a notification, as a text: the cursor of the page that ends with it. */
export function placeOfNotification({ createdAtMs, id }: NotificationSummary): string {
  return placeText([createdAtMs, id]);
}

function placeOf(text: string): Place {
  const space = text.indexOf(' ');
  return [Number(text.slice(0, space)), text.slice(space + 1)];
}

/**
 * One step.
 * @param below only what stands after this place; all where undefined
 */
export function listNotifications(
  statements: Statements,
  filter: NotificationFilter,
  limit: number,
  below: string | undefined,
): ListStep<NotificationSummary> {
  const range =
    below === undefined ? { text: '1', values: [] } : { text: '(created_at_ms, id) < (?, ?)', values: placeOf(below) };
  const boundary = filter.subject === undefined ? boundaryOf(statements, range) : undefined;
  const wanted: [string, string | number | undefined][] = [
    ['job_id = ?', filter.subject],
    ['state = ?', filter.state],
    ['target = ?', filter.target],
    ['event = ?', filter.event],
  ];
  const given = wanted.filter((entry): entry is [string, string | number] => entry[1] !== undefined);
  const conditions = [
    range.text,
    ...(boundary ? ['(created_at_ms, id) >= (?, ?)'] : []),
    ...given.map(([text]) => text),
  ];
  const rows = statements
    .sql(
      `SELECT ${COLUMNS} FROM notifications WHERE ${conditions.join(' AND ')} ORDER BY created_at_ms DESC, id DESC LIMIT ?`,
    )
    .all(...range.values, ...(boundary ?? []), ...given.map(([, value]) => value), limit) as NotificationRow[];
  const last = rows.at(-1);
  const isFull = rows.length === limit && last !== undefined;
  const next: Place | undefined = isFull ? [last.created_at_ms, last.id] : boundary;
  return { items: rows.map(summaryOf), continueBelow: next && placeText(next) };
}

function boundaryOf(
  statements: Statements,
  range: { readonly text: string; readonly values: readonly (string | number)[] },
): Place | undefined {
  const row = statements
    .sql(
      `SELECT created_at_ms, id FROM notifications WHERE ${range.text}
       ORDER BY created_at_ms DESC, id DESC LIMIT 1 OFFSET ${ROWS_A_STEP - 1}`,
    )
    .get(...range.values) as { created_at_ms: number; id: string } | undefined;
  return row && [row.created_at_ms, row.id];
}
