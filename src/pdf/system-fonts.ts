/** Fonts that a PDF names and does not carry: the library asks here, and gets the faces of the font book. */
import type { Face } from '../display/face.js';
import type { FontBook } from '../fonts/index.js';
import type { Pdfium } from './pdfium.js';

/** Windows' numbers of character sets, as PDFium asks with them; FontRequest.charset has OFD's names. */
const HAN_CHARSETS: Readonly<Record<number, string>> = {
  128: 'shift-jis',
  129: 'wansung',
  134: 'gb18030',
  136: 'big5',
};
const SYMBOL_CHARSET = 2;
const FIXED_PITCH = 1;
const ROMAN = 16;
const STANDARD =
  /^(?:(?:Courier|Helvetica)(?:-(?:Bold)?(?:Oblique)?)?|Times-(?:Roman|Bold|Italic|BoldItalic)|Symbol|ZapfDingbats)$/;
/** What most Chinese, Japanese and Korean font names have in them. */
const HAN_NAME = /\p{Script=Han}|\p{Script=Hangul}|song|sun\b|hei|kai|fang|ming|gothic|yahei|jhenghei|batang|cjk/iu;
const WHOLE_FILE = 0;

interface Asked {
  readonly name: string;
  readonly charset: number;
  readonly weight: number;
  readonly isItalic: boolean;
  readonly pitch: number;
}

/** How a font that is not embedded is drawn. */
export interface Substitution {
  readonly face: Face | undefined;
  /** False where the machine has the very font. */
  readonly isSubstitute: boolean;
  /** Family of `face`; the library's own where there is none. */
  readonly familyName: string;
}

/** One of the fonts that every PDF may use without carrying them; the library has faces for them. */
export function isStandardFont(name: string): boolean {
  return STANDARD.test(name);
}

export class SystemFonts {
  readonly #pdfium: Pdfium;
  readonly #book: FontBook;
  readonly #files: { readonly face: Face; readonly bytes: Uint8Array; readonly charset: number }[] = [];
  /** By the name that the library asked for. */
  readonly #answers = new Map<string, Substitution>();

  constructor(pdfium: Pdfium, book: FontBook) {
    this.#pdfium = pdfium;
    this.#book = book;
    this.#install();
  }

  /** What a font of this name was drawn with; undefined where the library never asked, as for its standard fonts. */
  substitutionOf(fontName: string): Substitution | undefined {
    const plain = plainName(fontName);
    return this.#answers.get(plain) ?? this.#answers.get(plain.replace(/[,-].*$/, ''));
  }

  /** FPDF_SYSFONTINFO: a version and eight functions. */
  #install(): void {
    const callback: Pdfium['callback'] = (signature, run) => this.#pdfium.callback(signature, run);
    const functions: readonly number[] = [
      callback('vi', () => undefined),
      callback('vii', () => undefined),
      callback('iiiiiiii', (_self, weight, isItalic, charset, pitch, name) =>
        this.#map({
          name: name ? this.#pdfium.textAt(name) : '',
          charset: charset!,
          weight: weight!,
          isItalic: isItalic !== 0,
          pitch: pitch!,
        }),
      ),
      callback('iii', () => 0),
      callback('iiiiii', (_self, handle, table, buffer, size) => this.#data(handle!, table! >>> 0, buffer!, size!)),
      callback('iiiii', (_self, handle, buffer, size) => this.#faceName(handle!, buffer!, size!)),
      callback('iii', (_self, handle) => this.#files[handle! - 1]?.charset ?? 1),
      callback('vii', () => undefined),
    ];
    const address = this.#pdfium.allocate(36);
    const memory = this.#pdfium.view;
    for (const [i, value] of [1, ...functions].entries()) memory.setUint32(address + 4 * i, value, true);
    this.#pdfium.call.FPDF_SetSystemFontInfo(address);
  }

  /** A handle, from 1; 0 leaves the font to the library, which has a face for every Latin one. */
  #map(asked: Asked): number {
    const { name, charset, weight, isItalic, pitch } = asked;
    const isHan = HAN_CHARSETS[charset] !== undefined || HAN_NAME.test(name);
    const resolved = this.#book.resolve({
      fontName: name,
      charset: HAN_CHARSETS[charset] ?? (charset === SYMBOL_CHARSET ? 'symbol' : ''),
      bold: weight >= 600,
      italic: isItalic,
      serif: (pitch & ROMAN) !== 0,
      fixedWidth: (pitch & FIXED_PITCH) !== 0,
      weight,
    });
    const isLeft = isStandardFont(name) || (resolved.isSubstitute && !isHan);
    const face = isLeft ? undefined : resolved.primary;
    const { isSubstitute, substituteName } = resolved;
    this.#answers.set(plainName(name), {
      face,
      isSubstitute: face === undefined || isSubstitute,
      familyName: face === undefined ? '' : substituteName,
    });
    return face === undefined ? 0 : this.#handleOf(face, charset);
  }

  #handleOf(face: Face, charset: number): number {
    const known = this.#files.findIndex((file) => file.face === face && file.charset === charset);
    if (known >= 0) return known + 1;
    const bytes = this.#files.find((file) => file.face === face)?.bytes ?? this.#book.fileOf(face);
    return bytes === undefined ? 0 : this.#files.push({ face, bytes, charset });
  }

  /** The size of the file or of one of its tables; its bytes too where the buffer has room for them. */
  #data(handle: number, tag: number, buffer: number, sizeBytes: number): number {
    const bytes = this.#files[handle - 1]?.bytes;
    const part = bytes && (tag === WHOLE_FILE ? bytes : tableOf(bytes, tag));
    if (part === undefined) return 0;
    if (buffer !== 0 && sizeBytes >>> 0 >= part.length) this.#pdfium.bytes.set(part, buffer);
    return part.length;
  }

  /** The library keeps faces by this name: it has to be one of its own for each. */
  #faceName(handle: number, buffer: number, sizeBytes: number): number {
    const name = Buffer.from(`face-${handle}\0`);
    if (buffer !== 0 && sizeBytes >>> 0 >= name.length) this.#pdfium.bytes.set(name, buffer);
    return name.length;
  }
}

/** Without the six letters of a subset and without blanks. */
function plainName(name: string): string {
  return name.replace(/^[A-Z]{6}\+/, '').replace(/\s/g, '');
}

function tableOf(sfnt: Uint8Array, tag: number): Uint8Array | undefined {
  const view = new DataView(sfnt.buffer, sfnt.byteOffset, sfnt.byteLength);
  const count = view.getUint16(4);
  for (let at = 12; at < 12 + 16 * count; at += 16) {
    if (view.getUint32(at) !== tag) continue;
    const start = view.getUint32(at + 8);
    return sfnt.subarray(start, start + view.getUint32(at + 12));
  }
  return undefined;
}
