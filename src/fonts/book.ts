/**
 * Which face shows a text: the installed one by name, else a substitute by the rules of spec 7.8, and per character
 * the next face that has it. Knows faces by index; opens them when they are needed.
 */
import type { Face } from '../display/face.js';
import { type FontKind, kindOfName, REGIONAL_SUFFIX, regionOf, SUBSTITUTES } from './alias.js';
import { type CoveredPages, readCoveredPages } from './coverage.js';
import type { FontFace } from './font-face.js';
import type { FontIndex, FontRecord } from './font-index.js';
import { comparableName, type ParsedFontName, parseFontName } from './font-name.js';
import { openFace } from './sfnt.js';
import { singleFace } from './single-face.js';
import { bytesSource, type FontSource } from './source.js';
import { isHeavyName } from './style.js';
import { type SymbolEncoding, substituteSymbol, symbolEncodingOf } from './symbol-encoding.js';

/** What a document says of a font that it does not embed. */
export interface FontRequest {
  readonly fontName: string;
  readonly familyName?: string;
  /** Font@Charset. */
  readonly charset?: string;
  readonly bold: boolean;
  readonly italic: boolean;
  readonly serif: boolean;
  readonly fixedWidth: boolean;
  /** 0…1000, 400 regular. */
  readonly weight: number;
}

export interface ResolvedFont {
  /** The face that most characters will use; undefined where the machine has none at all. */
  readonly primary: Face | undefined;
  /** `primary` is not the named font. */
  readonly isSubstitute: boolean;
  /** Family of `primary`, e.g. "Noto Serif CJK SC"; '' without one. */
  readonly substituteName: string;
  /** Face and glyph of a character, through the whole chain; undefined where no face has it. */
  glyphFor(codePoint: number): { readonly face: Face; readonly glyphId: number } | undefined;
  /** Asked for, but `primary` has no such member: the caller makes it up. */
  readonly needsBold: boolean;
  readonly needsItalic: boolean;
}

interface FaceAndGlyph {
  readonly face: Face;
  readonly glyphId: number;
}

interface Choice {
  readonly record: FontRecord;
  readonly isSubstitute: boolean;
}

interface Style {
  readonly weight: number;
  readonly isItalic: boolean;
}

const MAX_RESOLVED = 500;
const MAX_CHARACTERS = 20_000;
/** Embedded fonts are kept for the fonts of one document that share a file, not for long. */
const MAX_EMBEDDED_BYTES = 32 << 20;
const HAN_SAMPLE = 0x4e2d;

/** The faces of a machine and the fonts of documents, as one place to ask. One for a thread. */
export class FontBook {
  readonly #open: (file: string) => FontSource;
  readonly #index: FontIndex | (() => FontIndex);
  #faces: readonly FontRecord[] | undefined;
  #byName: ReadonlyMap<string, readonly FontRecord[]> | undefined;
  readonly #pages = new Map<FontRecord, CoveredPages>();
  readonly #opened = new Map<FontRecord, FontFace | undefined>();
  readonly #resolved = new Map<string, ResolvedFont>();
  readonly #embedded = new Map<string, { readonly bytes: Uint8Array; readonly face: FontFace | undefined }>();
  readonly #lastResort = new Map<number, FaceAndGlyph | undefined>();
  #regularFirst: readonly FontRecord[] | undefined;

  /** `index` may be a function: it is called once, when the first font is asked for. */
  constructor(index: FontIndex | (() => FontIndex), open: (file: string) => FontSource) {
    this.#index = index;
    this.#open = open;
  }

