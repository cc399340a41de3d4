/** TextObject. */
import { type Box, growBox, type Matrix, meanScale, transformBox } from '../../display/geometry.js';
import type { GlyphRun } from '../../display/list.js';
import { BLACK, type Paint, type Stroke } from '../../display/paint.js';
import type { XmlElement } from '../xml.js';
import { clipsOf } from './clip.js';
import type { Space } from './context.js';
import type { Style } from './draw-param.js';
import { paintOf } from './paint.js';
import { blendModeOf, checkDrawable, opacityOf, type PaintedShape, type Placement, placementOf } from './placement.js';
import { strokeOf } from './stroke.js';
import { emboldenWidth, layOutText, shapeOf, type TextLayout, type TextRun } from './text-layout.js';

interface TextPaint {
  readonly fill?: Paint;
  readonly stroke?: Stroke;
}

const UNPAINTED: TextPaint = {};

/** The runs of a TextObject. Text that shows nothing is there all the same, unpainted. */
export function buildText(element: XmlElement, space: Space): GlyphRun[] {
  const layout = layOutText(element, space);
  if (layout === undefined || layout.runs.length === 0) return [];
  const placement = placementOf(element);
  const isSeen = checkDrawable(placement.matrix, element, space.page);
  const matrix = isSeen ? placement.matrix : placement.origin;
  const clips = clipsOf(element, space, placement);
  const paint = isSeen ? paintsOf(element, layout, placement, space) : UNPAINTED;
  const blendMode = blendModeOf(element, space.page);
  const objectId = element.id('ID');
  return layout.runs.map((run): GlyphRun => {
    const isPainted = run.hasGlyphs && (paint.fill !== undefined || paint.stroke !== undefined);
    return {
      kind: 'glyphs',
      face: run.styled.face,
      ...(run.styled.font === undefined ? {} : { font: run.styled.font }),
      ...(objectId === undefined ? {} : { objectId }),
      sizeMm: layout.sizeMm,
      matrix,
      shape: shapeOf(layout, run.styled),
      glyphIds: run.glyphIds,
      x: run.x,
      y: run.y,
      ...(run.xScale.length === 0 ? {} : { xScale: run.glyphIds.map((_, index) => run.xScale[index] ?? 1) }),
      characters: run.characters,
      readDirection: layout.readDirection,
      ...(isPainted ? paint : UNPAINTED),
      emboldenMm: isPainted ? emboldenWidth(layout, run.styled, matrix, space.toPage) : 0,
      clips,
      blendMode,
    };
  });
}

function paintsOf(element: XmlElement, layout: TextLayout, placement: Placement, space: Space): TextPaint {
  const alpha = opacityOf(element);
  if (alpha <= 0 || space.isInvisible) return UNPAINTED;
  const style = space.document.drawParams.styleOf(element, space.resources, space.style);
  const { origin, matrix } = placement;
  const shape: PaintedShape = { origin, matrix, bounds: () => textBounds(layout, matrix) };
  const fill = element.boolean('Fill') === false ? undefined : fillOf(style, alpha, space, shape);
  const stroke = element.boolean('Stroke') === true ? strokeOfText(style, alpha, space, shape) : undefined;
  return { ...(fill === undefined ? {} : { fill }), ...(stroke === undefined ? {} : { stroke }) };
}

function fillOf(style: Style, alpha: number, space: Space, shape: PaintedShape): Paint | undefined {
  if (style.fillColor !== undefined) return paintOf(style.fillColor, alpha, space, shape);
  return { kind: 'solid', color: BLACK, alpha };
}

function strokeOfText(style: Style, alpha: number, space: Space, shape: PaintedShape): Stroke | undefined {
  const paint: Paint | undefined =
    style.strokeColor === undefined
      ? { kind: 'solid', color: BLACK, alpha }
      : paintOf(style.strokeColor, alpha, space, shape);
  if (paint === undefined) return undefined;
  return strokeOf(style, paint, meanScale(shape.matrix) * meanScale(space.toPage));
}

/** A box that holds all glyphs: an em to each side of every origin. */
function textBounds(layout: TextLayout, matrix: Matrix): Box | undefined {
  const x = extent(layout.runs, (run) => run.x);
  const y = extent(layout.runs, (run) => run.y);
  const box = { x: x.low, y: y.low, width: x.high - x.low, height: y.high - y.low };
  return transformBox(matrix, growBox(box, layout.sizeMm * Math.max(1, Math.abs(layout.hScale)) * 1.5));
}

function extent(runs: readonly TextRun[], pick: (run: TextRun) => readonly number[]): { low: number; high: number } {
  let low = Infinity;
  let high = -Infinity;
  for (const run of runs) {
    for (const value of pick(run)) {
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  }
  return { low, high };
}
