/**
 * The display list: what one page shows, with nothing left to resolve. Every backend draws from it alone.
 *
 * One list a page. Millimetres, origin top left of the sheet, y down. Items stand in paint order; templates, layers,
 * annotations and seals are merged in. No ids to look up, no inherited parameter, no relative path, no arc. Every
 * matrix is explicit. Colours are sRGB plus alpha. Text is runs of glyphs with face, glyph ids, positions and
 * characters. Images are encoded bytes plus pixel size, decoded by whoever needs the pixels. No NaN, no hidden
 * object; text without visible paint stays, as a run with neither fill nor stroke, so that it can be found.
 */
import type { AnnotationNote } from './annotation.js';
import type { Face } from './face.js';
import type { Matrix, Path } from './geometry.js';
import type { LinkArea } from './link.js';
import type { Paint, Stroke } from './paint.js';

export interface DisplayList {
  /** From 1, through all documents of the package. */
  readonly pageNumber: number;
  /** Always finite and positive. */
  readonly widthMm: number;
  readonly heightMm: number;
  readonly items: readonly Item[];
  /** Absent where nothing on the page leads anywhere. */
  readonly links?: readonly LinkArea[];
  /** What annotations say, whether they show or not; absent where the page has none. */
  readonly annotations?: readonly AnnotationNote[];
}

export type Item = Group | PathItem | GlyphRun | ImageItem;

/** By their names in CSS; PDF and canvases have the same ones. */
export const BLEND_MODES = [
  ...(['normal', 'multiply', 'screen', 'overlay', 'darken', 'lighten', 'color-dodge', 'color-burn'] as const),
  ...(['hard-light', 'soft-light', 'difference', 'exclusion', 'hue', 'saturation', 'color', 'luminosity'] as const),
] as const;

export type BlendMode = (typeof BLEND_MODES)[number];

export type FillRule = 'nonzero' | 'evenodd';

/** A region in the space of the group that the item (or the group carrying the clip) stands in. An empty path clips everything. */
export interface Clip {
  readonly path: Path;
  readonly rule: FillRule;
}

interface Painted {
  /** All of them hold: what is drawn is the intersection. In the space of the parent group, like the item's matrix. */
  readonly clips: readonly Clip[];
  readonly blendMode: BlendMode;
}

/** Items under one matrix. Nothing nests deeper than 64 groups. */
export interface Group extends Painted {
  readonly kind: 'group';
  /** Space of `items` → space of the parent. */
  readonly matrix: Matrix;
  /** Opacity 0…1 of the group as one picture; 1 for nearly all. */
  readonly alpha: number;
  readonly items: readonly Item[];
  /** The same object stands on several pages or places (a template, a composite unit, a seal): worth keeping once. */
  readonly isShared: boolean;
}

export interface PathItem extends Painted {
  readonly kind: 'path';
  readonly path: Path;
  /** Space of `path` (and of the pen) → space of the group. */
  readonly matrix: Matrix;
  /** Painted before the stroke. */
  readonly fill?: { readonly paint: Paint; readonly rule: FillRule };
  readonly stroke?: Stroke;
}

/** A font as the document names it. */
export interface NamedFont {
  readonly name: string;
  /** Where the face that draws it comes from: the document, this machine, or this machine in place of the font. */
  readonly source: 'embedded' | 'system' | 'substitute';
}

/**
 * Glyphs of one face at explicit places. The outline point q (font units, y up) of glyph i lands at
 *
 *   matrix · T(x[i], y[i]) · shape · S(k·xScale[i], −k) · q        k = sizeMm / face.unitsPerEm
 *
 * where `shape` is the linear part common to the run (direction, horizontal scale, synthetic slant).
 */
export interface GlyphRun extends Painted {
  readonly kind: 'glyphs';
  readonly face: Face;
  /** What the document calls the face; absent where it names no font. */
  readonly font?: NamedFont;
  /** The document's number for the object that the run is of; absent where it has none. */
  readonly objectId?: string;
  readonly sizeMm: number;
  /** Run space → space of the group. */
  readonly matrix: Matrix;
  /** Linear part [a b c d], acting in run space about each glyph's origin. */
  readonly shape: readonly [number, number, number, number];
  readonly glyphIds: readonly number[];
  /** Baseline origins in run space. */
  readonly x: readonly number[];
  readonly y: readonly number[];
  /** Horizontal squeeze of each glyph (a substitute face that is too wide); undefined where all are 1. */
  readonly xScale?: readonly number[];
  /**
   * The text of each glyph: one character mostly; several for a ligature; '' for the glyphs after the first of a
   * group, and for glyphs that stand for no character. Joined, it is the text of the run in document order.
   */
  readonly characters: readonly string[];
  /** Direction of reading in run space, degrees clockwise: 0 right, 90 down, 180 left, 270 up. */
  readonly readDirection: number;
  /** Painted before the stroke. Neither fill nor stroke: the run is there to be found, not seen. */
  readonly fill?: Paint;
  readonly stroke?: Stroke;
  /** Pen width of synthetic bold in run space (mm), drawn round the outlines in the fill's paint; 0 for none. */
  readonly emboldenMm: number;
}

export type ImageFormat = 'png' | 'jpeg' | 'bmp' | 'gif' | 'tiff' | 'jbig2' | 'jpeg2000' | 'webp';

export interface EncodedImage {
  /** The same object for the same part of the package: backends key their caches by identity. */
  readonly bytes: Uint8Array;
  readonly format: ImageFormat;
  readonly widthPx: number;
  readonly heightPx: number;
  /** Name of the part, for warnings. */
  readonly part: string;
}

export interface ImageItem extends Painted {
  readonly kind: 'image';
  readonly image: EncodedImage;
  /** Unit square (origin top left of the picture, y down) → space of the group. */
  readonly matrix: Matrix;
  readonly alpha: number;
  /** Drawn instead where `image` proves to be unreadable. */
  readonly substitute?: EncodedImage;
  /** A picture whose luminance is the opacity: white shows, black hides. */
  readonly mask?: EncodedImage;
  /** Whether pixels are blended when the picture is enlarged; false keeps the squares of a QR code sharp. */
  readonly smooth: boolean;
}

/** What was not as it should be, in one shape from the engine to the client (contract A7). */
export interface Diagnostic {
  /** Stable snake_case word: font_substituted, glyph_missing, image_missing, part_missing, xml_malformed, zip_recovered … */
  readonly code: string;
  /** One English sentence that names the thing. */
  readonly message: string;
  /** From 1. */
  readonly page?: number;
  readonly part?: string;
  readonly objectId?: string;
  readonly characters?: string;
}

export type Report = (diagnostic: Diagnostic) => void;
