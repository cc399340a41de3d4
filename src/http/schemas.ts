/**
 * Schemas of requests; the types of handlers are inferred from them. null and "" stand for "not given", as clients write
 * them whose language has no other way. Names are translated from the wire's here and nowhere else.
 */
import type { FastifyTypeProvider } from 'fastify';
import { type Static, type TSchema, Type } from 'typebox';
import type { GivenOptions } from '../convert/options.js';
import type { Submission, UploadFacts } from '../convert/request.js';
import { JOB_STATES, LANE_NAMES } from '../jobs/job.js';
import { BATCH_EVENT, JOB_EVENTS, NOTIFICATION_STATES } from '../jobs/notification.js';

/** Lets Fastify infer the types of handlers from TypeBox schemas. */
export interface TypeBoxProvider extends FastifyTypeProvider {
  readonly validator: this['schema'] extends TSchema ? Static<this['schema']> : unknown;
  readonly serializer: this['schema'] extends TSchema ? Static<this['schema']> : unknown;
}

const LONGEST_TEXT = 8192;
/** Items of a batch. */
export const MOST_ITEMS = 1000;

/** A text that may be left out, null or empty. */
const text = (description: string) =>
  Type.Optional(Type.Unsafe<string | null>({ type: 'string', nullable: true, maxLength: LONGEST_TEXT, description }));
const orNull = <Schema extends TSchema>(schema: Schema, description?: string) =>
  Type.Optional(
    Type.Unsafe<Static<Schema> | null>({
      ...schema,
      nullable: true,
      ...(description !== undefined && { description }),
    }),
  );
const integer = (description: string) => orNull(Type.Integer(), description);
const flag = (description: string) => orNull(Type.Boolean(), description);
const names = (description: string) =>
  orNull(Type.Array(Type.String({ maxLength: 100 }), { maxItems: 100 }), description);
const closed = { additionalProperties: false };

const Input = Type.Object(
  {
    kind: text('upload (where absent) or url.'),
    file_name: text('Name of the file; its extension tells the format where format is absent.'),
    bytes: Type.Optional(
      Type.Unsafe<string | null>({
        type: 'string',
        nullable: true,
        description: 'The file in base64: standard alphabet, padded, no line breaks.',
      }),
    ),
    format: text('Format of the file; refused where the content contradicts it.'),
    url: text('Of kind url.'),
  },
  closed,
);

const Remote = Type.Object(
  { target: text('Name of a configured target.'), path: text('Folder below that of the target.') },
  closed,
);

const Options = Type.Object(
  {
    pages: text('Pages such as 1-3,7 or 5-; all where absent.'),
    dpi: integer('png, jpeg, webp: 36 to 600; 150 where absent.'),
    width: integer('png, jpeg, webp: pixels of a page; one of width and height keeps its shape.'),
    height: integer('png, jpeg, webp: pixels of a page.'),
    background: text('png, jpeg, webp, svg: #rgb, #rrggbb, either with alpha, or transparent; white where absent.'),
    quality: integer('jpeg, webp: 1 to 100.'),
    annotations: flag('ofd, pdf in: false leaves annotations out.'),
    password: text('Of an encrypted PDF.'),
    paper: text('html, mhtml, md in: A3, A4, A5, B4, B5, Letter, Legal, Tabloid, or WIDTHxHEIGHT in millimetres.'),
    margins: text('html, mhtml, md in: millimetres, for all sides or as top,right,bottom,left.'),
    landscape: flag('html, mhtml, md in: true lays the paper on its side.'),
    print_background: flag('html, mhtml, md in: false leaves backgrounds out.'),
    fail_on: names('Codes of warnings that make the conversion fail.'),
  },
  closed,
);

const Output = Type.Object(
  {
    kind: text('stream (where absent), dir, ftp, s3, webdav or sftp.'),
    format: text('Format of the products; required.'),
    dir: text('Of kind dir: folder below output_dir.'),
    file_name: text("Base of the products' names."),
    remote: orNull(Remote, 'Of the kinds that deliver to a target.'),
    options: orNull(Options),
  },
  closed,
);

const Notify = Type.Object(
  { target: text('Name of a configured target.'), events: names('succeeded, failed, *.') },
  closed,
);

/** Body of POST /v1/convert. */
export const ConvertBody = Type.Object(
  {
    input: Input,
    output: Output,
    notify: orNull(Notify, 'Who is told of the end; a stream tells nobody.'),
    high_priority: flag('true runs before the rest.'),
    idempotency_key: text('The same key and request find the first job; as the header Idempotency-Key.'),
  },
  closed,
);

export type ConvertBody = Static<typeof ConvertBody>;

const BatchNotify = Type.Object(
  {
    target: text('Name of a configured target.'),
    events: names('batch_completed, or *: a batch tells of nothing else; its items have their own notify.'),
  },
  closed,
);

