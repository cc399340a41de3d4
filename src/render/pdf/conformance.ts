/** Whether the file may call itself a PDF/A: what stands in the way is named, once each. */
import type { Report } from '../../display/list.js';

export class Conformance {
  readonly #report: Report;
  readonly #obstacles = new Set<string>();

  constructor(report: Report) {
    this.#report = report;
  }

  get isReached(): boolean {
    return this.#obstacles.size === 0;
  }

  /** `obstacle` is a clause that goes on after "The PDF is no PDF/A: ". */
  obstruct(obstacle: string, page?: number): void {
    if (this.#obstacles.has(obstacle)) return;
    this.#obstacles.add(obstacle);
    const message = `The PDF is no PDF/A: ${obstacle}`;
    this.#report({ code: 'pdfa_not_reached', message, ...(page === undefined ? {} : { page }) });
  }
}
