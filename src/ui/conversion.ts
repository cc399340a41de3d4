/** One document on its way: progress, products, warnings; on demand its pages as pictures and what it says of itself. */
import { ApiError, cancel, type Job, type Warning, type Wish } from './api.js';
import { type DocumentFacts, factsOf } from './document-facts.js';
import { button, make, save } from './elements.js';
import { errorText, faultText, PageFault, waitText, warningText } from './faults.js';
import type { JobWatch } from './job-watch.js';
import { may } from './keys.js';
import { downloadButtons, MOST_SHEETS, showSheets } from './products.js';
import { send } from './sending.js';
import { bytesText, pageCount, pageNamed, pageOf, say, type TextName, text } from './text.js';

const PICTURE_FORMATS = ['png', 'jpeg', 'webp', 'svg'];
/** Pages that are drawn to be looked at. */
const LOOK_PAGES = `1-${MOST_SHEETS}`;
const LOOK_DPI = '80';

export class Conversion {
  readonly element = make('li');
  readonly #wish: Wish;
  readonly #watch: JobWatch;
  readonly #abort = new AbortController();
  readonly #title: HTMLElement;
  readonly #state = make('p', { className: 'quiet' });
  readonly #progress = make('progress', { max: 1 });
  readonly #buttons = make('div', { className: 'buttons' });
  readonly #results = make('div');
  /** Why the last button did nothing. */
  readonly #refused = make('p', { className: 'bad' });
  #id: string | undefined;

  constructor(wish: Wish, watch: JobWatch) {
    this.#wish = wish;
    this.#watch = watch;
    // The focus comes here when the document before it is removed from the list.
    this.#title = make('h3', { textContent: `${wish.file.name} → ${wish.to}`, tabIndex: -1 });
    this.#progress.setAttribute('aria-label', this.#title.textContent ?? '');
    this.#refused.setAttribute('role', 'alert');
    this.element.append(this.#title, this.#state, this.#progress, this.#results, this.#refused, this.#buttons);
  }

  async start(): Promise<void> {
    this.#tell('inLine');
    this.#progress.hidden = true;
    this.#show(this.#removal());
    try {
      if (this.#wish.file.size === 0) throw new PageFault('emptyFile');
      const answer = await send(this.#wish, {
        signal: this.#abort.signal,
        onStart: () => this.#startSending(),
        onBusy: (words) => say(this.#state, words),
      });
      if (this.#wish.kind === 'stream') this.#endStream(answer);
      else {
        const { id } = JSON.parse(await answer.text()) as Job;
        this.#id = id;
        this.#end(await this.#watch.follow(id, (job) => this.#follow(job)));
      }
    } catch (error) {
      this.#fail(error);
    }
  }

  #startSending(): void {
    this.#tell('sending');
    this.#progress.hidden = false;
    this.#show(
      button(
        () => text('cancel'),
        () => this.#cancel(),
      ),
    );
  }

  #tell(state: TextName, more: () => string = () => ''): void {
    say(this.#state, () => [text(state), more()].filter(Boolean).join(': '));
    this.#state.className = state === 'succeeded' ? 'good' : state === 'failed' ? 'bad' : 'quiet';
  }

  /** The focus stays among the buttons that it is on. */
  #show(...buttons: readonly HTMLButtonElement[]): void {
    const hasFocus = this.#buttons.contains(document.activeElement);
    this.#buttons.replaceChildren(...buttons);
    if (hasFocus) buttons[0]?.focus();
  }

