/**
 * Schemas of answers. The functions that make the answers are typed by them, and /openapi.json shows them, so that code
 * and description cannot part.
 */
import { type Static, type TSchema, Type } from 'typebox';
import { ERROR_CODES, FAILURE_REASONS } from '../errors.js';
import { FORMAT_IDS } from '../formats.js';
import { JOB_STATES, LANE_NAMES, WAITING_REASONS } from '../jobs/job.js';
import { BATCH_EVENT, JOB_EVENTS, NOTIFICATION_STATES } from '../jobs/notification.js';

/** A value of a schema as it is written: what is optional may also be undefined, which JSON leaves out. */
export type Written<Schema extends TSchema> = Loose<Static<Schema>>;
type Loose<Value> = Value extends readonly (infer Item)[]
  ? readonly Loose<Item>[]
  : Value extends object
    ? { readonly [Key in keyof Value]: Loose<Value[Key]> | (object extends Pick<Value, Key> ? undefined : never) }
    : Value;

const oneOf = <Name extends string>(names: readonly Name[], description?: string) =>
  Type.Unsafe<Name>({ type: 'string', enum: [...names], ...(description !== undefined && { description }) });
const time = (description: string) => Type.String({ format: 'date-time', description });
const count = (description: string) => Type.Integer({ minimum: 0, description });
const closed = { additionalProperties: false };

const State = oneOf(JOB_STATES);
const Lane = oneOf(LANE_NAMES, 'Decided by the server, never changed.');
const ErrorCodeName = oneOf(Object.keys(ERROR_CODES));
const Reason = oneOf(FAILURE_REASONS, 'What kept a document from being converted.');

export const ErrorAnswer = Type.Object(
  {
    code: ErrorCodeName,
    message: Type.String({ description: 'Names the field, its value and what would be right.' }),
    reason: Type.Optional(Reason),
  },
  closed,
);

export const NotReadyAnswer = Type.Object(
  { code: ErrorCodeName, message: Type.String(), reasons: Type.Array(Type.String()) },
  closed,
);

export const AcceptedAnswer = Type.Object(
  {
    id: Type.String({ description: 'Submission time in nanoseconds, in base36: unique and increasing.' }),
    state: State,
    lane: Lane,
    to: oneOf(FORMAT_IDS),
    created_at: time('When it was submitted.'),
    status_url: Type.String(),
  },
  closed,
);

export const WarningAnswer = Type.Object(
  {
    code: Type.String(),
    message: Type.String(),
    page: Type.Optional(Type.Integer({ minimum: 1 })),
    part: Type.Optional(Type.String()),
    object_id: Type.Optional(Type.String()),
    characters: Type.Optional(Type.String()),
  },
  closed,
);

const ProductReceipt = Type.Object(
  {
    name: Type.String(),
    size: count('Bytes.'),
    sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
    location: Type.String({ description: 'Path, or address at the target; empty for a stream.' }),
    reused: Type.Boolean({ description: 'The same bytes lay there already.' }),
    delivered_at: Type.Optional(time('When it was known to lie there; absent of a stream.')),
  },
  closed,
);

const Output = Type.Object(
  {
    kind: Type.String(),
    path: Type.String({ description: 'Folder of the products; the file name of a stream.' }),
    size: count('Bytes of all products.'),
    files: Type.Array(Type.String()),
    products: Type.Array(ProductReceipt),
  },
  closed,
);

export const ProgressAnswer = Type.Object(
  { done: count('Pages done.'), total: count('Pages in all.'), unit: oneOf(['page']) },
  closed,
);

const summaryFields = {
  id: Type.String(),
  state: State,
  lane: Lane,
  from: Type.Optional(oneOf(FORMAT_IDS, 'As claimed, else as decided.')),
  to: oneOf(FORMAT_IDS),
  attempt: count('Number of the latest run; 0 before the first.'),
  created_at: time('When it was submitted.'),
  started_at: Type.Optional(time('When its latest run started.')),
  finished_at: Type.Optional(time('When it ended.')),
  from_actual: Type.Optional(oneOf(FORMAT_IDS, 'As a worker opened it.')),
  input_bytes: count('Size of the input.'),
  progress: Type.Optional(ProgressAnswer),
  waiting: Type.Optional(
    Type.Object(
      {
        reason: Type.String(),
        since: time('Since when it waits.'),
        next_attempt_at: Type.Optional(time('Runs then, or later; absent where nobody knows.')),
      },
      closed,
    ),
  ),
  error: Type.Optional(Type.String()),
  error_code: Type.Optional(ErrorCodeName),
  reason: Type.Optional(Reason),
  pages: Type.Optional(count('Pages converted.')),
};

/** A job in a list. */
export const JobSummary = Type.Object(summaryFields, closed);

/** A job by itself (contract A7): the Go program's fields, and what goes beyond. */
export const JobAnswer = Type.Object(
  { ...summaryFields, output: Type.Optional(Output), warnings: Type.Optional(Type.Array(WarningAnswer)) },
  closed,
);