  /** The index behind the book, e.g. to hand it to another thread. */
  get index(): FontIndex {
    return { faces: this.#records() };
  }

  /** A face for a font that is not embedded, or whose embedded program is hopeless. The same request gives the same object. */
  resolve(request: FontRequest): ResolvedFont {
    const { fontName, familyName = '', charset = '', bold, italic, serif, fixedWidth, weight } = request;
    const key = JSON.stringify([fontName, familyName, charset, bold, italic, serif, fixedWidth, weight]);
    let resolved = this.#resolved.get(key);
    if (resolved === undefined) {
      resolved = this.#resolve(request);
      if (this.#resolved.size >= MAX_RESOLVED) this.#resolved.clear();
      this.#resolved.set(key, resolved);
    }
    return resolved;
  }

  /**
   * The embedded font of a document, or undefined where nothing of it can be shown. `key` names the part, `fontName`
   * chooses the member of a collection. Opened once for the same bytes.
   */
  embedded(key: string, bytes: Uint8Array, fontName: string): Face | undefined {
    const cacheKey = `${key}\n${fontName}`;
    const kept = this.#embedded.get(cacheKey);
    if (kept !== undefined && (kept.bytes === bytes || Buffer.compare(kept.bytes, bytes) === 0)) return kept.face;
    const face = openFace(bytesSource(bytes), { key: `${fontName}:${contentKey(bytes)}`, fontName });
    this.#embedded.delete(cacheKey);
    this.#embedded.set(cacheKey, { bytes, face });
    let total = 0;
    for (const entry of this.#embedded.values()) total += entry.bytes.length;
    for (const [oldest, entry] of this.#embedded) {
      if (total <= MAX_EMBEDDED_BYTES) break;
      this.#embedded.delete(oldest);
      total -= entry.bytes.length;
    }
    return face;
  }

  /** The font file of one of the machine's faces with no other face in it; undefined for any other face. */
  fileOf(face: Face): Uint8Array | undefined {
    const record = [...this.#opened].find(([, opened]) => opened === face)?.[0];
    return record && singleFace(this.#open(record.file), record.member);
  }

  #records(): readonly FontRecord[] {
    this.#faces ??= (typeof this.#index === 'function' ? this.#index() : this.#index).faces;
    return this.#faces;
  }

  #named(name: string): readonly FontRecord[] {
    if (this.#byName === undefined) {
      const byName = new Map<string, FontRecord[]>();
      for (const record of this.#records()) {
        const names = [...record.families, ...record.fullNames, record.postScriptName];
        for (const key of new Set(names.map(comparableName))) {
          if (key === '') continue;
          const list = byName.get(key);
          if (list === undefined) byName.set(key, [record]);
          else list.push(record);
        }
      }
      this.#byName = byName;
    }
    return this.#byName.get(name) ?? [];
  }

  #face(record: FontRecord): FontFace | undefined {
    if (!this.#opened.has(record)) {
      const { file, member } = record;
      this.#opened.set(record, openFace(this.#open(file), { key: `${file}#${member}`, member }));
    }
    return this.#opened.get(record);
  }

  #resolve(request: FontRequest): ResolvedFont {
    const names = [request.fontName, request.familyName ?? ''].filter((n) => n.trim() !== '').map(parseFontName);
    const kind = kindOfRequest(request, names);
    const isTitle = kind === 'titleSong' || names.some((name) => isHeavyName(name.plain));
    const wantsBold = request.bold || request.weight >= 700 || names.some((name) => name.isBold);
    const wantsItalic = request.italic || names.some((name) => name.isItalic);
    const style: Style = {
      weight: wantsBold || isTitle ? Math.max(700, request.weight) : request.weight || 400,
      isItalic: wantsItalic,
    };
    const chain = this.#chain(names, kind, style, request.charset ?? '');
    const first = chain.find((choice) => this.#face(choice.record) !== undefined);
    const primary = first && this.#face(first.record);
    const isSubstitute = first?.isSubstitute ?? true;
    // Without the symbol font itself its codes are letters in every other face.
    const symbols = kind === 'symbol' && isSubstitute ? symbolEncodingOf(names.map((n) => n.plain)) : undefined;
    return new ChainFont({
      primary,
      isSubstitute,
      substituteName: first?.record.families[0] ?? primary?.postScriptName ?? '',
      needsBold: wantsBold && !isTitle && primary !== undefined && !primary.isBold,
      needsItalic: wantsItalic && primary !== undefined && !primary.isItalic,
      find: (codePoint) => {
        const symbol = this.#findSymbol(symbols, chain, codePoint);
        if (symbol !== undefined) return symbol;
        if (isPrivate(codePoint)) return this.#find(privateChain(chain, codePoint), codePoint);
        return this.#find(chain, codePoint) ?? this.#anywhere(codePoint) ?? this.#findPlainForm(chain, codePoint);
      },
    });
  }

  /** The named faces, then one member of each family that can stand in. */
  #chain(names: readonly ParsedFontName[], kind: FontKind, style: Style, charset: string): Choice[] {
    const chain: Choice[] = [];
    const add = (records: readonly FontRecord[], isSubstitute: boolean): void => {
      const record = bestMember(records, style);
      if (record !== undefined && !chain.some((c) => c.record === record)) chain.push({ record, isSubstitute });
    };
    for (const name of names) {
      add(this.#named(name.whole), false);
      add(this.#named(name.plain), false);
    }
    const plainNames = names.map((name) => name.plain);
    const region = regionOf(plainNames, charset.toLowerCase());
    for (const family of SUBSTITUTES[kind]) {
      if (region !== undefined && REGIONAL_SUFFIX.test(family)) {
        add(this.#named(comparableName(family.replace(REGIONAL_SUFFIX, region))), true);
      }
      add(this.#named(comparableName(family)), true);
    }
    for (const family of this.#otherHanFamilies(kind !== 'hei')) add(this.#named(comparableName(family)), true);
    if (chain.length === 0) add(this.#records(), true);
    return preferHan(chain, kind, (record) => (this.#face(record)?.glyphForCodePoint(HAN_SAMPLE) ?? 0) > 0);
  }

  #findSymbol(symbols: SymbolEncoding | undefined, chain: readonly Choice[], code: number): FaceAndGlyph | undefined {
    const codePoint = symbols && substituteSymbol(symbols, code);
    return codePoint === undefined ? undefined : (this.#find(chain, codePoint) ?? this.#anywhere(codePoint));
  }

  /** Kangxi radicals, compatibility ideographs and the like, which converters write and few faces have. */
  #findPlainForm(chain: readonly Choice[], codePoint: number): FaceAndGlyph | undefined {
    const plain = codePoint <= 0x10ffff ? String.fromCodePoint(codePoint).normalize('NFKC') : '';
    const plainCode = plain.codePointAt(0);
    if (plainCode === undefined || plainCode === codePoint || plain.length > (plainCode > 0xffff ? 2 : 1))
      return undefined;
    return this.#find(chain, plainCode) ?? this.#anywhere(plainCode);
  }

  #find(chain: readonly Choice[], codePoint: number): FaceAndGlyph | undefined {
    for (const { record } of chain) {
      const found = this.#glyphIn(record, codePoint);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** A face is opened only where its character map reaches near the character. */
  #glyphIn(record: FontRecord, codePoint: number): FaceAndGlyph | undefined {
    if (!this.#opened.has(record) && !this.#pagesOf(record).has(codePoint)) return undefined;
    const face = this.#face(record);
    const glyphId = face?.glyphForCodePoint(codePoint) ?? 0;
    return face !== undefined && glyphId > 0 ? { face, glyphId } : undefined;
  }

  #pagesOf(record: FontRecord): CoveredPages {
    let pages = this.#pages.get(record);
    if (pages === undefined) {
      pages = readCoveredPages(this.#open(record.file), record.member);
      this.#pages.set(record, pages);
    }
    return pages;
  }

  /** Families that claim Han characters and that no table lists: simplified ones first, then by name. */
  #otherHanFamilies(serifFirst: boolean): string[] {
    const rank = (record: FontRecord): number =>
      (record.isSerif === serifFirst ? 0 : 4) +
      (record.isFixedPitch ? 2 : 0) +
      (/ (?:SC|CN)$|GB|简/.test(record.families.join(' ')) ? 0 : 1);
    const han = this.#records().filter((record) => record.coversHan && record.families.length > 0);
    han.sort((a, b) => rank(a) - rank(b) || (a.families[0]! < b.families[0]! ? -1 : 1));
    return [...new Set(han.map((record) => record.families[0]!))];
  }

  /** Any face of the machine that has the character, plain ones first. */
  #anywhere(codePoint: number): FaceAndGlyph | undefined {
    if (this.#lastResort.has(codePoint)) return this.#lastResort.get(codePoint);
    this.#regularFirst ??= this.#records()
      .map((record, i) => ({ record, i }))
      .sort((a, b) => plainness(a.record) - plainness(b.record) || a.i - b.i)
      .map(({ record }) => record);
    let found: FaceAndGlyph | undefined;
    for (const record of this.#regularFirst) {
      found = this.#glyphIn(record, codePoint);
      if (found !== undefined) break;
    }
    if (this.#lastResort.size >= MAX_CHARACTERS) this.#lastResort.clear();
    this.#lastResort.set(codePoint, found);
    return found;
  }
}

interface ChainFontParts extends Omit<ResolvedFont, 'glyphFor'> {
  readonly find: (codePoint: number) => FaceAndGlyph | undefined;
}

class ChainFont implements ResolvedFont {
  readonly primary: Face | undefined;
  readonly isSubstitute: boolean;
  readonly substituteName: string;
  readonly needsBold: boolean;
  readonly needsItalic: boolean;
  readonly #find: ChainFontParts['find'];
  readonly #characters = new Map<number, FaceAndGlyph | undefined>();

  constructor(parts: ChainFontParts) {
    this.primary = parts.primary;
    this.isSubstitute = parts.isSubstitute;
    this.substituteName = parts.substituteName;
    this.needsBold = parts.needsBold;
    this.needsItalic = parts.needsItalic;
    this.#find = parts.find;
  }

  glyphFor(codePoint: number): FaceAndGlyph | undefined {
    const kept = this.#characters.get(codePoint);
    if (kept !== undefined || this.#characters.has(codePoint)) return kept;
    const found = this.#find(codePoint);
    if (this.#characters.size >= MAX_CHARACTERS) this.#characters.clear();
    this.#characters.set(codePoint, found);
    return found;
  }
}

function isPrivate(codePoint: number): boolean {
  return (codePoint >= 0xe000 && codePoint <= 0xf8ff) || codePoint >= 0xf0000;
}

/** Private codes that GBK and GB 18030 gave to Han components and signs: the same in all Chinese faces. */
const GB_PRIVATE = [0xe766, 0xe864] as const;

/** The faces that may show a private code: it means another thing in every font, so a stand-in would show a wrong sign. */
function privateChain(chain: readonly Choice[], codePoint: number): readonly Choice[] {
  const isGb = codePoint >= GB_PRIVATE[0] && codePoint <= GB_PRIVATE[1];
  return chain.filter(({ record, isSubstitute }) => !isSubstitute || (isGb && record.coversHan));
}

/** By name, then by the hints; everything else is a Chinese text face. */
function kindOfRequest(request: FontRequest, names: readonly ParsedFontName[]): FontKind {
  for (const name of names) {
    const kind = kindOfName(name.plain);
    if (kind !== undefined) return kind;
  }
  const charset = request.charset?.toLowerCase() ?? '';
  if (charset === 'symbol') return 'symbol';
  // SimSun and its like are of fixed width too: only a font that may be Latin becomes a typewriter face.
  const isChinese = !['', 'unicode'].includes(charset) || names.some((name) => /\p{Script=Han}/u.test(name.text));
  return request.fixedWidth && !request.serif && !isChinese ? 'latinMono' : 'song';
}

/** The member nearest in style; of equals the first. */
function bestMember(records: readonly FontRecord[], style: Style): FontRecord | undefined {
  let best: FontRecord | undefined;
  let bestDistance = Infinity;
  for (const record of records) {
    const distance = styleDistance(record, style);
    if (distance < bestDistance) {
      best = record;
      bestDistance = distance;
    }
  }
  return best;
}

function styleDistance(record: FontRecord, style: Style): number {
  const isWrongSide = record.weight >= 600 !== style.weight >= 600;
  return (
    Math.abs(record.weight - style.weight) +
    (isWrongSide ? 1000 : 0) +
    (record.isItalic !== style.isItalic ? 500 : 0) +
    Math.abs(record.width - 5) * 100
  );
}

/** How far a face is from a regular upright one of normal width. */
function plainness(record: FontRecord): number {
  return styleDistance(record, { weight: 400, isItalic: false }) + (record.isFixedPitch ? 50 : 0);
}

/**
 * A substitute for a Chinese font has to have Chinese characters: families of that name that have none (old bitmap
 * leftovers, Latin cuts) go behind those that do.
 */
function preferHan(chain: Choice[], kind: FontKind, hasHan: (record: FontRecord) => boolean): Choice[] {
  if (kind.startsWith('latin') || kind === 'carlito' || kind === 'caladea' || kind === 'symbol') return chain;
  const first = chain[0];
  if (first === undefined || !first.isSubstitute || hasHan(first.record)) return chain;
  const better = chain.findIndex((choice) => hasHan(choice.record));
  if (better <= 0) return chain;
  return [chain[better]!, ...chain.slice(0, better), ...chain.slice(better + 1)];
}

/** A short word for the content: two independent sums over all bytes, and the length. */
function contentKey(bytes: Uint8Array): string {
  let a = 0x811c9dc5;
  let b = 0x2545f491;
  for (let i = 0; i < bytes.length; i++) {
    a = Math.imul(a ^ bytes[i]!, 0x01000193);
    b = Math.imul(b + bytes[i]!, 0x5bd1e995) ^ (b >>> 15);
  }
  return `${bytes.length}-${(a >>> 0).toString(16)}-${(b >>> 0).toString(16)}`;
}
