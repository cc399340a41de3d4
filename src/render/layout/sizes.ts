/** Counts letters by size over the pages seen so far: the commonest is the body's (spec 16.4). */
import type { Block } from './blocks.js';

/** Sizes are counted in steps of this many millimetres. */
const STEP_MM = 0.05;

export class SizeCensus {
  private readonly counts = new Map<number, number>();
  private body = 0;

  add(blocks: readonly Block[]): void {
    for (const block of blocks) {
      const fragments =
        block.kind === 'table' ? block.fragments : block.paragraph.rows.flatMap((row) => [...row.fragments]);
      for (const fragment of fragments) this.count(fragment.sizeMm, fragment.letters.length);
    }
  }

  /** Size of the body text, millimetres; 0 before any text. The smaller of two that are equally common. */
  get bodyMm(): number {
    return this.body * STEP_MM;
  }

  private count(sizeMm: number, letters: number): void {
    const step = Math.round(sizeMm / STEP_MM);
    const count = (this.counts.get(step) ?? 0) + letters;
    this.counts.set(step, count);
    const most = this.counts.get(this.body) ?? 0;
    if (count > most || (count === most && step < this.body)) this.body = step;
  }
}