export const JobListAnswer = Type.Object(
  {
    jobs: Type.Array(JobSummary, { description: 'Newest first.' }),
    next_cursor: Type.Optional(Type.String({ description: 'Gives the next page; absent at the end.' })),
  },
  closed,
);

const BATCH_STATES = ['running', 'completed'] as const;

export const BatchAcceptedAnswer = Type.Object(
  {
    id: Type.String({ description: 'Made as the ids of jobs are.' }),
    state: oneOf(BATCH_STATES),
    total: count('Items.'),
    status_url: Type.String(),
  },
  closed,
);

const BatchItem = Type.Object(
  {
    index: count('Place in the request, from 0.'),
    job_id: Type.Optional(Type.String({ description: 'Absent where the item was refused at submission.' })),
    state: State,
    error: Type.Optional(Type.String()),
    error_code: Type.Optional(ErrorCodeName),
    reason: Type.Optional(Reason),
  },
  closed,
);

/** A batch (contract X5). */
export const BatchAnswer = Type.Object(
  {
    id: Type.String(),
    state: oneOf(BATCH_STATES, 'completed when every item has ended.'),
    total: count('Items.'),
    done: count('Items that have ended.'),
    succeeded: count('Items.'),
    failed: count('Items, those among them that were refused at submission.'),
    cancelled: count('Items.'),
    created_at: time('When it was submitted.'),
    finished_at: Type.Optional(time('When its last item ended.')),
    items: Type.Array(BatchItem, { description: 'In the order of the request.' }),
  },
  closed,
);

/** A notification of the outbox (contract N3). */
export const NotificationAnswer = Type.Object(
  {
    id: Type.String({ description: 'The header X-OFD-Delivery of each of its attempts.' }),
    job_id: Type.Optional(Type.String({ description: 'The job that it is about.' })),
    batch_id: Type.Optional(Type.String({ description: 'The batch that it is about.' })),
    target: Type.String(),
    event: oneOf([...JOB_EVENTS, BATCH_EVENT]),
    state: oneOf(NOTIFICATION_STATES),
    attempts: count('Made so far.'),
    created_at: time('When the job or the batch ended.'),
    next_attempt_at: Type.Optional(time('When it is sent next; absent where that is left to you.')),
    delivered_at: Type.Optional(time('When it was taken.')),
    last_status: Type.Optional(
      Type.Integer({ description: 'HTTP status of the last answer; absent where none came.' }),
    ),
    last_error: Type.Optional(Type.String({ description: 'Why the last attempt did not get through.' })),
  },
  closed,
);

export const NotificationListAnswer = Type.Object(
  {
    notifications: Type.Array(NotificationAnswer, { description: 'Newest first.' }),
    next_cursor: Type.Optional(Type.String({ description: 'Gives the next page; absent at the end.' })),
  },
  closed,
);

const formatRow = {
  conversions: count('Succeeded and failed.'),
  succeeded: count('Jobs.'),
  failed: count('Jobs.'),
  input_bytes: count('Bytes read.'),
  output_bytes: count('Bytes delivered.'),
};

const Waiting = Type.Object(
  Object.fromEntries(WAITING_REASONS.map((reason) => [reason, count('Queued jobs that are not due yet.')])),
  closed,
);

export const StatisticsAnswer = Type.Object(
  {
    started_at: time('Start of the process.'),
    uptime_seconds: count('Since the start of the process.'),
    since: Type.Optional(time('When the first conversion was counted.')),
    note: Type.String(),
    totals: Type.Object(formatRow, closed),
    queue: Type.Object(
      {
        queued: Type.Optional(count('Asynchronous jobs.')),
        running: Type.Optional(count('Asynchronous jobs.')),
        waiting: Type.Optional(Waiting),
        workers: Type.Object({ fast: count('Workers.'), heavy: count('Workers.'), notify: count('Workers.') }, closed),
      },
      closed,
    ),
    formats: Type.Array(
      Type.Object(
        {
          from: Type.String(),
          to: Type.String(),
          label_unknown: Type.Optional(Type.Boolean({ description: 'True where `from` is unknown.' })),
          ...formatRow,
        },
        closed,
      ),
    ),
  },
  closed,
);

export const StatusAnswer = Type.Object({ status: Type.String() }, closed);

export const ReadyAnswer = Type.Object(
  {
    status: Type.String(),
    disabled: Type.Array(Type.Object({ engine: Type.String(), reason: Type.String() }, closed), {
      description: 'Engines that are not there: conversions that need one are refused.',
    }),
    cold: Type.Array(Type.Object({ engine: Type.String(), reason: Type.String() }, closed), {
      description: 'Engines that warm_engines could not start; their first conversion tries again.',
    }),
    hindrances: Type.Array(Type.String(), { description: 'Why jobs that are taken wait: a volume is full or hangs.' }),
  },
  closed,
);
