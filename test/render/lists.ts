// Hand-written display lists for the tests of the backends: short makers with the commonest values filled in.
import type { Face } from '../../src/display/face.js';
import { type Box, IDENTITY, type Matrix, Path, rectanglePath } from '../../src/display/geometry.js';
import type {
  Clip,
  DisplayList,
  EncodedImage,
  GlyphRun,
  Group,
  ImageItem,
  Item,
  PathItem,
} from '../../src/display/list.js';
import type { AxialPaint, Color, RadialPaint, SolidPaint, Stroke, TilingPaint } from '../../src/display/paint.js';

export const RED: Color = [255, 0, 0];
export const GREEN: Color = [0, 255, 0];
export const BLUE: Color = [0, 0, 255];
export const WHITE: Color = [255, 255, 255];
export const BLACK: Color = [0, 0, 0];

const PLAIN = { matrix: IDENTITY, clips: [], blendMode: 'normal' } as const;

export function page(items: readonly Item[], widthMm = 40, heightMm = 40, pageNumber = 1): DisplayList {
  return { pageNumber, widthMm, heightMm, items };
}

export function box(x: number, y: number, width: number, height: number): Box {
  return { x, y, width, height };
}

export function solid(color: Color, alpha = 1): SolidPaint {
  return { kind: 'solid', color, alpha };
}

export function filled(
  path: Path,
  paint: Color | NonNullable<PathItem['fill']>['paint'],
  more: Partial<PathItem> = {},
): PathItem {
  const fill = { paint: 'kind' in paint ? paint : solid(paint), rule: 'nonzero' } as const;
  return { kind: 'path', path, fill, ...PLAIN, ...more };
}

export function rectangle(area: Box, paint: Parameters<typeof filled>[1], more: Partial<PathItem> = {}): PathItem {
  return filled(rectanglePath(area), paint, more);
}

export function pen(widthMm: number, more: Partial<Stroke> = {}): Stroke {
  return {
    paint: solid(BLACK),
    widthMm,
    cap: 'butt',
    join: 'miter',
    miterLimit: 10,
    dash: [],
    dashOffset: 0,
    ...more,
  };
}

export function line(points: readonly number[], stroke: Stroke, more: Partial<PathItem> = {}): PathItem {
  const path = new Path();
  path.moveTo(points[0]!, points[1]!);
  for (let i = 2; i < points.length; i += 2) path.lineTo(points[i]!, points[i + 1]!);
  return { kind: 'path', path, stroke, ...PLAIN, ...more };
}

export function clip(path: Path, rule: Clip['rule'] = 'nonzero'): Clip {
  return { path, rule };
}

export function group(items: readonly Item[], more: Partial<Group> = {}): Group {
  return { kind: 'group', items, alpha: 1, isShared: false, ...PLAIN, ...more };
}

const RED_TO_BLUE = {
  matrix: IDENTITY,
  stops: [
    { offset: 0, color: RED, alpha: 1 },
    { offset: 1, color: BLUE, alpha: 1 },
  ],
  extendStart: true,
  extendEnd: true,
} as const;

export function axial(x1: number, y1: number, x2: number, y2: number, more: Partial<AxialPaint> = {}): AxialPaint {
  return { kind: 'axial', start: { x: x1, y: y1 }, end: { x: x2, y: y2 }, ...RED_TO_BLUE, ...more };
}

export function radial(
  from: readonly [number, number, number],
  to: readonly [number, number, number],
  more: Partial<RadialPaint> = {},
): RadialPaint {
  const [x0, y0, startRadius] = from;
  const [x1, y1, endRadius] = to;
  return {
    kind: 'radial',
    start: { x: x0, y: y0 },
    startRadius,
    end: { x: x1, y: y1 },
    endRadius,
    ...RED_TO_BLUE,
    ...more,
  };
}

export function tiling(
  items: readonly Item[],
  size: number,
  step: number,
  more: Partial<TilingPaint> = {},
): TilingPaint {
  return {
    kind: 'tiling',
    matrix: IDENTITY,
    width: size,
    height: size,
    xStep: step,
    yStep: step,
    items,
    alpha: 1,
    ...more,
  };
}

export function image(encoded: EncodedImage, matrix: Matrix, more: Partial<ImageItem> = {}): ImageItem {
  return { kind: 'image', image: encoded, alpha: 1, smooth: false, ...PLAIN, matrix, ...more };
}

/** Glyph 0 is blank, glyph 1 a square from (0, 0) to (1000, 1000), glyph 2 a frame of two squares, one in the other. */
export const squareFace: Face = {
  key: 'square',
  familyName: 'Square',
  postScriptName: 'Square',
  unitsPerEm: 1000,
  ascent: 1000,
  descent: 0,
  isBold: false,
  isItalic: false,
  isSerif: false,
  isFixedPitch: true,
  glyphCount: 3,
  hasCharacterMap: false,
  glyphForCodePoint: () => 0,
  glyphForTransform: (value) => value,
  advance: () => 1000,
  outline: (glyphId) => {
    if (glyphId === 1) return rectanglePath(box(0, 0, 1000, 1000));
    const path = new Path();
    if (glyphId !== 2) return path;
    path.addPath(rectanglePath(box(0, 0, 1000, 1000)));
    path.addPath(rectanglePath(box(200, 200, 600, 600)), [-1, 0, 0, 1, 1000, 0]);
    return path;
  },
};

export function run(
  glyphIds: readonly number[],
  x: readonly number[],
  y: readonly number[],
  more: Partial<GlyphRun> = {},
): GlyphRun {
  return {
    kind: 'glyphs',
    face: squareFace,
    sizeMm: 4,
    shape: [1, 0, 0, 1],
    glyphIds,
    x,
    y,
    characters: glyphIds.map((id) => String.fromCodePoint(0x4e00 + id)),
    readDirection: 0,
    fill: solid(BLACK),
    emboldenMm: 0,
    ...PLAIN,
    ...more,
  };
}
