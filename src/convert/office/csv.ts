/** What separates the fields of a CSV file, found in its text as it goes by. */

const SEPARATORS = [',', ';', '\t', '|'] as const;
/** Enough of a table to tell what separates its fields. */
const SAMPLE_CHARACTERS = 64 * 1024;

export class CsvSample {
  #text = '';

  add(text: string): void {
    if (this.#text.length < SAMPLE_CHARACTERS) this.#text += text.slice(0, SAMPLE_CHARACTERS - this.#text.length);
  }

  /** That which cuts most lines into the same number of fields, more than one. */
  separator(): string {
    const scores = SEPARATORS.map((separator) => {
      const counts = fieldCounts(this.#text, separator);
      const usual = mostFrequent(counts);
      return { separator, score: usual > 1 ? counts.filter((count) => count === usual).length : 0 };
    });
    return scores.reduce((best, one) => (one.score > best.score ? one : best)).separator;
  }
}

function fieldCounts(text: string, separator: string): number[] {
  const counts: number[] = [];
  let fields = 1;
  let isQuoted = false;
  for (const character of text) {
    if (character === '"') isQuoted = !isQuoted;
    else if (isQuoted) continue;
    else if (character === separator) fields++;
    else if (character === '\n') {
      counts.push(fields);
      fields = 1;
    }
  }
  if (fields > 1) counts.push(fields);
  return counts;
}

function mostFrequent(counts: readonly number[]): number {
  const times = new Map<number, number>();
  for (const count of counts) times.set(count, (times.get(count) ?? 0) + 1);
  return [...times].sort((a, b) => b[1] - a[1])[0]?.[0] ?? 1;
}
