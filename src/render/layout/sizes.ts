/** Counts letters by size over the pages seen so far: the commonest is the body's (spec 16.4). */
import type { Row } from './rows.js';
import type { Section } from './sections.js';

/** Sizes are counted in steps of this many millimetres. */
const STEP_MM = 0.05;

export class SizeCensus {
  private readonly counts = new Map<number, number>();
  private body = 0;

  add(sections: readonly Section[]): void {
    for (const section of sections) {
      if (section.kind === 'flow') this.addRows(section.flow.rows);
      else for (const cell of section.table.rows.flat()) this.addRows(cell.lines);
    }
  }

  /** Size of the body text, millimetres; 0 before any text. */
  get bodyMm(): number {
    return this.body * STEP_MM;
  }

  private addRows(rows: readonly Row[]): void {
    for (const row of rows) {
      for (const fragment of row.fragments) this.count(fragment.sizeMm, fragment.letters.length);
    }
  }

  private count(sizeMm: number, letters: number): void {
    const step = Math.round(sizeMm / STEP_MM);
    const count = (this.counts.get(step) ?? 0) + letters;
    this.counts.set(step, count);
    if (count > (this.counts.get(this.body) ?? 0)) this.body = step;
  }
}
