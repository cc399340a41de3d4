// Opens small packages with made-up faces, so that every number in a display list can be told from the XML alone.
import type { Face } from '../../../src/display/face.js';
import { Path, rectanglePath, transformPoint } from '../../../src/display/geometry.js';
import type { Diagnostic, DisplayList, GlyphRun, Group, ImageItem, Item, PathItem } from '../../../src/display/list.js';
import { FontBook, type FontRequest, type ResolvedFont } from '../../../src/fonts/index.js';
import { type OfdDocument, openOfd } from '../../../src/ofd/index.js';
import { DEFAULT_LIMITS, type OfdLimits } from '../../../src/ofd/limits.js';
import { buildOfd, type OfdSpec } from '../../support/ofd-builder.js';

export interface FaceSpec {
  readonly name?: string;
  /** Characters with a glyph, in the order of glyph ids from 1; undefined: no character map. */
  readonly characters?: string;
  readonly glyphCount?: number;
  /** Advance of every glyph, in thousandths of the em. */
  readonly advance?: number;
  readonly isBold?: boolean;
  readonly isItalic?: boolean;
  /** Characters whose outline is empty, blanks aside. */
  readonly empty?: string;
}

/** A face of squares, 1000 units to the em. */
export function fakeFace(spec: FaceSpec = {}): Face {
  const { name = 'Squares', characters, advance = 1000, isBold = false, isItalic = false, empty = '' } = spec;
  const map = Array.from(characters ?? '');
  const glyphCount = spec.glyphCount ?? map.length + 1;
  const square = rectanglePath({ x: 0, y: 0, width: 800, height: 800 });
  const nothing = new Path();
  return {
    key: name,
    familyName: name,
    postScriptName: name,
    unitsPerEm: 1000,
    ascent: 800,
    descent: -200,
    isBold,
    isItalic,
    isSerif: true,
    isFixedPitch: false,
    glyphCount,
    hasCharacterMap: characters !== undefined,
    glyphForCodePoint: (codePoint) => map.indexOf(String.fromCodePoint(codePoint)) + 1,
    glyphForTransform: (value) => (value > 0 && value < glyphCount ? value : 0),
    advance: () => advance,
    outline: (glyphId) => (` \u3000${empty}`.includes(map[glyphId - 1] ?? '?') ? nothing : square),
  };
}

/** All letters and Han that the tests write. */
export const PLENTY = ' abcdefghijklmnopqrstuvwxyzABC0123456789甲乙丙丁戊己¤，&<;';

export interface FontsSpec {
  /** Program of every font that has a FontFile; null where it is hopeless. */
  readonly embedded?: Face | null;
  /** Face of the system; null where there is none. */
  readonly system?: Face | null;
  /** A face behind it, asked for characters that it lacks. */
  readonly fallback?: Face;
  readonly isSubstitute?: boolean;
  readonly needsBold?: boolean;
  readonly needsItalic?: boolean;
}

/** A machine with the faces given and no other. */
export class FakeFonts extends FontBook {
  readonly requests: FontRequest[] = [];
  readonly #spec: FontsSpec;

  constructor(spec: FontsSpec) {
    super({ faces: [] }, () => {
      throw new Error('no font file is ever opened');
    });
    this.#spec = spec;
  }

  override resolve(request: FontRequest): ResolvedFont {
    this.requests.push(request);
    const { system = fakeFace({ characters: PLENTY }), fallback, isSubstitute = false } = this.#spec;
    return {
      primary: system ?? undefined,
      isSubstitute,
      substituteName: system?.familyName ?? '',
      needsBold: this.#spec.needsBold ?? false,
      needsItalic: this.#spec.needsItalic ?? false,
      glyphFor(codePoint) {
        for (const face of [system, fallback]) {
          const glyphId = face?.glyphForCodePoint(codePoint) ?? 0;
          if (face && glyphId > 0) return { face, glyphId };
        }
        return undefined;
      },
    };
  }

  override embedded(): Face | undefined {
    return this.#spec.embedded ?? undefined;
  }
}

export interface Opened {
  readonly document: OfdDocument;
  readonly diagnostics: Diagnostic[];
  readonly fonts: FakeFonts;
}

