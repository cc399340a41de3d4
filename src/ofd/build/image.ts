/** ImageObject: the unit square of the picture under CTM, its mask, its border. */
import {
  type Box,
  growBox,
  type Matrix,
  meanScale,
  multiply,
  Path,
  rectanglePath,
  transformBox,
} from '../../display/geometry.js';
import type { Clip, ImageItem, Item } from '../../display/list.js';
import { BLACK } from '../../display/paint.js';
import { mmToPixels } from '../../display/units.js';
import type { XmlElement } from '../xml.js';
import { clipsOf } from './clip.js';
import type { Space } from './context.js';
import { ownStyle } from './draw-param.js';
import { type DocumentImage, isFault } from './image-source.js';
import { paintOf } from './paint.js';
import {
  blendModeOf,
  boundaryClip,
  checkDrawable,
  hasArea,
  isDrawable,
  NO_CLIPS,
  opacityOf,
  type PaintedShape,
  type Placement,
  placementOf,
} from './placement.js';
import { lineWidth, strokeOf } from './stroke.js';

const BOUNDARY_SLACK_MM = 0.1;
/** An identity written out is no size where Boundary is larger than this. */
const IDENTITY_UP_TO_MM = 3;
/** Pixels of hard-edged pictures stay squares when each becomes more than this many on a screen. */
const SHARP_FROM = 2;
const SCREEN_DPI = 96;
/** Control points of a quarter of an ellipse. */
const QUARTER = 0.5522847498;

const UNIT_SQUARE: Box = { x: 0, y: 0, width: 1, height: 1 };

/** The items of an ImageObject: the picture, and its border on top. */
export function buildImage(element: XmlElement, space: Space): Item[] {
  const alpha = opacityOf(element);
  if (alpha <= 0 || space.isInvisible) return [];
  const placement = imagePlacement(element);
  const border = element.child('Border');
  const clips = clipsOf(element, space, placement);
  const items: Item[] = [];
  const found = findImage(element, space);
  if (found !== undefined && checkDrawable(placement.matrix, element, space.page)) {
    items.push(imageItem(element, found, placement, alpha, space, [...clips, ...cornerClip(border, placement)]));
  }
  const frame = border === undefined ? undefined : borderItem(border, placement, alpha, space, clips);
  return frame === undefined ? items : [...items, frame];
}

function imageItem(
  element: XmlElement,
  found: DocumentImage,
  placement: Placement,
  alpha: number,
  space: Space,
  clips: readonly Clip[],
): ImageItem {
  const { matrix, boundary } = placement;
  const mask = findMask(element, space);
  const substitute = findSubstitute(element, space)?.image;
  return {
    kind: 'image',
    image: found.image,
    matrix,
    alpha,
    smooth: !isEnlarged(found, multiply(space.toPage, matrix)),
    clips: [...clips, ...boundaryClip(boundary, BOUNDARY_SLACK_MM, transformBox(matrix, UNIT_SQUARE))],
    blendMode: blendModeOf(element, space.page),
    ...(substitute === undefined || substitute === found.image ? {} : { substitute }),
    ...(mask === undefined ? {} : { mask: mask.image }),
  };
}

/** The unit square fills Boundary where CTM is absent, or says nothing though Boundary is large. */
function imagePlacement(element: XmlElement): Placement {
  const placement = placementOf(element);
  const { boundary, ctm, origin } = placement;
  if (boundary === undefined || !hasArea(boundary)) return placement;
  const isLarge = Math.max(boundary.width, boundary.height) > IDENTITY_UP_TO_MM;
  const isStated = ctm !== undefined && isDrawable(ctm) && !(isLarge && isPlainIdentity(ctm));
  if (isStated) return placement;
  const fit: Matrix = [boundary.width, 0, 0, boundary.height, 0, 0];
  return { ...placement, ctm: fit, matrix: multiply(origin, fit) };
}

function isPlainIdentity(m: Matrix): boolean {
  return m[0] === 1 && m[1] === 0 && m[2] === 0 && m[3] === 1 && m[4] === 0 && m[5] === 0;
}

/** Whether the squares of a hard-edged picture would show, `matrix` leading from the unit square to the page. */
function isEnlarged({ image, isLowDepth }: DocumentImage, matrix: Matrix): boolean {
  if (!isLowDepth) return false;
  const pixelMm = Math.sqrt(meanScale(matrix) ** 2 / (image.widthPx * image.heightPx));
  return mmToPixels(pixelMm, SCREEN_DPI) > SHARP_FROM;
}

