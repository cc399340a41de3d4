/** PathObject. */
import { type Box, growBox, intersectBoxes, meanScale, type Path, transformBox } from '../../display/geometry.js';
import type { FillRule, PathItem } from '../../display/list.js';
import { BLACK, type Paint } from '../../display/paint.js';
import { MM_PER_INCH, POINTS_PER_MM } from '../../display/units.js';
import type { XmlElement } from '../xml.js';
import { clipsOf } from './clip.js';
import type { Space } from './context.js';
import type { Style } from './draw-param.js';
import { paintOf } from './paint.js';
import { parsePathData } from './path-data.js';
import {
  blendModeOf,
  boundaryClip,
  checkDrawable,
  contains,
  opacityOf,
  type PaintedShape,
  type Placement,
  placementOf,
} from './placement.js';
import { lineWidth, strokeOf } from './stroke.js';

/** How far ink may leave Boundary before it is cut. */
const BOUNDARY_SLACK_MM = 0.5;
/** Lines of a highlight up to this strike out or underline; broader ones mark. */
const THIN_LINE_MM = 1;
/** Unit of paths that some early producers wrote in device space: a dot of 300 to the inch. */
const DEVICE_UNIT_MM = MM_PER_INCH / 300;

/** The item of a PathObject; undefined where it shows nothing. */
export function buildPath(element: XmlElement, space: Space): PathItem | undefined {
  const alpha = opacityOf(element);
  if (alpha <= 0 || space.isInvisible) return undefined;
  const path = readPath(element, space);
  const bounds = path?.controlBounds();
  if (path === undefined || bounds === undefined) return undefined;
  const style = space.document.drawParams.styleOf(element, space.resources, space.style);
  const placed = place(placementOf(element), bounds, style, space);
  if (!checkDrawable(placed.matrix, element, space.page)) return undefined;
  const scale = meanScale(placed.matrix);
  const width = lineWidth(placed.style) * scale;
  const ink = growBox(transformBox(placed.matrix, bounds), width / 2);
  const shape: PaintedShape = { origin: placed.origin, matrix: placed.matrix, bounds: () => ink };
  const fill = fillOf(element, placed.style, alpha, space, shape);
  const strokePaint = strokePaintOf(element, placed.style, alpha, space, shape);
  if (fill === undefined && strokePaint === undefined) return undefined;
  const pageScale = scale * meanScale(space.toPage);
  const isBroad = isOpaque(fill) || (isOpaque(strokePaint) && width > THIN_LINE_MM);
  return {
    kind: 'path',
    path,
    matrix: placed.matrix,
    clips: [
      ...clipsOf(element, space, placed),
      ...boundaryClip(placed.boundary, Math.max(width, BOUNDARY_SLACK_MM), ink),
    ],
    blendMode: space.multipliesFills && isBroad ? 'multiply' : blendModeOf(element, space.page),
    ...(fill === undefined ? {} : { fill: { paint: fill, rule: ruleOf(element) } }),
    ...(strokePaint === undefined ? {} : { stroke: strokeOf(placed.style, strokePaint, pageScale) }),
  };
}

function isOpaque(paint: Paint | undefined): boolean {
  return paint?.kind === 'solid' && paint.alpha === 1;
}

function readPath(element: XmlElement, space: Space): Path | undefined {
  const text = element.childText('AbbreviatedData');
  if (text === undefined || text === '') return undefined;
  const { path, dropped } = parsePathData(text);
  if (dropped > 0) {
    const what = dropped === 1 ? 'One command' : `${dropped} commands`;
    space.page.report('path_malformed', `${what} of a path cannot be read; the rest is drawn`, element);
  }
  return path;
}

/** `Even-Odd` in any spelling, else nonzero. */
export function ruleOf(element: XmlElement): FillRule {
  return element.attribute('Rule')?.toLowerCase().includes('odd') ? 'evenodd' : 'nonzero';
}

type PlacedPath = Placement & { readonly style: Style };

/** Tells paths that are really written in device space by where they would land (format reference 5.4). */
function place(placement: Placement, bounds: Box, style: Style, space: Space): PlacedPath {
  const { boundary } = placement;
  const landed = growBox(transformBox(placement.matrix, bounds), BOUNDARY_SLACK_MM);
  if (boundary === undefined || intersectBoxes(landed, boundary) !== undefined) return { ...placement, style };
  const { widthMm, heightMm } = space.page.sheet;
  const isFar = bounds.x + bounds.width > 2 * widthMm || bounds.y + bounds.height > 2 * heightMm;
  const matrix = [DEVICE_UNIT_MM, 0, 0, DEVICE_UNIT_MM, 0, 0] as const;
  const slack = Math.max(BOUNDARY_SLACK_MM, Math.max(boundary.width, boundary.height) / 10);
  if (!isFar || !contains(growBox(boundary, slack), transformBox(matrix, bounds))) return { ...placement, style };
  const widthInUnits = lineWidth(style) / POINTS_PER_MM / DEVICE_UNIT_MM;
  return { ...placement, matrix, style: { ...style, lineWidth: widthInUnits } };
}

function fillOf(
  element: XmlElement,
  style: Style,
  alpha: number,
  space: Space,
  shape: PaintedShape,
): Paint | undefined {
  if (element.boolean('Fill') !== true || style.fillColor === undefined) return undefined;
  return paintOf(style.fillColor, alpha, space, shape);
}

function strokePaintOf(
  element: XmlElement,
  style: Style,
  alpha: number,
  space: Space,
  shape: PaintedShape,
): Paint | undefined {
  if (element.boolean('Stroke') === false) return undefined;
  if (style.strokeColor !== undefined) return paintOf(style.strokeColor, alpha, space, shape);
  return space.needsStrokeColor ? undefined : { kind: 'solid', color: BLACK, alpha };
}
