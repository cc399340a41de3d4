// Following a job: long poll, events, lists, dead letters, forced cancel (contract A9, A13, X4).
import { request } from 'node:http';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ServiceError } from '../../src/errors.js';
import { JobFeed } from '../../src/jobs/feed.js';
import {
  type JobAnswer,
  json,
  KEY,
  startTestService,
  submission,
  type TestService,
  until,
} from '../support/service.js';

let service: TestService;

beforeEach(async () => {
  service = await startTestService({ fast_workers: 1 });
});
afterEach(() => service.close());

const submit = (changes: Parameters<typeof submission>[0] = {}): Promise<JobAnswer> =>
  json<JobAnswer>(service.convert(submission({ ...changes, output: { kind: 'dir', ...changes?.output } })));
const get = <Answer = JobAnswer>(path: string): Promise<Answer> => json<Answer>(service.call(path));
const post = (path: string): Promise<Response> => service.call(path, { method: 'POST' });
const crash = new ServiceError('engine_crashed', 'The engine died', { reason: 'internal' });

async function timed<Thing>(work: Promise<Thing>): Promise<[Thing, number]> {
  const startMs = performance.now();
  return [await work, performance.now() - startMs];
}

describe('?wait', () => {
  it('answers when the job has ended', async () => {
    service.converter.hold();
    const { id } = await submit();
    const waiting = timed(get(`/v1/jobs/${id}?wait=30s`));
    setTimeout(() => service.converter.release(), 300);
    const [job, tookMs] = await waiting;
    expect(job.state).toBe('succeeded');
    expect(tookMs).toBeGreaterThan(200);
    expect(tookMs).toBeLessThan(10_000);
    expect((await timed(get(`/v1/jobs/${id}?wait=30s`)))[1]).toBeLessThan(5000);
  });

  it('answers after its time with what is then', async () => {
    service.converter.hold();
    const { id } = await submit();
    const [job, tookMs] = await timed(get(`/v1/jobs/${id}?wait=300ms`));
    expect(job.state).toBe('running');
    expect(tookMs).toBeGreaterThan(290);
  });

  it('answers when the job is cancelled', async () => {
    service.converter.hold();
    await submit();
    const { id } = await submit();
    const waiting = get(`/v1/jobs/${id}?wait=1m`);
    await post(`/v1/jobs/${id}/cancel`);
    expect((await waiting).state).toBe('cancelled');
  });

  it('does not hold up the end of the service', async () => {
    service.converter.hold();
    const { id } = await submit();
    const waiting = timed(get(`/v1/jobs/${id}?wait=60s`));
    await service.reached(id, 'running');
    await service.service.shutDown();
    const [job, tookMs] = await waiting;
    expect(job.state).toBe('queued');
    expect(tookMs).toBeLessThan(20_000);
  });

  it.each(['5', 'soon', '-1s', '30'])('=%s is refused', async (wait) => {
    const response = await service.call(`/v1/jobs/x?wait=${wait}`);
    expect([response.status, await json(response)]).toEqual([
      400,
      { code: 'invalid_request', message: `wait: "${wait}" is no duration; write 30s` },
    ]);
  });
});

interface Event {
  readonly name: string;
  readonly data: JobAnswer & { readonly done?: number; readonly total?: number };
}

/** Reads events as they come. */
class Events {
  readonly all: Event[] = [];
  readonly comments: string[] = [];
  readonly ended: Promise<void>;
  status: number | undefined;
  headers: Record<string, unknown> = {};
  #text = '';
  readonly #request;

  constructor(id: string) {
    this.#request = request(`${service.url}/v1/jobs/${id}/events`, { headers: { 'x-ofd-api-key': KEY } });
    this.ended = new Promise((resolve) => {
      this.#request.on('error', () => resolve());
      this.#request.on('response', (response) => {
        this.status = response.statusCode;
        this.headers = response.headers;
        response.setEncoding('utf8').on('data', (text: string) => this.#read(text));
        response.on('close', () => resolve());
        response.on('error', () => resolve());
      });
    });
    this.#request.end();
  }

  #read(text: string): void {
    this.#text += text;
    const blocks = this.#text.split('\n\n');
    this.#text = blocks.pop() as string;
    for (const block of blocks) {
      const [, name, data] = /^event: (\w+)\ndata: (.*)$/.exec(block) ?? [];
      if (name !== undefined) this.all.push({ name, data: JSON.parse(data as string) });
      else this.comments.push(block);
    }
  }

  get names(): string[] {
    return this.all.map(({ name, data }) => (name === 'page' ? `page ${data.done} of ${data.total}` : name));
  }

  leave(): void {
    this.#request.destroy();
  }

  async reach(name: string): Promise<void> {
    await until(
      async () => this.names,
      (names) => names.includes(name),
    );
  }
}

