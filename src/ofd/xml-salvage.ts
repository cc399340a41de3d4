/**
 * Reads markup that is not well-formed: what looks like a tag is one, everything else is text. Used where the strict
 * parser stops. One pass, linear time.
 */

export interface MarkupHandler {
  attribute(name: string, value: string): void;
  /** After the attributes of the element. */
  open(name: string): void;
  /** A closing tag; the handler knows what is open. */
  close(name: string): void;
  text(text: string): void;
}

const NAME_START = /[\p{L}_:]/u;
const ENTITY = /&(?:(lt|gt|amp|quot|apos)|#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6}));/g;
const NAMED: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

/** Sends the elements, attributes and texts of `source` to `handler`; elements left open at the end are not closed. */
export function scanMarkup(source: string, handler: MarkupHandler): void {
  new MarkupScanner(source, handler).run();
}

class MarkupScanner {
  readonly #source: string;
  readonly #handler: MarkupHandler;
  #at = 0;
  /** Quotes that are known not to occur any more: keeps the search for them linear. */
  readonly #gone = new Set<string>();

  constructor(source: string, handler: MarkupHandler) {
    this.#source = source;
    this.#handler = handler;
  }

  run(): void {
    const source = this.#source;
    while (this.#at < source.length) {
      const start = source.indexOf('<', this.#at);
      if (start < 0) break;
      this.#text(this.#at, start);
      this.#at = start;
      this.#markup();
    }
    this.#text(this.#at, source.length);
  }

  #text(start: number, end: number): void {
    if (end > start) this.#handler.text(resolveEntities(this.#source.slice(start, end)));
  }

  /** At a '<'. */
  #markup(): void {
    const source = this.#source;
    const next = source[this.#at + 1] ?? '';
    if (next === '/') this.#closingTag();
    else if (next === '?') this.#skipPast('?>');
    else if (source.startsWith('<!--', this.#at)) this.#skipPast('-->');
    else if (source.startsWith('<![CDATA[', this.#at)) this.#characterData();
    else if (next === '!') this.#declaration();
    else if (NAME_START.test(next)) this.#openingTag();
    else {
      this.#handler.text('<');
      this.#at++;
    }
  }

  #skipPast(terminator: string): void {
    const end = this.#source.indexOf(terminator, this.#at);
    this.#at = end < 0 ? this.#source.length : end + terminator.length;
  }

  #characterData(): void {
    const start = this.#at + '<![CDATA['.length;
    const end = this.#source.indexOf(']]>', start);
    this.#handler.text(end < 0 ? this.#source.slice(start) : this.#source.slice(start, end));
    this.#at = end < 0 ? this.#source.length : end + ']]>'.length;
  }

  /** `<!DOCTYPE …>`, with an internal subset in brackets: skipped, never read. */
  #declaration(): void {
    let brackets = 0;
    for (let i = this.#at; i < this.#source.length; i++) {
      const c = this.#source[i];
      if (c === '[') brackets++;
      else if (c === ']') brackets--;
      else if (c === '>' && brackets <= 0) {
        this.#at = i + 1;
        return;
      }
    }
    this.#at = this.#source.length;
  }

  /** A '<' before the '>' starts the next tag: this one lost its end. */
  #closingTag(): void {
    const start = this.#at + 2;
    let end = start;
    while (end < this.#source.length && this.#source[end] !== '>' && this.#source[end] !== '<') end++;
    const name = this.#source.slice(start, end).trimEnd();
    if (name !== '') this.#handler.close(name);
    this.#at = this.#source[end] === '>' ? end + 1 : end;
  }

  #openingTag(): void {
    this.#at++;
    const name = this.#name();
    for (;;) {
      this.#blanks();
      const c = this.#source[this.#at];
      if (c === undefined || c === '<') break;
      if (c === '>') {
        this.#at++;
        break;
      }
      if (c === '/' && this.#source[this.#at + 1] === '>') {
        this.#at += 2;
        this.#handler.open(name);
        this.#handler.close(name);
        return;
      }
      if (!this.#attribute()) this.#at++;
    }
    this.#handler.open(name);
  }

  #name(): string {
    const start = this.#at;
    while (this.#at < this.#source.length && !/[\s<>/="']/.test(this.#source[this.#at]!)) this.#at++;
    return this.#source.slice(start, this.#at);
  }

  #blanks(): void {
    while (/\s/.test(this.#source[this.#at] ?? '')) this.#at++;
  }

  /** False where there is no attribute here; then nothing has been read. */
  #attribute(): boolean {
    const name = this.#name();
    if (name === '') return false;
    this.#blanks();
    if (this.#source[this.#at] !== '=') {
      this.#handler.attribute(name, '');
      return true;
    }
    this.#at++;
    this.#blanks();
    this.#handler.attribute(name, resolveEntities(this.#value()));
    return true;
  }

  #value(): string {
    const quote = this.#source[this.#at] ?? '';
    if (quote !== '"' && quote !== "'") return this.#bareValue();
    const start = this.#at + 1;
    const end = this.#gone.has(quote) ? -1 : this.#source.indexOf(quote, start);
    if (end < 0) this.#gone.add(quote);
    const value = end < 0 ? this.#source.slice(start) : this.#source.slice(start, end);
    // A value that runs over the end of its tag into the next lost its closing quote.
    const tagEnd = value.indexOf('>');
    if (tagEnd >= 0 && (end < 0 || value.indexOf('<', tagEnd) >= 0)) {
      const isSelfClosing = value[tagEnd - 1] === '/';
      this.#at = start + tagEnd - (isSelfClosing ? 1 : 0);
      return value.slice(0, this.#at - start);
    }
    this.#at = end < 0 ? this.#source.length : end + 1;
    return value;
  }

  #bareValue(): string {
    const start = this.#at;
    while (this.#at < this.#source.length && !/[\s<>]/.test(this.#source[this.#at]!)) {
      if (this.#source.startsWith('/>', this.#at)) break;
      this.#at++;
    }
    return this.#source.slice(start, this.#at);
  }
}

/** The five entities and character references; everything else that starts with '&' stays as it is. */
function resolveEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(ENTITY, (whole, named?: string, decimal?: string, hex?: string) => {
    if (named !== undefined) return NAMED[named]!;
    const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number.parseInt(decimal, 10);
    const isCharacter = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    return isCharacter ? String.fromCodePoint(code) : whole;
  });
}
