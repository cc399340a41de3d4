/** The latest jobs of the service, whoever sent them: to be saved, stopped, tried again. */
import { cancel, type Job, json, retry } from './api.js';
import { button, make, named } from './elements.js';
import { errorText, faultText, waitText } from './faults.js';
import { may } from './keys.js';
import { downloadButtons } from './products.js';
import { say, text, timeText } from './text.js';

export class JobTable {
  readonly #rows = named('job-rows', HTMLTableSectionElement);
  readonly #title = named('jobs-title', HTMLHeadingElement);
  /** Why the last button did nothing; stays until the next is pressed. */
  readonly #refused = named('refused', HTMLParagraphElement);
  readonly #onAct: () => void;
  /** Not known yet where absent. */
  #jobs: readonly Job[] | undefined;
  #retryable: { readonly failed: string; readonly ids: ReadonlySet<string> } = { failed: '', ids: new Set() };
  #shown = '';

  /** @param onAct something has been done to a job */
  constructor(onAct: () => void) {
    this.#onAct = onAct;
  }

  async show(jobs: readonly Job[]): Promise<void> {
    this.#jobs = jobs;
    this.#draw();
    await this.#findRetryable(jobs);
    this.#draw();
  }

  translate(): void {
    this.#draw();
  }

  /** Another key may do other things. */
  forgetRefusal(): void {
    say(this.#refused, () => '');
  }

  /** Asked for when other jobs have failed: dead letters among the latest jobs are among the latest dead letters. */
  async #findRetryable(latest: readonly Job[]): Promise<void> {
    const failed = latest
      .filter(({ state }) => state === 'failed')
      .map(({ id, finished_at }) => `${id} ${finished_at}`)
      .join();
    if (failed === this.#retryable.failed) return;
    const { jobs } = failed
      ? await json<{ jobs: readonly Job[] }>(`v1/dead-letters?limit=${latest.length}`)
      : { jobs: [] };
    this.#retryable = { failed, ids: new Set(jobs.map(({ id }) => id)) };
  }

  /** Built anew only where something has changed, and the focus stays where it is. */
  #draw(): void {
    const jobs = this.#jobs;
    if (!jobs) return;
    const content = JSON.stringify([jobs, ...this.#retryable.ids, may('admin'), document.documentElement.lang]);
    if (content === this.#shown) return;
    this.#shown = content;
    const focused = this.#rows.querySelector<HTMLElement>(':focus')?.dataset.job;
    this.#rows.replaceChildren(...(jobs.length > 0 ? jobs.map((job) => this.#row(job)) : [emptyRow()]));
    if (focused === undefined) return;
    const same = this.#rows.querySelector<HTMLElement>(`[data-job="${CSS.escape(focused)}"]`);
    (same ?? this.#title).focus();
  }

  #row(job: Job): HTMLTableRowElement {
    const { id, state, from = '?', to, created_at, started_at, finished_at, error, error_code: code, reason } = job;
    const tookMs = finished_at && started_at ? Date.parse(finished_at) - Date.parse(started_at) : undefined;
    const why = error ? faultText({ code, reason, message: error }) : job.waiting ? waitText(job.waiting.reason) : '';
    const className = state === 'succeeded' ? 'good' : state === 'failed' ? 'bad' : '';
    return make(
      'tr',
      {},
      make('td', {}, make('code', { textContent: id })),
      make('td', { className, textContent: text(state), title: why }),
      make('td', { textContent: `${from} → ${to}` }),
      make('td', { textContent: timeText(created_at) }),
      make('td', { textContent: tookMs === undefined ? '' : `${(tookMs / 1000).toFixed(2)} s` }),
      make('td', {}, ...this.#actions(job)),
    );
  }

  #actions(job: Job): readonly HTMLButtonElement[] {
    const { id, state } = job;
    const actions = downloadButtons(job, undefined, (error) => this.#refuse(error));
    if (state === 'queued' || state === 'running') actions.push(this.#action('cancel', () => cancel(id)));
    if (this.#retryable.ids.has(id) && state === 'failed' && may('admin')) {
      actions.push(this.#action('retry', () => retry(id)));
    }
    for (const element of actions) {
      element.dataset.job = id;
      element.ariaLabel = `${element.textContent} ${id}`;
    }
    return actions;
  }

  #action(name: 'cancel' | 'retry', act: () => Promise<unknown>): HTMLButtonElement {
    return button(
      () => text(name),
      async () => {
        this.forgetRefusal();
        await act().then(this.#onAct, (error) => this.#refuse(error));
      },
    );
  }

  #refuse(error: unknown): void {
    say(this.#refused, () => errorText(error));
    this.#draw();
  }
}

function emptyRow(): HTMLTableRowElement {
  return make('tr', {}, make('td', { colSpan: 6, className: 'quiet', textContent: text('noJobs') }));
}