/** The picture of an ImageObject, else its substitution; a diagnostic says why the picture is not there. */
function findImage(element: XmlElement, space: Space): DocumentImage | undefined {
  const id = element.id('ResourceID');
  const found =
    id === undefined
      ? { code: 'image_missing', message: 'An image object names no resource' }
      : space.document.images.find(id, space.resources);
  if (!('code' in found)) return found;
  space.page.report(found.code, found.message, element);
  return findSubstitute(element, space);
}

/** The picture that stands in for one that cannot be read. */
function findSubstitute(element: XmlElement, space: Space): DocumentImage | undefined {
  const id = element.id('Substitution');
  const found = id === undefined ? undefined : space.document.images.find(id, space.resources);
  return found === undefined || isFault(found) ? undefined : found;
}

/** ImageMask; a picture whose mask cannot be had is shown whole. */
function findMask(element: XmlElement, space: Space): DocumentImage | undefined {
  const id = element.id('ImageMask');
  if (id === undefined) return undefined;
  const found = space.document.images.find(id, space.resources);
  if (!isFault(found)) return found;
  space.page.report(found.code, `${found.message}; the picture is shown without its mask`, element);
  return undefined;
}

/** Rounded corners of a border cut the picture too. */
function cornerClip(border: XmlElement | undefined, { boundary }: Placement): readonly Clip[] {
  if (border === undefined || boundary === undefined || !hasArea(boundary)) return NO_CLIPS;
  const radii = cornerRadii(border, boundary);
  return radii.x > 0 && radii.y > 0 ? [{ path: roundedRectangle(boundary, radii), rule: 'nonzero' }] : NO_CLIPS;
}

function borderItem(
  border: XmlElement,
  { boundary, origin }: Placement,
  alpha: number,
  space: Space,
  clips: readonly Clip[],
): Item | undefined {
  const style = ownStyle(border, space.resources);
  if (lineWidth(style) === 0) return undefined;
  if (boundary === undefined || !hasArea(boundary)) {
    space.page.report('object_invalid', 'A border has no Boundary to run along and is left out', border);
    return undefined;
  }
  const color = border.child('BorderColor');
  const shape: PaintedShape = { origin, matrix: origin, bounds: () => growBox(boundary, lineWidth(style)) };
  const paint =
    color === undefined
      ? ({ kind: 'solid', color: BLACK, alpha } as const)
      : paintOf({ element: color, resources: space.resources }, alpha, space, shape);
  if (paint === undefined) return undefined;
  return {
    kind: 'path',
    path: roundedRectangle(boundary, cornerRadii(border, boundary)),
    matrix: [1, 0, 0, 1, 0, 0],
    stroke: strokeOf(style, paint, meanScale(space.toPage)),
    clips,
    blendMode: 'normal',
  };
}

function cornerRadii(border: XmlElement, boundary: Box): { x: number; y: number } {
  const x = border.number('HorizonalCornerRadius') ?? border.number('HorizontalCornerRadius') ?? 0;
  const y = border.number('VerticalCornerRadius') ?? 0;
  return {
    x: Math.min(Math.max(x, 0), boundary.width / 2),
    y: Math.min(Math.max(y, 0), boundary.height / 2),
  };
}

/** From the top left corner on, clockwise: dashes count from there. */
function roundedRectangle(box: Box, radii: { readonly x: number; readonly y: number }): Path {
  if (radii.x === 0 || radii.y === 0) return rectanglePath(box);
  const { x, y } = box;
  const right = x + box.width;
  const bottom = y + box.height;
  const restX = radii.x * (1 - QUARTER);
  const restY = radii.y * (1 - QUARTER);
  const path = new Path();
  path.moveTo(x + radii.x, y);
  path.lineTo(right - radii.x, y);
  path.cubicTo(right - restX, y, right, y + restY, right, y + radii.y);
  path.lineTo(right, bottom - radii.y);
  path.cubicTo(right, bottom - restY, right - restX, bottom, right - radii.x, bottom);
  path.lineTo(x + radii.x, bottom);
  path.cubicTo(x + restX, bottom, x, bottom - restY, x, bottom - radii.y);
  path.lineTo(x, y + radii.y);
  path.cubicTo(x, y + restY, x + restX, y, x + radii.x, y);
  path.close();
  return path;
}
