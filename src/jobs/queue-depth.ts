/** How many jobs have not ended, and what those wait for that are not due. */
import { WAITING_REASONS } from './job.js';
import type { Statements } from './statements.js';
import type { StoreSnapshot } from './store.js';

export function queueDepth(statements: Statements): Pick<StoreSnapshot, 'queue' | 'waiting'> {
  const depth = (state: 'queued' | 'running'): number =>
    statements
      .sql('SELECT count(*) FROM jobs WHERE finished_at_ms IS NULL AND state = ? AND is_stream = 0')
      .pluck()
      .get(state) as number;
  return { queue: { queued: depth('queued'), running: depth('running') }, waiting: waiting(statements) };
}

function waiting(statements: Statements): StoreSnapshot['waiting'] {
  const rows = statements
    .sql(
      `SELECT waiting_reason AS reason, count(*) AS count FROM jobs
       WHERE state = 'queued' AND run_at_ms IS NOT NULL AND waiting_reason IS NOT NULL GROUP BY waiting_reason`,
    )
    .all() as { reason: string; count: number }[];
  const counts = new Map(rows.map(({ reason, count }) => [reason, count]));
  return WAITING_REASONS.map((reason) => ({ reason, count: counts.get(reason) ?? 0 }));
}