export async function open(
  spec: OfdSpec | Uint8Array,
  fonts: FontsSpec = {},
  limits: Partial<OfdLimits> = {},
): Promise<Opened> {
  const diagnostics: Diagnostic[] = [];
  const book = new FakeFonts(fonts);
  const document = await openOfd(spec instanceof Uint8Array ? spec : buildOfd(spec), {
    limits: { ...DEFAULT_LIMITS, ...limits },
    fonts: book,
    report: (diagnostic) => diagnostics.push(diagnostic),
  });
  return { document, diagnostics, fonts: book };
}

/** Font 1 is named, font 2 has a program of its own. */
export const FONTS =
  '<ofd:Fonts><ofd:Font ID="1" FontName="SimSun"/>' +
  '<ofd:Font ID="2" FontName="Own"><ofd:FontFile>own.ttf</ofd:FontFile></ofd:Font></ofd:Fonts>';

export interface BuiltPage extends Opened {
  readonly list: DisplayList;
  readonly items: readonly Item[];
  readonly codes: readonly string[];
}

/** The first page with `objects` in its body layer; `more` adds to the package. */
export async function build(
  objects: string,
  more: Partial<OfdSpec> = {},
  fonts: FontsSpec = {},
  limits: Partial<OfdLimits> = {},
): Promise<BuiltPage> {
  const publicRes = more.publicRes ?? FONTS;
  const files = { 'Doc_0/Res/own.ttf': 'program', ...more.files };
  const opened = await open({ pages: [objects], ...more, publicRes, files }, fonts, limits);
  const list = opened.document.page(0);
  const codes = opened.diagnostics.map(({ code }) => code);
  return { ...opened, list, items: list.items, codes };
}

export function paths(items: readonly Item[]): PathItem[] {
  return items.filter((item) => item.kind === 'path');
}

export function runs(items: readonly Item[]): GlyphRun[] {
  return items.flatMap((item) => (item.kind === 'group' ? runs(item.items) : item.kind === 'glyphs' ? [item] : []));
}

export function images(items: readonly Item[]): ImageItem[] {
  return items.filter((item) => item.kind === 'image');
}

export function groups(items: readonly Item[]): Group[] {
  return items.filter((item) => item.kind === 'group');
}

export function textOf(items: readonly Item[]): string {
  return runs(items)
    .map((run) => run.characters.join(''))
    .join('|');
}

/** Origins of a run's glyphs in the space of the page, to four decimals. */
export function origins(run: GlyphRun): number[][] {
  return run.x.map((x, index) => {
    const point = transformPoint(run.matrix, x, run.y[index]!);
    return [rounded(point.x), rounded(point.y)];
  });
}

/** The box of a path's points under its matrix: left, top, right, bottom. */
export function extent(path: Path, matrix = [1, 0, 0, 1, 0, 0] as PathItem['matrix']): number[] {
  const box = path.transformed(matrix).controlBounds();
  if (box === undefined) return [];
  return [box.x, box.y, box.x + box.width, box.y + box.height].map(rounded);
}

export function rounded(value: number): number {
  return Math.round(value * 1e4) / 1e4 + 0;
}

/** A grey PNG of the given size. */
export function png(widthPx: number, heightPx: number, bitDepth = 8, colorType = 2): Uint8Array {
  const bytes = Buffer.alloc(57);
  Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex').copy(bytes);
  bytes.writeUInt32BE(widthPx, 16);
  bytes.writeUInt32BE(heightPx, 20);
  bytes[24] = bitDepth;
  bytes[25] = colorType;
  bytes.write('IDAT', 37, 'latin1');
  bytes.write('IEND', 49, 'latin1');
  return bytes;
}

export const MEDIA =
  '<ofd:MultiMedias><ofd:MultiMedia ID="10" Type="Image"><ofd:MediaFile>a.png</ofd:MediaFile></ofd:MultiMedia>' +
  '<ofd:MultiMedia ID="11" Type="image"><ofd:MediaFile>b.png</ofd:MediaFile></ofd:MultiMedia></ofd:MultiMedias>';

export function pathXml(data: string, attributes = '', children = ''): string {
  const boundary = attributes.includes('Boundary') ? '' : 'Boundary="10 20 50 40"';
  return (
    `<ofd:PathObject ID="3" ${boundary} ${attributes}>${children}` +
    `<ofd:AbbreviatedData>${data}</ofd:AbbreviatedData></ofd:PathObject>`
  );
}
