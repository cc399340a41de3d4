/** The findings of one conversion: each once, in the order they came, up to a limit, and those that must make it fail. */
import type { Diagnostic, Report } from '../../display/list.js';
import { ServiceError } from '../../errors.js';

/** More warnings than this say nothing new and would fill the job's record. */
const MAX_WARNINGS = 200;

export class WarningList {
  readonly list: Diagnostic[] = [];
  readonly #seen = new Set<string>();
  readonly #failOn: ReadonlySet<string>;
  #fatal: Diagnostic | undefined;

  constructor(failOn: readonly string[]) {
    this.#failOn = new Set(failOn);
  }

  /** Throws where a warning came that must make the conversion fail; whoever reports one can't be interrupted. */
  throwIfFatal(): void {
    if (this.#fatal === undefined) return;
    const { code, message, page } = this.#fatal;
    const place = page === undefined ? '' : ` (page ${page})`;
    throw new ServiceError('conversion_failed', `fail_on: ${code}: ${message}${place}`, { reason: 'unsupported' });
  }

  readonly report: Report = (diagnostic) => {
    if (this.#failOn.has(diagnostic.code)) this.#fatal ??= diagnostic;
    const key = JSON.stringify(diagnostic);
    if (this.#seen.has(key) || this.list.length > MAX_WARNINGS) return;
    this.#seen.add(key);
    this.list.push(
      this.list.length < MAX_WARNINGS
        ? diagnostic
        : { code: 'warnings_cut', message: `More than ${MAX_WARNINGS} warnings; the rest is left out` },
    );
  };
}
