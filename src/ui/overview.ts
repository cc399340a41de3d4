/** How the service is: ready or why not, its queue over the last minutes, engines that are not there, the latest jobs. */
import { ApiError, call, currentKey, forgetKey, type Job, json, type Readiness, type Statistics } from './api.js';
import { Chart } from './charts.js';
import { button, make, named } from './elements.js';
import { bytesText, text, timeText } from './text.js';

const EVERY_MS = 2000;
const LATEST = 15;

export class Overview {
  readonly #charts = {
    queued: new Chart('chartQueued'),
    running: new Chart('chartRunning'),
    done: new Chart('chartDone', (value) => value.toFixed(0)),
    free: new Chart('chartFree', bytesText),
  };
  readonly #state = named('service-state', HTMLParagraphElement);
  readonly #engines = named('engines', HTMLUListElement);
  readonly #rows = named('job-rows', HTMLTableSectionElement);
  readonly #unreadable = named('unreadable', HTMLParagraphElement);
  /** Why the last button did nothing; stays until the next is pressed. */
  readonly #refused = named('refused', HTMLParagraphElement);
  readonly #readable = [named('charts', HTMLDivElement), named('jobs', HTMLElement)];
  readonly #onRefused: () => void;
  /** Lacks the scope `read`, which it cannot get while the page is open: it is not tried again. */
  #blindKey: string | undefined;
  #counted: { readonly atMs: number; readonly conversions: number } | undefined;
  #shown = '';

  /** @param onRefused the key is not the right one */
  constructor(onRefused: () => void) {
    this.#onRefused = onRefused;
    named('charts', HTMLDivElement).append(...Object.values(this.#charts).map(({ element }) => element));
  }

  start(): void {
    const look = async (): Promise<void> => {
      if (!document.hidden) await this.refresh();
      setTimeout(() => void look(), EVERY_MS);
    };
    void look();
  }

  /** Whether jobs can be seen with the current key, as far as is known. */
  get mayRead(): boolean {
    return this.#blindKey === undefined || this.#blindKey !== currentKey();
  }

  translate(): void {
    for (const chart of Object.values(this.#charts)) chart.translate();
    this.#shown = '';
    this.#showWhatIsRead();
    void this.refresh();
  }

  async refresh(): Promise<void> {
    const key = currentKey();
    try {
      this.#tellReadiness(await this.#readiness());
      this.#showWhatIsRead();
      if (key === null || !this.mayRead) return;
      const [statistics, { jobs }, metrics] = await Promise.all([
        json<Statistics>('v1/stats'),
        json<{ jobs: readonly Job[] }>(`v1/jobs?limit=${LATEST}`),
        call('metrics').then((answer) => answer.text()),
      ]);
      this.#draw(statistics, metrics);
      this.#list(jobs, await this.#retryable(jobs));
    } catch (error) {
      if (!(error instanceof ApiError)) this.#tell(text('away'), true);
      else if (error.status === 403 && key !== null) this.#cannotRead(key);
      else if (error.status !== 401) this.#tell(error.message, true);
      else if (forgetKey(key)) this.#onRefused();
    }
  }

  #cannotRead(key: string): void {
    this.#blindKey = key;
    this.#showWhatIsRead();
  }

  #showWhatIsRead(): void {
    for (const element of this.#readable) element.hidden = !this.mayRead;
    const fault = this.mayRead ? '' : text('unreadable');
    if (this.#unreadable.textContent !== fault) this.#unreadable.textContent = fault;
  }

  /** Ids of those that can be tried again: dead letters among the latest jobs are among the latest dead letters. */
  async #retryable(jobs: readonly Job[]): Promise<ReadonlySet<string>> {
    if (!jobs.some(({ state }) => state === 'failed')) return new Set();
    const deadLetters = await json<{ jobs: readonly Job[] }>(`v1/dead-letters?limit=${LATEST}`);
    return new Set(deadLetters.jobs.map(({ id }) => id));
  }

  async #readiness(): Promise<Readiness> {
    return (await (await fetch('readyz')).json()) as Readiness;
  }

  #tellReadiness({ status, message, disabled = [], hindrances = [] }: Readiness): void {
    if (status !== 'ready') this.#tell(text('notReady') + (message ?? ''), true);
    else this.#tell([text('ready'), ...hindrances].join(' · '), hindrances.length > 0);
    this.#engines.replaceChildren(
      ...disabled.map(({ engine, reason }) => make('li', { textContent: `${engine} ${text('disabled')} ${reason}` })),
    );
  }

  #tell(message: string, isFault: boolean): void {
    if (this.#state.textContent !== message) this.#state.textContent = message;
    this.#state.classList.toggle('fault', isFault);
  }

  #draw({ totals, queue }: Statistics, metrics: string): void {
    if (queue.queued !== undefined) this.#charts.queued.add(queue.queued);
    if (queue.running !== undefined) this.#charts.running.add(queue.running);
    const now = { atMs: performance.now(), conversions: totals.conversions };
    const before = this.#counted;
    this.#counted = now;
    if (before) {
      this.#charts.done.add(((now.conversions - before.conversions) / Math.max(1, now.atMs - before.atMs)) * 60_000);
    }
    const free = [...metrics.matchAll(/^ofd_volume_free_bytes\{[^}]*\} (\d+)/gm)].map((match) => Number(match[1]));
    if (free.length > 0) this.#charts.free.add(Math.min(...free));
  }

  /** Built anew only where something has changed, so that focus stays where it is. */
  #list(jobs: readonly Job[], retryable: ReadonlySet<string>): void {
    const content = JSON.stringify([jobs, ...retryable]);
    if (content === this.#shown) return;
    this.#shown = content;
    const focused = document.activeElement?.getAttribute('data-job');
    this.#rows.replaceChildren(
      ...(jobs.length > 0
        ? jobs.map((job) => this.#row(job, retryable.has(job.id)))
        : [make('tr', {}, make('td', { colSpan: 6, className: 'quiet', textContent: text('noJobs') }))]),
    );
    if (focused) this.#rows.querySelector<HTMLElement>(`[data-job="${CSS.escape(focused)}"]`)?.focus();
  }

  #row(job: Job, isRetryable: boolean): HTMLTableRowElement {
    const tookMs =
      job.finished_at && job.started_at ? Date.parse(job.finished_at) - Date.parse(job.started_at) : undefined;
    const className = job.state === 'succeeded' ? 'good' : job.state === 'failed' ? 'bad' : '';
    const state = make('td', {
      className,
      textContent: text(job.state),
      title: job.error ?? job.waiting?.reason ?? '',
    });
    return make(
      'tr',
      {},
      make('td', {}, make('code', { textContent: job.id })),
      state,
      make('td', { textContent: `${job.from ?? '?'} → ${job.to}` }),
      make('td', { textContent: timeText(job.created_at) }),
      make('td', { textContent: tookMs === undefined ? '' : `${(tookMs / 1000).toFixed(2)} s` }),
      make('td', {}, ...this.#actions(job, isRetryable)),
    );
  }

  #actions(job: Job, isRetryable: boolean): readonly HTMLButtonElement[] {
    const act = (label: string, path: string): HTMLButtonElement => {
      const element = button(label, () => {
        element.disabled = true;
        this.#refused.textContent = '';
        void call(path, { method: 'POST' })
          .then(() => this.refresh())
          .catch((error: Error) => {
            element.disabled = false;
            this.#refused.textContent = error.message;
          });
      });
      element.dataset.job = job.id;
      element.setAttribute('aria-label', `${label} ${job.id}`);
      return element;
    };
    if (job.state === 'queued' || job.state === 'running') {
      return [act(text('cancel'), `v1/jobs/${job.id}/cancel?force=true`)];
    }
    return isRetryable ? [act(text('retry'), `v1/jobs/${job.id}/retry`)] : [];
  }
}
