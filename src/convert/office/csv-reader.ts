/** Cuts the text of a CSV file into rows as it comes, by the habits of spreadsheets: quotes count at a field's beginning. */

/** A quote without an end within so many characters is a letter like any other; a longer field is cut. */
const LONGEST_FIELD = 256 * 1024;
const QUOTE = '"';

export class CsvReader {
  readonly #separator: string;
  readonly #fieldEnd: RegExp;
  #text = '';
  #row: string[] = [];

  constructor(separator: string) {
    this.#separator = separator;
    this.#fieldEnd = new RegExp(`[\\r\\n${separator === '\t' ? '\\t' : `\\${separator}`}]`, 'g');
  }

  /** The rows that are whole with this piece of text. */
  *add(text: string): Generator<readonly string[]> {
    this.#text += text;
    yield* this.#rows(false);
  }

  /** The last row, where it has no end of its own. */
  *end(): Generator<readonly string[]> {
    yield* this.#rows(true);
    if (this.#row.length > 0) yield this.#row;
  }

  *#rows(isEnd: boolean): Generator<readonly string[]> {
    let at = 0;
    while (at < this.#text.length) {
      const field = this.#field(at, isEnd);
      if (field === undefined) break;
      this.#row.push(field.value);
      at = field.next;
      if (!field.endsRow) continue;
      yield this.#row;
      this.#row = [];
    }
    this.#text = this.#text.slice(at);
  }

  /** Undefined where it may go on in the next piece. */
  #field(at: number, isEnd: boolean): { value: string; next: number; endsRow: boolean } | undefined {
    const text = this.#text;
    const isCut = text.length - at > LONGEST_FIELD;
    const quoted = text[at] === QUOTE ? this.#closingQuote(at, isEnd) : -1;
    if (quoted < 0 && text[at] === QUOTE && !isEnd && !isCut) return undefined;
    const plainFrom = quoted < 0 ? at : quoted + 1;
    this.#fieldEnd.lastIndex = plainFrom;
    const found = this.#fieldEnd.exec(text)?.index;
    if (found === undefined && !isEnd && !isCut) return undefined;
    if (found === text.length - 1 && text[found] === '\r' && !isEnd) return undefined;
    const end = found ?? text.length;
    const value =
      (quoted < 0 ? '' : text.slice(at + 1, quoted).replaceAll(QUOTE + QUOTE, QUOTE)) + text.slice(plainFrom, end);
    const next = text[end] === '\r' && text[end + 1] === '\n' ? end + 2 : end + 1;
    return { value, next, endsRow: found !== undefined && text[end] !== this.#separator };
  }

  /** -1 where there is none, or none yet. */
  #closingQuote(at: number, isEnd: boolean): number {
    for (let from = at + 1; ; ) {
      const quote = this.#text.indexOf(QUOTE, from);
      if (quote < 0 || quote - at > LONGEST_FIELD) return -1;
      if (this.#text[quote + 1] !== QUOTE) return quote + 1 < this.#text.length || isEnd ? quote : -1;
      from = quote + 2;
    }
  }
}
