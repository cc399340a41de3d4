/** How a CSV file is to be read: its separator and its columns, found in its text as it goes by. */

const SEPARATORS = [',', ';', '\t', '|'] as const;
/** Enough of a table to tell what separates its fields. */
const SAMPLE_CHARACTERS = 64 * 1024;
/** LibreOffice 7 has no more; the ones behind are read as it likes. */
const MOST_COLUMNS = 16_384;

export interface CsvShape {
  readonly separator: string;
  /** Fields of the longest line, at least; more do no harm. */
  readonly columns: number;
}

export class CsvSample {
  #text = '';
  readonly #longest = SEPARATORS.map((separator) => new LongestLine(separator));

  add(text: string): void {
    if (this.#text.length < SAMPLE_CHARACTERS) this.#text += text.slice(0, SAMPLE_CHARACTERS - this.#text.length);
    for (const longest of this.#longest) longest.add(text);
  }

  /** The separator that cuts most lines into the same number of fields, more than one. */
  shape(): CsvShape {
    const shapes = SEPARATORS.map((separator, index) => {
      const counts = fieldCounts(this.#text, separator);
      const usual = mostFrequent(counts);
      return {
        separator,
        columns: Math.min(MOST_COLUMNS, this.#longest[index]?.fields ?? 1),
        score: usual > 1 ? counts.filter((count) => count === usual).length : 0,
      };
    });
    return shapes.reduce((best, shape) => (shape.score > best.score ? shape : best));
  }
}

const QUOTE = 34;
const LINE_END = 10;

/** Counts the fields of every line: by what is quoted, and as if nothing were, for a quote need not begin a field. */
class LongestLine {
  readonly #separator: number;
  #isQuoted = false;
  #quotedCount = 1;
  #plainCount = 1;
  fields = 1;

  constructor(separator: string) {
    this.#separator = separator.charCodeAt(0);
  }

  add(text: string): void {
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === this.#separator) {
        this.fields = Math.max(this.fields, ++this.#plainCount);
        if (!this.#isQuoted) this.fields = Math.max(this.fields, ++this.#quotedCount);
      } else if (code === QUOTE) {
        this.#isQuoted = !this.#isQuoted;
      } else if (code === LINE_END) {
        this.#plainCount = 1;
        if (!this.#isQuoted) this.#quotedCount = 1;
      }
    }
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
