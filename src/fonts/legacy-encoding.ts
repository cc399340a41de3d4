/** Characters ↔ codes of the encodings from before Unicode, both ways, from the platform's own decoders. */

interface EncodingTable {
  readonly codeOf: ReadonlyMap<number, number>;
  readonly characterOf: ReadonlyMap<number, number>;
}

const tables = new Map<string, EncodingTable>();

/** The code (one or two bytes as a number) of a character in the encoding, or undefined. */
export function codeOfCharacter(label: string, codePoint: number): number | undefined {
  return tableOf(label).codeOf.get(codePoint);
}

export function characterOfCode(label: string, code: number): number | undefined {
  return tableOf(label).characterOf.get(code);
}

/** Text of bytes in the encoding, or undefined where they are not of it or the platform does not know it. */
export function decodeLegacy(label: string, bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder(label, { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function tableOf(label: string): EncodingTable {
  let table = tables.get(label);
  if (table === undefined) {
    table = buildTable(label);
    tables.set(label, table);
  }
  return table;
}

function buildTable(label: string): EncodingTable {
  const codeOf = new Map<number, number>();
  const characterOf = new Map<number, number>();
  const add = (code: number, text: string | undefined): void => {
    const codePoint = text?.codePointAt(0);
    if (text === undefined || codePoint === undefined || text.length !== String.fromCodePoint(codePoint).length) return;
    characterOf.set(code, codePoint);
    if (!codeOf.has(codePoint)) codeOf.set(codePoint, code);
  };
  for (let code = 0; code < 256; code++) add(code, decodeLegacy(label, Uint8Array.of(code)));
  if (label === 'macintosh') return { codeOf, characterOf };
  for (let high = 0x81; high <= 0xfe; high++) addRow(label, high, add);
  return { codeOf, characterOf };
}

/** One decode a row: 24 000 single decodes would take a tenth of a second. */
function addRow(label: string, high: number, add: (code: number, text: string) => void): void {
  const row = new Uint8Array(2 * 0xbf * 2);
  let length = 0;
  for (let low = 0x40; low <= 0xfe; low++) {
    row[length++] = high;
    row[length++] = low;
    row[length++] = 0x0a;
  }
  const decoded = new TextDecoder(label).decode(row.subarray(0, length)).split('\n');
  decoded.slice(0, 0xbf).forEach((text, i) => {
    if (!text.includes('\ufffd')) add((high << 8) | (0x40 + i), text);
  });
}
