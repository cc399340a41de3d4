/** How the service is: ready or why not, its queue over the last minutes, engines that are not there, the latest jobs. */
import { ApiError, call, isForbidden, json, patience, type Readiness, type Statistics } from './api.js';
import { Chart } from './charts.js';
import { make, named } from './elements.js';
import { errorText } from './faults.js';
import { JobTable } from './job-table.js';
import type { JobWatch } from './job-watch.js';
import { currentKey, may } from './keys.js';
import { type Look, Poller } from './poller.js';
import { bytesText, pausedFor, say, text } from './text.js';

const READINESS_MS = 5000;
const STATISTICS_MS = 10_000;
const METRICS_MS = 30_000;

export class Overview {
  readonly #charts = {
    queued: new Chart('chartQueued'),
    running: new Chart('chartRunning'),
    done: new Chart('chartDone', (value) => value.toFixed(0)),
    free: new Chart('chartFree', bytesText),
  };
  readonly #state = named('service-state', HTMLParagraphElement);
  readonly #engines = named('engines', HTMLUListElement);
  readonly #unreadable = named('unreadable', HTMLParagraphElement);
  readonly #readable = [named('charts', HTMLDivElement), named('jobs', HTMLElement)];
  readonly #jobs: JobTable;
  readonly #poller: Poller;
  #counted: { readonly atMs: number; readonly conversions: number } | undefined;

  constructor(watch: JobWatch) {
    named('charts', HTMLDivElement).append(...Object.values(this.#charts).map(({ element }) => element));
    const readiness: Look = { everyMs: () => READINESS_MS, run: () => this.#lookAtReadiness() };
    const looks = [
      readiness,
      watch,
      { everyMs: () => STATISTICS_MS, run: () => this.#lookAtStatistics() },
      { everyMs: () => METRICS_MS, run: () => this.#lookAtMetrics() },
    ];
    this.#poller = new Poller(
      looks,
      (error) => this.#tellError(error),
      (pauseMs) => {
        this.#tell(() => pausedFor(pauseMs), true);
        // It takes the place of what has been told here.
        this.#poller.hasten(readiness);
      },
    );
    this.#jobs = new JobTable(() => this.#poller.hasten(watch));
    watch.listen(
      (jobs) => this.#jobs.show(jobs),
      () => this.#poller.schedule(),
    );
  }

  /** Looks at all of it, now and then again and again; with another key, too. */
  start(): void {
    this.#jobs.forgetRefusal();
    this.showWhatIsRead();
    this.#poller.wake();
  }

  translate(): void {
    for (const chart of Object.values(this.#charts)) chart.translate();
    this.#jobs.translate();
  }

  showWhatIsRead(): void {
    for (const element of this.#readable) element.hidden = !may('read');
    say(this.#unreadable, () => (may('read') ? '' : text('unreadable')));
  }

  #tellError(error: unknown): void {
    if (!(error instanceof ApiError)) this.#tell(() => text('away'), true);
    // What the key may not do is told where it would be seen.
    else if (!isForbidden(error) && error.status !== 401) this.#tell(() => errorText(error), true);
  }

  #tell(message: () => string, isFault: boolean): void {
    say(this.#state, message);
    this.#state.classList.toggle('fault', isFault);
  }

  /** Needs no key. */
  async #lookAtReadiness(): Promise<void> {
    const answer = (await (await fetch('readyz', patience())).json()) as Readiness;
    const { status, message = '', disabled = [], hindrances = [] } = answer;
    if (status !== 'ready') this.#tell(() => text('notReady') + message, true);
    else this.#tell(() => [text('ready'), ...hindrances].join(' · '), hindrances.length > 0);
    this.#engines.replaceChildren(
      ...disabled.map(({ engine, reason }) => say(make('li'), () => `${engine} ${text('disabled')} ${reason}`)),
    );
  }

  async #lookAtStatistics(): Promise<void> {
    if (currentKey() === null || !may('read')) return;
    const { totals, queue } = await json<Statistics>('v1/stats');
    if (queue.queued !== undefined) this.#charts.queued.add(queue.queued);
    if (queue.running !== undefined) this.#charts.running.add(queue.running);
    const now = { atMs: performance.now(), conversions: totals.conversions };
    const before = this.#counted;
    this.#counted = now;
    if (before) {
      this.#charts.done.add(((now.conversions - before.conversions) / Math.max(1, now.atMs - before.atMs)) * 60_000);
    }
  }

  async #lookAtMetrics(): Promise<void> {
    if (currentKey() === null || !may('read')) return;
    const metrics = await (await call('metrics', patience())).text();
    const free = [...metrics.matchAll(/^ofd_volume_free_bytes\{[^}]*\} (\d+)/gm)].map((match) => Number(match[1]));
    if (free.length > 0) this.#charts.free.add(Math.min(...free));
  }
}
