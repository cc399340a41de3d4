/** Text of a page: every run with its place, font and colour, as it is painted; and lines in reading order. */
import { type Box, type Matrix, multiply, transformBox, transformPoint } from '../../display/geometry.js';
import type { DisplayList, GlyphRun } from '../../display/list.js';
import { effectiveClips, joinBoxes } from '../bounds.js';
import { isRunVisible } from '../glyph-run.js';
import type { Fragment } from '../layout/fragment.js';
import { lineText, pageLines } from '../layout/lines.js';
import { angle, given, jsonBox, jsonColor, mm, rounded } from './values.js';

/** What letters have above and below their baseline, in sizes, where no face says. */
const ABOVE = 0.88;
const BELOW = 0.12;

/** Lines in reading order, as plain text has them. */
export function jsonLines(list: DisplayList): object[] {
  return pageLines(list).map((line) => {
    const fragments = line.flatMap((row) => row.fragments);
    const box = fragments.map(fragmentBox).reduce<Box | undefined>(joinBoxes, undefined);
    return { text: lineText(line), box: box && jsonBox(box) };
  });
}

/** On the page. */
function fragmentBox(fragment: Fragment): Box {
  const { left, right, baseline, lastBaseline, sizeMm } = fragment;
  const top = Math.min(baseline, lastBaseline) - ABOVE * sizeMm;
  const bottom = Math.max(baseline, lastBaseline) + BELOW * sizeMm;
  const radians = (fragment.angle * Math.PI) / 180;
  const [cos, sin] = [Math.cos(radians), Math.sin(radians)];
  return transformBox([cos, sin, -sin, cos, 0, 0], { x: left, y: top, width: right - left, height: bottom - top });
}

/** Undefined for a run that stands for no character. `toPage`: the space that the run stands in → page. */
export function jsonRun(run: GlyphRun, toPage: Matrix): object | undefined {
  const text = run.characters.join('');
  if (text === '') return undefined;
  const matrix = multiply(toPage, run.matrix);
  const [a, b, c, d] = run.shape;
  const along = vector(matrix, a, b);
  const up = vector(matrix, -c, -d);
  const glyphs = glyphPlaces(run, matrix, Math.hypot(along.x, along.y));
  const paint = run.fill ?? run.stroke?.paint;
  const reading = (run.readDirection * Math.PI) / 180;
  return given({
    text,
    object_id: run.objectId,
    box: jsonBox(runBox(run, matrix)),
    x_mm: glyphs.x_mm[0],
    y_mm: glyphs.y_mm[0],
    size_mm: mm(run.sizeMm * (Math.hypot(up.x, up.y) || Math.hypot(along.x, along.y))),
    angle: angle(degrees(along)),
    reading_angle: angle(degrees(vector(matrix, Math.cos(reading), Math.sin(reading)))),
    font: jsonFont(run),
    color: paint?.kind === 'solid' ? jsonColor(paint.color) : undefined,
    opacity: paint !== undefined && 'alpha' in paint ? rounded(paint.alpha, 3) : undefined,
    visible: isRunVisible(run) && effectiveClips(run) !== undefined,
    glyphs,
  });
}

function jsonFont({ font, face, emboldenMm }: GlyphRun): object {
  return given({
    name: font?.name,
    source: font?.source,
    face: face.familyName,
    bold: face.isBold || emboldenMm > 0,
    italic: face.isItalic,
  });
}

interface GlyphPlaces {
  readonly text: readonly string[];
  /** Baseline origins on the page. */
  readonly x_mm: readonly number[];
  readonly y_mm: readonly number[];
  /** Along the letters' own baseline. */
  readonly width_mm: readonly number[];
}

function glyphPlaces(run: GlyphRun, matrix: Matrix, scale: number): GlyphPlaces {
  const em = (run.sizeMm * scale) / run.face.unitsPerEm;
  const points = run.glyphIds.map((_, i) => transformPoint(matrix, run.x[i]!, run.y[i]!));
  return {
    text: run.characters,
    x_mm: points.map(({ x }) => mm(x)),
    y_mm: points.map(({ y }) => mm(y)),
    width_mm: run.glyphIds.map((id, i) => mm(run.face.advance(id) * em * (run.xScale?.[i] ?? 1))),
  };
}

/** Around the cells of all glyphs: from origin to advance, from the face's descent to its ascent. */
function runBox(run: GlyphRun, matrix: Matrix): Box {
  const k = run.sizeMm / run.face.unitsPerEm;
  const { ascent, descent } = run.face;
  const [a, b, c, d] = run.shape;
  const cells = run.glyphIds.map((id, i) => {
    const cell = {
      x: 0,
      y: -ascent * k,
      width: run.face.advance(id) * k * (run.xScale?.[i] ?? 1),
      height: (ascent - descent) * k,
    };
    return transformBox(multiply(matrix, [a, b, c, d, run.x[i]!, run.y[i]!]), cell);
  });
  return cells.reduce<Box | undefined>(joinBoxes, undefined) ?? { x: 0, y: 0, width: 0, height: 0 };
}

function vector(m: Matrix, x: number, y: number): { readonly x: number; readonly y: number } {
  return { x: m[0] * x + m[2] * y, y: m[1] * x + m[3] * y };
}

function degrees({ x, y }: { readonly x: number; readonly y: number }): number {
  return (Math.atan2(y, x) * 180) / Math.PI;
}
