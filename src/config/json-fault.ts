/** Where and why a text is no JSON, told by place and not by quoting: what is parsed may hold secrets. */

export interface JsonFault {
  /** Characters before the fault. */
  readonly offset: number;
  /** From 1. */
  readonly line: number;
  readonly column: number;
  /** What was wanted there. */
  readonly wanted: string;
}

/** The first fault of a text that `JSON.parse` refuses. */
export function findJsonFault(text: string): JsonFault {
  const reader = new JsonReader(text);
  const wanted = reader.read() ?? 'valid JSON';
  const before = text.slice(0, reader.offset);
  return {
    offset: reader.offset,
    line: before.split('\n').length,
    column: reader.offset - before.lastIndexOf('\n'),
    wanted,
  };
}

/** "line 3, column 12 (character 58): a comma or } was expected" */
export function jsonFaultText(text: string): string {
  const { line, column, offset, wanted } = findJsonFault(text);
  const end = offset >= text.length ? ', where the text ends' : '';
  return `line ${line}, column ${column} (character ${offset})${end}: ${wanted} was expected`;
}

/** Walks a JSON text without building anything; nesting costs a character of `#open` each, never the call stack. */
class JsonReader {
  readonly #text: string;
  offset = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** What was wanted at `offset`, or undefined where the text is sound. */
  read(): string | undefined {
    const open: string[] = [];
    let isValueDue = true;
    for (;;) {
      this.#skipSpace();
      const fault: string | undefined = isValueDue ? this.#openOrScalar(open) : this.#closeOrComma(open);
      if (fault !== undefined && fault !== 'value' && fault !== 'done') return fault;
      isValueDue = fault === 'value';
      if (!isValueDue && open.length === 0) {
        this.#skipSpace();
        return this.offset < this.#text.length ? 'the end of the text' : undefined;
      }
    }
  }

  /** 'value' where another value is due, 'done' where one is complete, else the fault. */
  #openOrScalar(open: string[]): string {
    const character = this.#text[this.offset];
    if (character === '{' || character === '[') {
      this.offset += 1;
      this.#skipSpace();
      const close = character === '{' ? '}' : ']';
      if (this.#text[this.offset] === close) {
        this.offset += 1;
        return 'done';
      }
      open.push(close);
      return close === '}' ? (this.#name() ?? 'value') : 'value';
    }
    return this.#scalar() ?? 'done';
  }

  #closeOrComma(open: string[]): string {
    const close = open.at(-1) as string;
    const character = this.#text[this.offset];
    if (character === close) {
      this.offset += 1;
      open.pop();
      return 'done';
    }
    if (character !== ',') return `a comma or ${close}`;
    this.offset += 1;
    this.#skipSpace();
    return close === '}' ? (this.#name() ?? 'value') : 'value';
  }

  #name(): string | undefined {
    if (this.#text[this.offset] !== '"') return 'a name in double quotation marks';
    const fault = this.#string();
    if (fault !== undefined) return fault;
    this.#skipSpace();
    if (this.#text[this.offset] !== ':') return 'a colon';
    this.offset += 1;
    return undefined;
  }

  #scalar(): string | undefined {
    if (this.#text[this.offset] === '"') return this.#string();
    const scalar = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.])/y;
    scalar.lastIndex = this.offset;
    if (!scalar.test(this.#text)) return 'a value';
    this.offset = scalar.lastIndex;
    return undefined;
  }

  #string(): string | undefined {
    this.offset += 1;
    for (;;) {
      const character = this.#text[this.offset];
      if (character === undefined) return 'a closing quotation mark';
      if (character < ' ') return 'no control character inside a text (write it as \\n, \\t or \\u00XX)';
      if (character === '\\') {
        const escapeSequence = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y;
        escapeSequence.lastIndex = this.offset;
        if (!escapeSequence.test(this.#text)) return 'a valid escape such as \\n or \\u4e2d';
        this.offset = escapeSequence.lastIndex;
        continue;
      }
      this.offset += 1;
      if (character === '"') return undefined;
    }
  }

  #skipSpace(): void {
    const space = /[ \t\n\r]*/y;
    space.lastIndex = this.offset;
    space.test(this.#text);
    this.offset = space.lastIndex;
  }
}

/**
 * The dotted path of the first name that an object of a sound JSON text has twice; undefined where none has.
 * JSON.parse silently takes the last of them: `value` is what it made of the text.
 */
export function findRepeatedName(text: string, value: unknown): string | undefined {
  // As many names as the objects have: no second look is needed.
  const names = text.match(/"\s*:/g)?.length ?? 0;
  return names === keyCount(value) ? undefined : firstRepeatedName(text);
}

/** Of all objects in a value, however deep. */
function keyCount(value: unknown): number {
  const open = [value];
  let count = 0;
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next !== 'object' || next === null) continue;
    const parts: unknown[] = Object.values(next);
    if (!Array.isArray(next)) count += parts.length;
    for (const part of parts) if (typeof part === 'object') open.push(part);
  }
  return count;
}

/** A text in quotation marks, or one of the signs that give JSON its shape. */
const TEXT_OR_SIGN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:,]/g;

function firstRepeatedName(text: string): string | undefined {
  const open: { readonly path: string; readonly names: Set<string> | undefined; name: string }[] = [];
  let token = '';
  for (const [sign] of text.matchAll(TEXT_OR_SIGN)) {
    const top = open.at(-1);
    if (sign === ':' && top?.names) {
      const name = JSON.parse(token) as string;
      const path = top.path === '' ? name : `${top.path}.${name}`;
      if (top.names.has(name)) return path;
      top.names.add(name);
      top.name = path;
    } else if (sign === '{' || sign === '[') {
      open.push({ path: top?.name ?? '', names: sign === '{' ? new Set() : undefined, name: top?.name ?? '' });
    } else if (sign === '}' || sign === ']') {
      open.pop();
    }
    token = sign;
  }
  return undefined;
}
