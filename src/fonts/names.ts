/** The 'name' table: families, full names and the PostScript name in all their languages. */
import { latin1, u16 } from './bytes.js';
import { decodeLegacy } from './legacy-encoding.js';

const MAX_RECORDS = 2000;
const MAX_NAME_BYTES = 512;
const WINDOWS_ENGLISH = 0x409;

export interface FontNames {
  /** English first; typographic and four-style families both. */
  readonly families: readonly string[];
  readonly fullNames: readonly string[];
  readonly postScriptName: string;
  /** Style words of all languages, joined by blanks. */
  readonly style: string;
}

interface NameRecord {
  readonly nameId: number;
  readonly isEnglish: boolean;
  readonly text: string;
}

export function readNames(table: Uint8Array): FontNames {
  const records = readRecords(table);
  records.sort((a, b) => Number(b.isEnglish) - Number(a.isEnglish));
  const texts = (...ids: number[]): string[] => [
    ...new Set(records.filter((r) => ids.includes(r.nameId)).map((r) => r.text)),
  ];
  return {
    families: [...new Set([...texts(16), ...texts(1)])],
    fullNames: texts(4),
    postScriptName: texts(6)[0] ?? '',
    style: texts(2, 17).join(' '),
  };
}

function readRecords(table: Uint8Array): NameRecord[] {
  const records: NameRecord[] = [];
  const count = Math.min(u16(table, 2), MAX_RECORDS, Math.floor((table.length - 6) / 12));
  const storage = u16(table, 4);
  for (let i = 0; i < count; i++) {
    const at = 6 + i * 12;
    const nameId = u16(table, at + 6);
    if (![1, 2, 4, 6, 16, 17].includes(nameId)) continue;
    const start = storage + u16(table, at + 10);
    const bytes = table.subarray(start, start + Math.min(u16(table, at + 8), MAX_NAME_BYTES));
    const platform = u16(table, at);
    const text = decodeName(platform, u16(table, at + 2), bytes)
      .replaceAll('\0', '')
      .trim();
    const language = u16(table, at + 4);
    const isEnglish = platform === 3 ? language === WINDOWS_ENGLISH : language === 0;
    if (text !== '') records.push({ nameId, isEnglish, text });
  }
  return records;
}

function decodeName(platform: number, encoding: number, bytes: Uint8Array): string {
  if (platform === 1) {
    const label = { 1: 'shift_jis', 2: 'big5', 3: 'euc-kr', 25: 'gbk' }[encoding] ?? 'macintosh';
    return isAscii(bytes) ? latin1(bytes) : (decodeLegacy(label, bytes) ?? '');
  }
  if (platform === 3 && encoding === 3 && !looksLikeUtf16(bytes)) return decodeLegacy('gbk', bytes) ?? '';
  let text = '';
  for (let i = 0; i + 1 < bytes.length; i += 2) text += String.fromCharCode(u16(bytes, i));
  return text;
}

function isAscii(bytes: Uint8Array): boolean {
  return bytes.every((b) => b < 0x80);
}

/** GBK names of old Chinese fonts stand as bytes, or as 16-bit units with a zero high byte for ASCII. */
function looksLikeUtf16(bytes: Uint8Array): boolean {
  return bytes.length % 2 === 0 && bytes.some((b, i) => i % 2 === 0 && b === 0);
}
