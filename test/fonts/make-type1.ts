/** Small Type 1 fonts made by hand, as PFA (hex or binary) or PFB. */
import { bytesOf } from './make-truetype.js';

export interface Type1Options {
  /** Glyphs in the order of the file. */
  readonly glyphs: Readonly<Record<string, Uint8Array>>;
  readonly subrs?: readonly Uint8Array[];
  readonly form?: 'pfb' | 'hex' | 'binary';
  readonly lenIV?: number;
}

export function type1({ glyphs, subrs = [], form = 'binary', lenIV = 4 }: Type1Options): Uint8Array {
  const clear = text(
    '%!PS-AdobeFont-1.0: Hand\n/FontName /Hand-Bold def /FamilyName (Hand) readonly def /ItalicAngle -12 def\n' +
      '/FontMatrix [0.001 0 0 0.001 0 0] readonly def\n' +
      '/Encoding 256 array dup 66 /G07 put readonly def\ncurrentfile eexec\n',
  );
  const encrypted = (bytes: Uint8Array): Uint8Array =>
    lenIV < 0 ? bytes : encrypt(bytesOf(...Array<number>(lenIV).fill(0), bytes), 4330);
  const entry = (head: string, code: Uint8Array, tail: string): Uint8Array => {
    const bytes = encrypted(code);
    return bytesOf(text(`${head} ${bytes.length} RD `), bytes, text(tail));
  };
  const secret = bytesOf(
    text(`dup /Private 8 dict dup begin /lenIV ${lenIV} def /Subrs ${subrs.length} array\n`),
    ...subrs.map((code, i) => entry(`dup ${i}`, code, ' NP\n')),
    text(`ND 2 index /CharStrings ${Object.keys(glyphs).length} dict dup begin\n`),
    ...Object.entries(glyphs).map(([name, code]) => entry(`/${name}`, code, ' ND\n')),
    text('end end readonly put mark currentfile closefile\n'),
  );
  const cipher = encrypt(bytesOf(0xf5, 0xf6, 0xf7, 0xf8, secret), 55665);
  const trailer = text(`\n${'0'.repeat(64)}\ncleartomark\n`);
  if (form === 'pfb') return bytesOf(segment(1, clear), segment(2, cipher), segment(1, trailer), 0x80, 3);
  return bytesOf(clear, form === 'hex' ? text(Buffer.from(cipher).toString('hex')) : cipher, trailer);
}

function segment(kind: number, bytes: Uint8Array): Uint8Array {
  const n = bytes.length;
  return bytesOf(0x80, kind, n, n >> 8, n >> 16, n >> 24, bytes);
}

function text(value: string): Uint8Array {
  return Uint8Array.from(value, (c) => c.charCodeAt(0));
}

function encrypt(plain: Uint8Array, key: number): Uint8Array {
  let r = key;
  return plain.map((p) => {
    const c = p ^ (r >> 8);
    r = ((c + r) * 52845 + 22719) & 0xffff;
    return c;
  });
}