  #follow({ state, progress, waiting }: Job): void {
    this.#tell(state, () =>
      progress ? pageOf(progress.done, progress.total) : waiting ? waitText(waiting.reason) : '',
    );
    if (progress) this.#progress.value = progress.done / Math.max(1, progress.total);
    else this.#progress.removeAttribute('value');
  }

  #end(job: Job): void {
    const { state, pages, warnings = [], error = '', error_code: code, reason } = job;
    this.#progress.hidden = true;
    this.#tell(state, () => {
      if (state === 'failed') return faultText({ code, reason, message: error });
      return pages === undefined ? '' : pageCount(pages);
    });
    if (warnings.length > 0) this.#results.append(warningList(warnings));
    const saving = downloadButtons(job, this.#baseName, (fault) => this.#refuse(fault));
    this.#show(...saving, ...this.#views(job), this.#removal());
  }

  #endStream(product: Blob): void {
    this.#progress.hidden = true;
    this.#tell('succeeded');
    const label = (): string => `${text('download')} (${bytesText(product.size)})`;
    this.#show(
      button(label, () => save(product, `${this.#baseName}.${this.#wish.to}`)),
      this.#removal(),
    );
  }

  get #baseName(): string {
    return this.#wish.file.name.replace(/\.[^.]*$/, '');
  }

  #fail(error: unknown): void {
    const id = this.#id;
    this.#progress.hidden = true;
    if (this.#abort.signal.aborted) this.#tell('cancelled');
    else if (id !== undefined && !may('read')) say(this.#state, () => `${text('accepted')} ${id}`);
    else this.#tell('failed', () => errorText(error));
    this.#show(this.#removal());
  }

  async #cancel(): Promise<void> {
    if (this.#id === undefined) return this.#abort.abort();
    try {
      this.#watch.tell(await cancel(this.#id));
    } catch (error) {
      const hasEnded = error instanceof ApiError && error.code === 'not_cancellable';
      if (!hasEnded) this.#refuse(error);
    }
  }

  #removal(): HTMLButtonElement {
    return button(
      () => text('remove'),
      () => {
        this.#abort.abort();
        const neighbour = this.element.nextElementSibling ?? this.element.previousElementSibling;
        this.element.remove();
        (neighbour?.querySelector('h3') ?? document.getElementById('file'))?.focus();
      },
    );
  }

  #refuse(error: unknown): void {
    say(this.#refused, () => errorText(error));
  }

  /** What else can be seen of a document that has been converted. */
  #views(job: Job): readonly HTMLButtonElement[] {
    if (job.state !== 'succeeded') return [];
    const look = this.#view('look', () => this.#look(job));
    return job.from === 'ofd' ? [look, this.#view('facts', () => this.#facts())] : [look];
  }

  /** A button that shows something, once. */
  #view(name: TextName, show: () => Promise<void>): HTMLButtonElement {
    let isShown = false;
    return button(
      () => text(name),
      async () => {
        say(this.#refused, () => '');
        try {
          await show();
          isShown = true;
        } catch (error) {
          this.#refuse(error);
        }
      },
      () => isShown,
    );
  }

  /** The pages as pictures: those that were made, else made now, a few and small. */
  async #look(job: Job): Promise<void> {
    const pictures = PICTURE_FORMATS.includes(job.to) ? job : await this.#pictures();
    const sheets = make('div', { className: 'sheets' });
    this.#results.append(sheets);
    await showSheets(pictures, sheets);
    if ((pictures.output?.products.length ?? 0) > MOST_SHEETS || (pictures.pages ?? 0) < (job.pages ?? 0)) {
      this.#results.append(say(make('p', { className: 'quiet' }), () => text('only')));
    }
  }

  async #pictures(): Promise<Job> {
    const { password, pages = LOOK_PAGES } = this.#wish.options;
    const options = { ...(password !== undefined && { password }), pages, dpi: LOOK_DPI };
    const answer = await this.#ask({ ...this.#wish, to: 'png', kind: 'dir', options });
    const { id } = JSON.parse(answer) as Job;
    const job = await this.#watch.follow(id, () => undefined);
    if (job.state !== 'succeeded') throw new Error(job.error ?? job.state);
    return job;
  }

  async #facts(): Promise<void> {
    const answer = await this.#ask({ ...this.#wish, to: 'json', kind: 'stream', options: { pages: '1' } });
    const { documents } = JSON.parse(answer) as { documents: readonly DocumentFacts[] };
    for (const facts of documents) this.#results.append(...factsOf(facts));
  }

  async #ask(wish: Wish): Promise<string> {
    return (await send(wish, { signal: this.#abort.signal, isFirst: true })).text();
  }
}

function warningList(warnings: readonly Warning[]): HTMLElement {
  const items = warnings.map(({ code, message, page }) =>
    say(make('li', { title: code }), () => {
      const where = page === undefined ? '' : ` (${pageNamed(page)})`;
      return `${warningText(code, message)}${where}`;
    }),
  );
  const summary = say(make('summary', { className: 'warn' }), () => `${text('warnings')}: ${warnings.length}`);
  return make('details', {}, summary, make('ul', {}, ...items));
}
