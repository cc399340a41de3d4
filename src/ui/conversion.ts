/** One document on its way: progress, products, warnings; on demand its pages as pictures and what it says of itself. */
import { ApiError, call, follow, type Job, submit, type Warning } from './api.js';
import { button, make, save } from './elements.js';
import { bytesText, pageCount, pageOf, text } from './text.js';

/** Pages that are drawn to be looked at. */
const LOOK_PAGES = '1-12';
const LOOK_DPI = '80';

export interface Request {
  readonly file: File;
  readonly to: string;
  /** `stream` for a key that cannot see jobs: the product is all that there is then. */
  readonly kind: 'dir' | 'stream';
  readonly options: Readonly<Record<string, string>>;
}

export class Conversion {
  readonly element = make('li');
  readonly #request: Request;
  readonly #abort = new AbortController();
  readonly #state = make('p', { className: 'quiet' });
  readonly #progress = make('progress', { max: 1 });
  readonly #buttons = make('div', { className: 'buttons' });
  readonly #results = make('div');
  readonly #onEnd: () => void;
  #id: string | undefined;

  /** @param onEnd the job has come to an end, whichever */
  constructor(request: Request, onEnd: () => void) {
    this.#request = request;
    this.#onEnd = onEnd;
    const title = make('h3', { textContent: `${request.file.name} → ${request.to}` });
    this.#progress.setAttribute('aria-label', title.textContent ?? '');
    this.element.append(title, this.#state, this.#progress, this.#results, this.#buttons);
  }

  async start(): Promise<void> {
    this.#tell('sending');
    this.#buttons.replaceChildren(button(text('cancel'), () => void this.#cancel()));
    try {
      const answer = await submit(this.#request, this.#abort.signal);
      if (this.#request.kind === 'stream') this.#endStream(await answer.blob());
      else {
        this.#id = ((await answer.json()) as Job).id;
        this.#end(await follow(this.#id, (job) => this.#follow(job), this.#abort.signal));
      }
    } catch (error) {
      this.#fail(error as Error);
    }
    this.#onEnd();
  }

  #tell(state: 'sending' | Job['state'], more = ''): void {
    this.#state.textContent = text(state) + more;
    this.#state.className = state === 'succeeded' ? 'good' : state === 'failed' ? 'bad' : 'quiet';
  }

  #follow({ state, progress, waiting }: Partial<Job>): void {
    if (state === undefined) return;
    const more = progress ? `: ${pageOf(progress.done, progress.total)}` : waiting ? `: ${waiting.reason}` : '';
    this.#tell(state, more);
    if (progress) this.#progress.value = progress.done / Math.max(1, progress.total);
    else this.#progress.removeAttribute('value');
  }

  #end(job: Job): void {
    this.#progress.hidden = true;
    const pages = job.pages === undefined ? '' : `: ${pageCount(job.pages)}`;
    this.#tell(job.state, job.state === 'failed' ? `: ${job.error ?? ''} (${job.error_code ?? ''})` : pages);
    if (job.warnings && job.warnings.length > 0) this.#results.append(warningList(job.warnings));
    this.#buttons.replaceChildren(...this.#downloads(job), ...this.#views(job), this.#removal());
  }

  #endStream(product: Blob): void {
    this.#progress.hidden = true;
    this.#tell('succeeded');
    const label = `${text('download')} (${bytesText(product.size)})`;
    this.#buttons.replaceChildren(
      button(label, () => save(product, this.#productName)),
      this.#removal(),
    );
  }

