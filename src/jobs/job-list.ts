/** The list of jobs, newest first: looked through in steps, so that a rare filter over many rows blocks no submission. */

import { idAt, type Job } from './job.js';
import type { ListStep } from './paging.js';
import { type JobRow, jobOf } from './rows.js';
import type { Statements } from './statements.js';
import type { JobFilter } from './store.js';

/** Rows looked at in one step; some milliseconds. */
const ROWS_A_STEP = 5000;

/**
 * One step.
 * @param below only jobs with a smaller id; all where undefined
 */
export function listStep(
  statements: Statements,
  filter: JobFilter,
  limit: number,
  below: string | undefined,
): ListStep<Job> {
  const range = rangeOf(filter, below);
  const boundary = statements
    .sql(`SELECT id FROM jobs WHERE ${range.text} ORDER BY id DESC LIMIT 1 OFFSET ${ROWS_A_STEP - 1}`)
    .pluck()
    .get(...range.values) as string | undefined;
  const conditions = conditionsOf(filter);
  const rows = statements
    .sql(
      `SELECT * FROM jobs WHERE ${[range.text, 'id >= ?', ...conditions.texts].join(' AND ')} ORDER BY id DESC LIMIT ?`,
    )
    .all(...range.values, boundary ?? '', ...conditions.values, limit) as JobRow[];
  const isFull = rows.length === limit;
  return { items: rows.map(jobOf), continueBelow: isFull ? rows.at(-1)?.id : boundary };
}

/** What the index alone can tell. An id is the time of its submission or later: see nextJobId. */
function rangeOf(filter: JobFilter, below: string | undefined): { text: string; values: string[] } {
  const texts = ['id >= ?'];
  const values = [filter.sinceMs === undefined ? '' : idAt(BigInt(Math.trunc(filter.sinceMs)) * 1_000_000n)];
  if (below !== undefined) {
    texts.push('id < ?');
    values.push(below);
  }
  if (filter.isDeadLetter) texts.push('is_dead_letter = 1');
  return { text: texts.join(' AND '), values };
}

function conditionsOf(filter: JobFilter): { texts: string[]; values: (string | number)[] } {
  const wanted: [string, string | number | undefined][] = [
    ['state = ?', filter.state],
    ['lane = ?', filter.lane],
    ['from_format = ?', filter.from],
    ['to_format = ?', filter.to],
    ['created_at_ms >= ?', filter.sinceMs],
    ['created_at_ms < ?', filter.untilMs],
  ];
  const given = wanted.filter((entry): entry is [string, string | number] => entry[1] !== undefined);
  return { texts: given.map(([text]) => text), values: given.map(([, value]) => value) };
}