describe('events', () => {
  it('tell a job from the queue to its end', async () => {
    service.converter.hold();
    const first = await submit();
    await service.reached(first.id, 'running');
    const { id } = await submit();
    const events = new Events(id);
    await events.reach('queued');
    service.converter.release();
    await events.ended;
    expect(events.names).toEqual(['queued', 'started', 'page 1 of 2', 'done']);
    expect(events.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
    });
    const [queued, started, page, done] = events.all.map(({ data }) => data);
    expect(queued).toMatchObject({ id, state: 'queued', attempt: 0 });
    expect(started).toMatchObject({ id, state: 'running', attempt: 1 });
    expect(page).toEqual({ done: 1, total: 2, unit: 'page' });
    expect(done).toEqual(await get(`/v1/jobs/${id}`));
  });

  it('begin with what is now: a running job, one that has ended', async () => {
    service.converter.hold();
    const { id } = await submit();
    await until(
      () => get(`/v1/jobs/${id}`),
      ({ progress }) => progress !== undefined,
    );
    const running = new Events(id);
    await running.reach('page 1 of 2');
    service.converter.release();
    await running.ended;
    expect(running.names).toEqual(['started', 'page 1 of 2', 'done']);
    const ended = new Events(id);
    await ended.ended;
    expect(ended.names).toEqual(['done']);
  });

  it('tell of a retry, and of a cancellation', async () => {
    await service.restart({ max_job_attempts: 2, job_retry_backoff: '1h' });
    service.converter.hold();
    service.converter.failure = crash;
    const { id } = await submit();
    await service.reached(id, 'running');
    const events = new Events(id);
    await events.reach('started');
    service.converter.release();
    await events.reach('queued');
    expect(events.all.at(-1)?.data).toMatchObject({ state: 'queued', attempt: 1, waiting: { reason: 'retry' } });
    await post(`/v1/jobs/${id}/cancel`);
    await events.ended;
    expect(events.all.at(-1)).toMatchObject({ name: 'done', data: { state: 'cancelled' } });
  });

  it('keep a silent connection open by comments', async () => {
    service.converter.hold();
    const { id } = await submit();
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      const events = new Events(id);
      await events.reach('started');
      vi.advanceTimersByTime(45_000);
      await until(
        async () => events.comments,
        (comments) => comments.length === 3,
      );
      expect(new Set(events.comments)).toEqual(new Set([': alive']));
      service.converter.release();
      await events.ended;
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  it('tell of an end that the store told nobody, because its answer came too late', async () => {
    service.converter.hold();
    const { id } = await submit();
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const publish = vi.spyOn(JobFeed.prototype, 'publish');
    try {
      const events = new Events(id);
      await events.reach('started');
      publish.mockImplementation(() => undefined);
      service.converter.release();
      await service.ended(id);
      vi.advanceTimersByTime(15_000);
      await events.ended;
      expect(events.names.filter((name) => name === 'done')).toEqual(['done']);
    } finally {
      publish.mockRestore();
      vi.useRealTimers();
    }
  });

  it('end with the service', async () => {
    service.converter.hold();
    const { id } = await submit();
    const events = new Events(id);
    await events.reach('started');
    await service.service.shutDown();
    await events.ended;
    expect(events.names).not.toContain('done');
  });

  it('of clients that go away are forgotten', async () => {
    service.converter.hold();
    const { id } = await submit();
    const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const many = Array.from({ length: 50 }, () => new Events(id));
    for (const events of many) await events.reach('started');
    const before = timers();
    for (const events of many) events.leave();
    await Promise.all(many.map(({ ended }) => ended));
    // Each had a timer of its own.
    await until(
      async () => timers(),
      (count) => count <= before - 50,
    );
    const last = new Events(id);
    await last.reach('started');
    service.converter.release();
    await last.ended;
    expect(last.names.at(-1)).toBe('done');
  });
});

interface List {
  readonly jobs: readonly JobAnswer[];
  readonly next_cursor?: string;
}

describe('the list of jobs', () => {
  const list = (query = ''): Promise<List> => get<List>(`/v1/jobs${query}`);
  const ids = ({ jobs }: List): string[] => jobs.map(({ id }) => id);

  it('gives all, newest first, page by page, also while jobs come', async () => {
    const made: string[] = [];
    for (let i = 0; i < 7; i++) made.unshift((await submit()).id);
    const first = await list('?limit=3');
    expect(ids(first)).toEqual(made.slice(0, 3));
    await submit();
    const second = await list(`?limit=3&cursor=${first.next_cursor}`);
    expect(ids(second)).toEqual(made.slice(3, 6));
    const third = await list(`?limit=3&cursor=${second.next_cursor}`);
    expect([ids(third), third.next_cursor]).toEqual([made.slice(6), undefined]);
    expect(first.next_cursor).not.toContain(made[2]);
  });

  it('filters', async () => {
    const pdf = await submit();
    const png = await submit({ output: { format: 'png' }, input: { file_name: 'a.html' } });
    const stream = (await service.convert(submission({ output: { format: 'txt' } }))).headers.get('x-ofd-job-id');
    await service.ended(png.id);
    const between = new Date(Date.now() + 1).toISOString();
    await new Promise((resolve) => setTimeout(resolve, 20));
    service.converter.failure = crash;
    const failed = await submit();
    await service.ended(failed.id);
    expect(ids(await list())).toEqual([failed.id, stream, png.id, pdf.id]);
    expect(ids(await list('?state=failed'))).toEqual([failed.id]);
    expect(ids(await list('?state=succeeded&to=pdf'))).toEqual([pdf.id]);
    expect(ids(await list('?from=html'))).toEqual([png.id]);
    expect(ids(await list('?lane=heavy'))).toEqual([]);
    expect(ids(await list(`?since=${between}`))).toEqual([failed.id]);
    expect(ids(await list(`?until=${between}`))).toEqual([stream, png.id, pdf.id]);
    expect(ids(await list('?since=2020-01-01&until=2021-01-01'))).toEqual([]);
    for (const year of [1970, 1972, 1973, 1975]) {
      expect(ids(await list(`?since=${year}-06-01`))).toEqual(ids(await list()));
    }
    const [job] = (await list('?state=failed')).jobs;
    expect(job).toMatchObject({ error_code: 'engine_crashed', reason: 'internal', attempt: 1 });
    expect(Object.keys(job as object)).not.toContain('warnings');
  });

  it.each([
    ['state=done', /state: "done".*queued, running/],
    ['lane=slow', /lane: "slow".*fast, heavy/],
    ['from=gif', /from: "gif" is no format/],
    ['limit=0', /limit: "0".*1 to 200/],
    ['limit=201', /limit: "201"/],
    ['limit=ten', /limit: "ten"/],
    ['since=yesterday', /since: "yesterday" is no time; write 2026-01-31/],
    ['until=2026-13-01', /until: "2026-13-01"/],
    ['since=2026-02-29', /since: "2026-02-29" is no time/],
    ['since=2028-02-29', undefined],
    ['since=2026-04-31T00:00:00%2B08:00', /since: .* is no time/],
    ['since=2026-01-31T08:00:00+08:00', /%2B/],
    ['cursor=abc!', /cursor: "abc!" is none/],
    ['cursor=', undefined],
    ['state=failed&state=queued', /state is given twice; leave one out/],
    ['order=asc', /order: unknown field in the query; there are state, lane/],
  ])('?%s', async (query, says) => {
    const response = await service.call(`/v1/jobs?${query}`);
    if (says) expect((await json<{ message: string }>(response)).message).toMatch(says);
    expect(response.status).toBe(says ? 400 : 200);
  });
});

describe('dead letters', () => {
  const deadLetters = async (): Promise<readonly JobAnswer[]> => (await get<List>('/v1/dead-letters')).jobs;
  const gauge = async (): Promise<string | undefined> =>
    /^ofd_dead_letters (\d+)$/m.exec(await (await service.call('/metrics')).text())?.[1];

  it('are failed jobs that may pass; a retry by hand runs them again', async () => {
    service.converter.failure = crash;
    const { id } = await submit();
    await service.ended(id);
    service.converter.failure = new ServiceError('conversion_failed', 'no', { reason: 'corrupt' });
    const final = await submit();
    await service.ended(final.id);
    expect((await deadLetters()).map((job) => job.id)).toEqual([id]);
    expect((await deadLetters())[0]).toMatchObject({
      attempt: 1,
      error: 'The engine died',
      error_code: 'engine_crashed',
    });
    expect(await gauge()).toBe('1');
    service.converter.failure = undefined;
    const retried = await post(`/v1/jobs/${id}/retry`);
    expect([retried.status, await json(retried)]).toEqual([
      202,
      expect.objectContaining({ id, state: 'queued', status_url: `/v1/jobs/${id}` }),
    ]);
    expect(await service.ended(id)).toMatchObject({ state: 'succeeded', attempt: 2 });
    expect([await deadLetters(), await gauge()]).toEqual([[], '0']);
    for (const [job, says] of [
      [final.id, /conversion_failed would come again/],
      [id, /succeeded: only a failed job/],
    ] as const) {
      const response = await post(`/v1/jobs/${job}/retry`);
      expect([response.status, await json(response)]).toEqual([
        409,
        { code: 'not_retryable', message: expect.stringMatching(says) },
      ]);
    }
  });

  it('a conflict is one', async () => {
    const to = { dir: 'same', file_name: 'x' };
    await service.ended((await submit({ output: to })).id);
    service.converter.content = 'other';
    const { id } = await submit({ output: to });
    expect(await service.ended(id)).toMatchObject({ state: 'failed', error_code: 'conflict' });
    expect((await deadLetters()).map((job) => job.id)).toEqual([id]);
  });

  it('a stream is none, and cannot be tried again', async () => {
    service.converter.failure = crash;
    const response = await service.convert(submission());
    expect(response.status).toBe(500);
    const id = response.headers.get('x-ofd-job-id') as string;
    expect(await deadLetters()).toEqual([]);
    expect(await json(post(`/v1/jobs/${id}/retry`))).toMatchObject({
      code: 'not_retryable',
      message: expect.stringMatching(/stream.*send its request again/),
    });
  });
});

describe('cancel ?force=true', () => {
  it('stops a running job and frees its worker', async () => {
    service.converter.hold();
    const { id } = await submit();
    await service.reached(id, 'running');
    const [response, tookMs] = await timed(post(`/v1/jobs/${id}/cancel?force=true`));
    expect([response.status, await json(response)]).toEqual([
      200,
      expect.objectContaining({ id, state: 'cancelled', error_code: 'cancelled' }),
    ]);
    expect(tookMs).toBeLessThan(2000);
    service.converter.release();
    const next = await submit();
    expect((await service.ended(next.id)).state).toBe('succeeded');
    expect((await post(`/v1/jobs/${id}/cancel?force=true`)).status).toBe(409);
  });

  it('cancels a queued job too, and force=false is as none', async () => {
    service.converter.hold();
    const first = await submit();
    await service.reached(first.id, 'running');
    const second = await submit();
    expect((await post(`/v1/jobs/${second.id}/cancel?force=true`)).status).toBe(200);
    const refused = await post(`/v1/jobs/${first.id}/cancel?force=false`);
    expect([refused.status, await json(refused)]).toEqual([
      409,
      { code: 'not_cancellable', message: expect.stringMatching(/only a queued job.*\?force=true/) },
    ]);
  });

  it('stops a stream: its own request ends 409 cancelled', async () => {
    service.converter.hold();
    const pending = service.convert(submission());
    const { jobs } = await until(
      () => get<List>('/v1/jobs?state=running'),
      (list) => list.jobs.length === 1,
    );
    const { id } = jobs[0] as JobAnswer;
    expect((await post(`/v1/jobs/${id}/cancel?force=true`)).status).toBe(200);
    const response = await pending;
    expect([response.status, (await json(response)).code]).toEqual([409, 'cancelled']);
  });
});