const batchFields = {
  notify: orNull(BatchNotify, 'Who is told when the last item has ended.'),
  idempotency_key: text('The same key and request find the first batch; as the header Idempotency-Key.'),
};

/** Body of POST /v1/batches. */
export const BatchBody = Type.Object(
  {
    items: Type.Array(ConvertBody, {
      minItems: 1,
      maxItems: MOST_ITEMS,
      description: 'Requests as of /v1/convert, of any output.kind but stream.',
    }),
    ...batchFields,
  },
  closed,
);

/** The same with the number of each item in its place: an item that is wrong is refused alone. */
export const BatchFrame = Type.Object({ items: Type.Array(Type.Integer()), ...batchFields }, closed);

export type BatchFrame = Static<typeof BatchFrame>;

export const BatchParameters = Type.Object({ id: Type.String({ description: 'As the 202 gave it.' }) });

/** A query that has no parameters: one that is given is refused, not ignored. */
export const NoQuery = Type.Object({}, closed);

export const JobParameters = Type.Object({ id: Type.String({ description: 'As the 202 gave it.' }) });

const parameter = (description: string) => Type.Optional(Type.String({ description, maxLength: LONGEST_TEXT }));

const choice = <Name extends string>(names: readonly Name[], description: string) =>
  Type.Optional(Type.Unsafe<Name>({ type: 'string', enum: [...names], description }));

export const ContentQuery = Type.Object(
  { name: parameter('One of output.files; a ZIP of all where absent and there are several.') },
  closed,
);

export const JobQuery = Type.Object(
  { wait: parameter('Answers when the job has ended, or after this time: a duration such as 30s, at most 60s.') },
  closed,
);

export const LogQuery = Type.Object(
  { attempt: parameter('Number of the run, from 1; the latest where absent.') },
  closed,
);

export const CancelQuery = Type.Object(
  { force: choice(['true', 'false'], 'true also stops a job that runs, and answers when it has stopped.') },
  closed,
);

const listParameters = {
  lane: choice(LANE_NAMES, 'Where it runs.'),
  from: parameter('Format as claimed, else as decided.'),
  to: parameter('Format of the products.'),
  since: parameter('Submitted at this time or later: 2026-01-31 or 2026-01-31T08:00:00Z.'),
  until: parameter('Submitted before this time.'),
  limit: parameter('1 to 200 jobs; 50 where absent.'),
  cursor: parameter('next_cursor of the page before.'),
};

export const JobListQuery = Type.Object({ state: choice(JOB_STATES, 'What it is now.'), ...listParameters }, closed);

export const DeadLetterQuery = Type.Object(listParameters, closed);

export const NotificationListQuery = Type.Object(
  {
    state: choice(NOTIFICATION_STATES, 'What has become of it.'),
    target: parameter('Name of a target.'),
    event: choice([...JOB_EVENTS, BATCH_EVENT], 'What it tells.'),
    job: parameter('Id of the job or the batch that it is about.'),
    limit: parameter('1 to 200 notifications; 50 where absent.'),
    cursor: parameter('next_cursor of the page before.'),
  },
  closed,
);

export const NotificationParameters = Type.Object({
  id: Type.String({ description: 'As X-OFD-Delivery has it; with its colons as they are, or as %3A.' }),
});

function given(value: string | null | undefined): string | undefined {
  return value ? value : undefined;
}

function givenOptions(options: Static<typeof Options>): GivenOptions {
  return {
    pages: given(options.pages),
    dpi: options.dpi ?? undefined,
    width: options.width ?? undefined,
    height: options.height ?? undefined,
    background: given(options.background),
    quality: options.quality ?? undefined,
    annotations: options.annotations ?? undefined,
    password: given(options.password),
    paper: given(options.paper),
    margins: given(options.margins),
    landscape: options.landscape ?? undefined,
    printBackground: options.print_background ?? undefined,
    failOn: options.fail_on ?? undefined,
  };
}

/** The submission that a body stands for; `upload` is what the bytes that came with it tell. */
export function submissionOf(
  { input, output, notify, high_priority }: ConvertBody,
  upload: UploadFacts | undefined,
): Submission {
  return {
    input: {
      kind: given(input.kind),
      fileName: given(input.file_name),
      upload,
      format: given(input.format),
      url: given(input.url),
    },
    output: {
      kind: given(output.kind),
      format: given(output.format),
      dir: given(output.dir),
      fileName: given(output.file_name),
      remote: output.remote ? { target: given(output.remote.target), path: given(output.remote.path) } : undefined,
      options: givenOptions(output.options ?? {}),
    },
    notify: notify ? { target: given(notify.target), events: notify.events ?? undefined } : undefined,
    highPriority: high_priority ?? undefined,
  };
}