  get #productName(): string {
    return `${this.#request.file.name.replace(/\.[^.]*$/, '')}.${this.#request.to}`;
  }

  #fail(error: Error): void {
    this.#progress.hidden = true;
    if (this.#abort.signal.aborted) this.#tell('cancelled');
    else if (this.#id !== undefined && error instanceof ApiError && error.status === 403) {
      this.#state.textContent = `${text('accepted')} ${this.#id}`;
    } else this.#tell('failed', `: ${error.message}${error instanceof ApiError ? ` (${error.code})` : ''}`);
    this.#buttons.replaceChildren(this.#removal());
  }

  async #cancel(): Promise<void> {
    if (this.#id === undefined) this.#abort.abort();
    else await call(`v1/jobs/${this.#id}/cancel?force=true`, { method: 'POST' }).catch(() => undefined);
  }

  #removal(): HTMLButtonElement {
    return button(text('remove'), () => this.element.remove());
  }

  #downloads({ id, output }: Job): readonly HTMLButtonElement[] {
    const products = output?.products ?? [];
    const download = (label: string, path: string, name: string): HTMLButtonElement =>
      button(label, () => {
        void call(path)
          .then((answer) => answer.blob())
          .then((blob) => save(blob, name))
          .catch((error: Error) => this.#note(error));
      });
    const [only] = products;
    if (products.length !== 1 || !only) {
      return products.length === 0 ? [] : [download(text('downloadAll'), `v1/jobs/${id}/content`, `${id}.zip`)];
    }
    const label = `${text('download')} (${bytesText(only.size)})`;
    return [download(label, `v1/jobs/${id}/content`, this.#productName)];
  }

  /** What else can be seen of a document that has been converted. */
  #views(job: Job): readonly HTMLButtonElement[] {
    if (job.state !== 'succeeded') return [];
    const look = button(text('look'), () => {
      look.disabled = true;
      void this.#look(job).catch((error: Error) => this.#note(error));
    });
    if (job.from !== 'ofd') return [look];
    const facts = button(text('facts'), () => {
      facts.disabled = true;
      void this.#facts().catch((error: Error) => this.#note(error));
    });
    return [look, facts];
  }

  #note(error: Error): void {
    this.#results.append(make('p', { className: 'bad', textContent: error.message }));
  }

  /** The pages as pictures: those that were made, else made now, a few and small. */
  async #look(job: Job): Promise<void> {
    const isPicture = ['png', 'jpeg', 'webp', 'svg'].includes(job.to);
    const pictures = isPicture ? job : await this.#pictures();
    const products = pictures.output?.products.slice(0, 12) ?? [];
    const sheets = make('div', { className: 'sheets' });
    this.#results.append(sheets);
    for (const { name } of products) {
      const answer = await call(`v1/jobs/${pictures.id}/content?name=${encodeURIComponent(name)}`);
      const url = URL.createObjectURL(await answer.blob());
      const picture = make('img', { src: url, alt: name });
      picture.addEventListener('load', () => URL.revokeObjectURL(url), { once: true });
      sheets.append(make('figure', {}, picture, make('figcaption', { textContent: name })));
    }
    if ((pictures.output?.products.length ?? 0) > products.length || (pictures.pages ?? 0) < (job.pages ?? 0)) {
      this.#results.append(make('p', { className: 'quiet', textContent: text('only') }));
    }
  }

  async #pictures(): Promise<Job> {
    const { file, options } = this.#request;
    const shown = { pages: options.pages ?? LOOK_PAGES, dpi: LOOK_DPI };
    const wish = { file, to: 'png', kind: 'dir', options: { ...passwordOf(options), ...shown } } as const;
    const { id } = (await (await submit(wish)).json()) as Job;
    const job = await follow(id, () => undefined, this.#abort.signal);
    if (job.state !== 'succeeded') throw new Error(job.error ?? job.state);
    return job;
  }

  async #facts(): Promise<void> {
    const wish = { file: this.#request.file, to: 'json', kind: 'stream', options: { pages: '1' } } as const;
    const { documents } = (await (await submit(wish)).json()) as { documents: readonly DocumentFacts[] };
    for (const facts of documents) this.#results.append(...factsOf(facts));
  }
}

function passwordOf({ password }: Readonly<Record<string, string>>): Record<string, string> {
  return password === undefined ? {} : { password };
}

function warningList(warnings: readonly Warning[]): HTMLElement {
  const items = warnings.map(({ code, message, page }) =>
    make('li', { title: code, textContent: page === undefined ? message : `${message} (${text('pages')} ${page})` }),
  );
  const summary = make('summary', { className: 'warn', textContent: `${text('warnings')}: ${warnings.length}` });
  return make('details', {}, summary, make('ul', {}, ...items));
}

/** Of the JSON output, what is shown here. */
interface DocumentFacts {
  readonly info?: Readonly<Record<string, unknown>>;
  readonly signatures?: readonly {
    readonly seal_name?: string;
    readonly provider?: { readonly name?: string };
    readonly method?: string;
    readonly date?: string;
  }[];
  readonly attachments?: readonly { readonly name?: string }[];
}

function factsOf({ info = {}, signatures = [], attachments = [] }: DocumentFacts): readonly Node[] {
  const facts = Object.entries(info).filter(([, value]) => typeof value === 'string');
  const signed = signatures.map(({ seal_name, provider, method, date }) =>
    make('li', {
      textContent: [
        `${text('signedBy')}: ${seal_name ?? provider?.name ?? '?'}`,
        ...(method ? [`${text('method')}: ${method}`] : []),
        ...(date ? [`${text('date')}: ${date}`] : []),
      ].join(', '),
    }),
  );
  return [
    make('ul', {}, ...facts.map(([name, value]) => make('li', { textContent: `${name}: ${String(value)}` }))),
    make('p', { textContent: signed.length > 0 ? text('signatures') : text('noSignatures') }),
    make('ul', {}, ...signed),
    ...(attachments.length > 0
      ? [make('p', { textContent: `${text('attachments')}: ${attachments.map(({ name }) => name ?? '?').join(', ')}` })]
      : []),
  ];
}
