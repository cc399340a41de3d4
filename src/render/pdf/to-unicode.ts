/** The ToUnicode character map: what each code says in the text layer. */

/** Most entries of one block. */
const BLOCK = 100;

/** Codes in a row with characters in a row, from which a range is shorter than entries of their own. */
const SHORTEST_RANGE = 3;

interface Range {
  readonly first: number;
  last: number;
  readonly characters: string;
}

/** The map's source. `characters[code]` is the text of a code; '' has none. */
export function toUnicodeMap(characters: readonly string[]): string {
  const single: string[] = [];
  const ranges: string[] = [];
  for (const { first, last, characters: text } of rangesOf(characters)) {
    if (last - first + 1 >= SHORTEST_RANGE) {
      ranges.push(`<${hex(first)}><${hex(last)}><${utf16(text)}>`);
      continue;
    }
    for (let code = first; code <= last; code++) single.push(`<${hex(code)}><${utf16(characters[code]!)}>`);
  }
  return [
    '/CIDInit /ProcSet findresource begin',
    '12 dict begin',
    'begincmap',
    '/CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def',
    '/CMapName /Adobe-Identity-UCS def',
    '/CMapType 2 def',
    '1 begincodespacerange',
    '<0000> <FFFF>',
    'endcodespacerange',
    ...blocks(single, 'bfchar'),
    ...blocks(ranges, 'bfrange'),
    'endcmap',
    'CMapName currentdict /CMap defineresource pop',
    'end',
    'end',
    '',
  ].join('\n');
}

/** UTF-16, big endian, in hexadecimal digits. */
export function utf16(text: string): string {
  let digits = '';
  for (let i = 0; i < text.length; i++) digits += hex(text.charCodeAt(i));
  return digits;
}

function rangesOf(characters: readonly string[]): Range[] {
  const ranges: Range[] = [];
  let open: Range | undefined;
  for (const [code, text] of characters.entries()) {
    if (text === '') continue;
    if (open && continues(open, code, text)) {
      open.last = code;
    } else {
      open = { first: code, last: code, characters: text };
      ranges.push(open);
    }
  }
  return ranges;
}

/** A range counts up the last byte only, of the code and of the character, and holds single units of UTF-16. */
function continues(range: Range, code: number, text: string): boolean {
  const unit = range.characters.charCodeAt(0) + code - range.first;
  return (
    code === range.last + 1 &&
    code >> 8 === range.first >> 8 &&
    text.length === 1 &&
    range.characters.length === 1 &&
    text.charCodeAt(0) === unit &&
    unit >> 8 === range.characters.charCodeAt(0) >> 8
  );
}

function blocks(entries: readonly string[], operator: string): string[] {
  const lines: string[] = [];
  for (let at = 0; at < entries.length; at += BLOCK) {
    const block = entries.slice(at, at + BLOCK);
    lines.push(`${block.length} begin${operator}`, ...block, `end${operator}`);
  }
  return lines;
}

function hex(value: number): string {
  return value.toString(16).toUpperCase().padStart(4, '0');
}
