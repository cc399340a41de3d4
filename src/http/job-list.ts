/** GET /v1/jobs and GET /v1/dead-letters: jobs by what they are, newest first, page by page (contract A13, X4). */
import type { Static } from 'typebox';
import { ServiceError } from '../errors.js';
import { FORMAT_IDS, type FormatId, formatNamed } from '../formats.js';
import type { JobFilter } from '../jobs/store.js';
import { JobListAnswer, type Written } from './answers.js';
import type { RouteDescription } from './api.js';
import { jobSummary } from './job-answer.js';
import { cursorOf, cursorText, limitOf, shownText } from './list-query.js';
import { DeadLetterQuery, JobListQuery } from './schemas.js';
import type { HttpServer, HttpServices } from './services.js';

/** The store's cursor is an id. */
const CURSOR = /^[0-9a-z]{1,20}$/;

type ListQuery = Static<typeof JobListQuery>;

export function jobListRoutes(server: HttpServer, services: HttpServices): void {
  server.get(
    '/v1/jobs',
    { schema: { querystring: JobListQuery }, config: { api: listApi('Jobs, newest first') } },
    async (request) => listAnswer(request.query, {}, services),
  );

  server.get(
    '/v1/dead-letters',
    {
      schema: { querystring: DeadLetterQuery },
      config: { api: listApi('Failed jobs that may be tried again by hand, newest first') },
    },
    async (request) => listAnswer(request.query, { isDeadLetter: true }, services),
  );
}

function listApi(summary: string): RouteDescription {
  return {
    summary,
    answers: { 200: { description: 'One page of them', schema: JobListAnswer } },
    errors: ['unavailable'],
  };
}

async function listAnswer(
  query: ListQuery,
  fixed: JobFilter,
  { store, progressOf, readiness, downTargets }: HttpServices,
): Promise<Written<typeof JobListAnswer>> {
  const filter: JobFilter = {
    state: query.state,
    lane: query.lane,
    from: format('from', query.from),
    to: format('to', query.to),
    sinceMs: instant('since', query.since),
    untilMs: instant('until', query.until),
    ...fixed,
  };
  const { items: jobs, nextCursor } = await store.list(filter, limitOf(query.limit), cursorOf(query.cursor, CURSOR));
  const hindrances = [...readiness.hindrances(), ...downTargets()];
  return {
    jobs: jobs.map((job) => jobSummary(job, progressOf(job), hindrances)),
    next_cursor: cursorText(nextCursor),
  };
}

function format(field: string, text: string | undefined): FormatId | undefined {
  if (!text) return undefined;
  const found = formatNamed(text);
  if (found === undefined)
    throw invalid(`${field}: ${shownText(text)} is no format; there are ${FORMAT_IDS.join(', ')}`);
  return found;
}

const INSTANT = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/i;

/** Milliseconds since 1970. */
function instant(field: string, text: string | undefined): number | undefined {
  if (!text) return undefined;
  const ms = INSTANT.test(text) && isDay(text.slice(0, 10)) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms) || ms < 0) {
    const plus = / \d\d:\d\d$/.test(text) ? '; a + in a query is written %2B' : '';
    throw invalid(`${field}: ${shownText(text)} is no time; write 2026-01-31 or 2026-01-31T08:00:00Z${plus}`);
  }
  return ms;
}

/** February has no 31st, though Date reads it as a day of March. */
function isDay(text: string): boolean {
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

function invalid(message: string): ServiceError {
  return new ServiceError('invalid_request', message);
}
