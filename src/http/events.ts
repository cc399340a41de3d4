/** GET /v1/jobs/{id}/events: what happens to a job, as it happens, as server-sent events (contract A13). */
import { PassThrough, type Readable } from 'node:stream';
import type { JobChange } from '../jobs/feed.js';
import { isTerminal, type Job } from '../jobs/job.js';
import { jobAnswer, progressAnswer } from './job-answer.js';
import { jobNamed } from './jobs.js';
import { OpenAnswers } from './open-answers.js';
import { JobParameters, NoQuery } from './schemas.js';
import type { HttpServer, HttpServices, Progress } from './services.js';

/** A comment so often keeps whatever lies between from cutting a silent connection. */
const HEARTBEAT_MS = 15_000;

export function eventRoutes(server: HttpServer, services: HttpServices): void {
  const open = new OpenAnswers(server);

  server.get(
    '/v1/jobs/:id/events',
    {
      schema: { params: JobParameters, querystring: NoQuery },
      exposeHeadRoute: false,
      config: {
        api: {
          summary: 'What happens to a job, as it happens',
          answers: {
            200: {
              description: 'Events queued, started, page and done; the data of page is a Progress, of the rest a Job',
              mediaTypes: ['text/event-stream'],
            },
          },
          errors: ['job_not_found', 'unavailable'],
        },
      },
    },
    async (request, reply) => {
      const events = await JobEvents.open(request.params.id, services);
      events.body.once(
        'close',
        open.add(() => events.end()),
      );
      reply.header('content-type', 'text/event-stream; charset=utf-8').header('cache-control', 'no-store');
      return reply.header('x-accel-buffering', 'no').send(events.body);
    },
  );
}

/** The events of one job for one client: what it is now, every change, and its end. */
class JobEvents {
  readonly #body = new PassThrough();
  readonly #jobId: string;
  readonly #services: HttpServices;
  /** Changes are told one after the other: some need a look at the store. */
  #telling: Promise<void> = Promise.resolve();
  /** The run that was told last as started. */
  #attempt = 0;

  private constructor(jobId: string, services: HttpServices) {
    this.#jobId = jobId;
    this.#services = services;
  }

  /** Throws `job_not_found`. */
  static async open(jobId: string, services: HttpServices): Promise<JobEvents> {
    const events = new JobEvents(jobId, services);
    // Subscribed before the job is read: a change between the two is not missed.
    const unsubscribe = services.store.feed.subscribe(jobId, (change) => events.#enqueue(() => events.#tell(change)));
    const heartbeat = setInterval(() => events.#beat(), HEARTBEAT_MS);
    events.#body.once('close', () => {
      unsubscribe();
      clearInterval(heartbeat);
    });
    const job = jobNamed(jobId, services);
    events.#enqueue(async () => events.#begin(await job));
    try {
      await job;
    } catch (error) {
      events.#body.destroy();
      throw error;
    }
    return events;
  }

  get body(): Readable {
    return this.#body;
  }

  /** Looks at the job as well: what a store does that answers too late, or no more, is told to nobody. */
  #beat(): void {
    this.#write(': alive\n\n');
    this.#enqueue(async () => {
      const job = await this.#services.store.get(this.#jobId).catch(() => undefined);
      if (job && isTerminal(job.state)) this.#state(job);
    });
  }

  /** Ends without a last event: the client asks again. */
  end(): void {
    this.#body.end();
  }

  #enqueue(tell: () => void | Promise<void>): void {
    this.#telling = this.#telling.then(tell).catch(() => this.end());
  }

  #begin(job: Job): void {
    if (job.state === 'running') this.#started(job);
    else this.#state(job);
    const progress = this.#services.progressOf(job);
    if (job.state === 'running' && progress) this.#page(progress);
  }

  async #tell(change: JobChange): Promise<void> {
    if (change.kind === 'progress') this.#page(change);
    else if (change.kind === 'started') this.#started(change.job);
    else this.#state(await jobNamed(this.#jobId, this.#services));
  }

  #started(job: Job): void {
    if (job.attempt <= this.#attempt) return;
    this.#attempt = job.attempt;
    this.#event('started', jobAnswer(job, undefined));
  }

  #state(job: Job): void {
    if (this.#body.writableEnded) return;
    if (job.state === 'queued') this.#event('queued', jobAnswer(job, undefined));
    if (!isTerminal(job.state)) return;
    this.#event('done', jobAnswer(job, undefined));
    this.end();
  }

  /** Of no interest to a client that is behind: another one comes, or the end. */
  #page({ done, total }: Progress): void {
    if (!this.#body.writableNeedDrain) this.#event('page', progressAnswer({ done, total }));
  }

  #event(name: string, data: unknown): void {
    this.#write(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  #write(text: string): void {
    if (!this.#body.writableEnded && !this.#body.destroyed) this.#body.write(text);
  }
}
