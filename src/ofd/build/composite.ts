/** CompositeObject: a unit of drawing from the resources, placed; units are built once and shared. */
import { growBox, IDENTITY, type Matrix, meanScale, multiply, rectanglePath } from '../../display/geometry.js';
import type { Clip, Group, Item } from '../../display/list.js';
import type { XmlElement } from '../xml.js';
import { clipsOf } from './clip.js';
import type { SharedGroup, Space } from './context.js';
import { type ColorSource, isPlainColor } from './draw-param.js';
import { type ImageFault, isFault } from './image-source.js';
import {
  blendModeOf,
  boundaryClip,
  checkDrawable,
  hasArea,
  NO_CLIPS,
  opacityOf,
  type Placement,
  placementOf,
} from './placement.js';

const BOUNDARY_SLACK_MM = 0.5;
/** Groups that one use of a unit adds: the one that places it, and the shared one. */
const GROUPS_A_USE = 2;

/** The group of a CompositeObject (or of a CompositeGraphicUnit that stands among the objects itself). */
export function buildComposite(element: XmlElement, space: Space): Item[] {
  const placement = placementOf(element);
  if (!checkDrawable(placement.matrix, element, space.page)) return [];
  const id = element.id('ResourceID');
  const unit = element.child('Content') ? element : findUnit(element, id, space);
  if (unit === undefined) return [];
  const alpha = opacityOf(element);
  const inner: Space = {
    ...space,
    style: space.document.drawParams.styleOf(element, space.resources, space.style),
    toPage: multiply(space.toPage, placement.matrix),
    depth: space.depth + GROUPS_A_USE,
    isInvisible: space.isInvisible || alpha <= 0,
  };
  if (unit.child('Content') === undefined) return pictureOf(unit, placement, alpha, inner, element);
  const shared = sharedUnit(unit, id, inner, element);
  if (shared === undefined || shared.group.items.length === 0) return [];
  return [
    {
      kind: 'group',
      matrix: placement.matrix,
      alpha: inner.isInvisible ? 1 : alpha,
      items: shared.group.isShared ? [shared.group] : shared.group.items,
      isShared: false,
      clips: [...clipsOf(element, space, placement), ...unitClip(unit, placement)],
      blendMode: blendModeOf(element, space.page),
    },
  ];
}

function findUnit(element: XmlElement, id: string | undefined, space: Space): XmlElement | undefined {
  const unit = id === undefined ? undefined : space.resources.find('composite', id)?.element;
  if (unit === undefined) {
    const message =
      id === undefined ? 'A composite object names no resource' : `Composite graphic unit ${id} is not defined`;
    space.page.report('reference_missing', message, element);
  }
  return unit;
}

/** Boundary cuts; a unit's own size, which is less often right, only where there is no Boundary. */
function unitClip(unit: XmlElement, { boundary, matrix }: Placement): readonly Clip[] {
  if (boundary !== undefined && hasArea(boundary)) return boundaryClip(boundary, BOUNDARY_SLACK_MM, undefined);
  const size = { x: 0, y: 0, width: unit.number('Width') ?? 0, height: unit.number('Height') ?? 0 };
  if (!hasArea(size)) return NO_CLIPS;
  return [{ path: rectanglePath(growBox(size, BOUNDARY_SLACK_MM)).transformed(matrix), rule: 'nonzero' }];
}

/** A unit without content is shown by the picture that it names instead. */
function pictureOf(
  unit: XmlElement,
  { boundary }: Placement,
  alpha: number,
  space: Space,
  element: XmlElement,
): Item[] {
  if (space.isInvisible) return [];
  if (boundary === undefined || !hasArea(boundary)) {
    space.page.report('object_invalid', 'A composite object has no Boundary for its picture and is left out', element);
    return [];
  }
  let fault: ImageFault | undefined;
  for (const name of ['Substitution', 'Thumbnail']) {
    const id = unit.id(name) ?? unit.childText(name);
    const found = id === undefined ? undefined : space.document.images.find(id, space.resources);
    if (found === undefined) continue;
    if (isFault(found)) {
      fault ??= found;
      continue;
    }
    const matrix: Matrix = [boundary.width, 0, 0, boundary.height, boundary.x, boundary.y];
    const { image } = found;
    return [{ kind: 'image', image, matrix, alpha, smooth: true, clips: NO_CLIPS, blendMode: 'normal' }];
  }
  const { code, message } = fault ?? { code: 'object_invalid', message: 'it has neither content nor a picture' };
  space.page.report(code, `Composite graphic unit ${unit.id('ID') ?? ''} is left out: ${message}`, element);
  return [];
}

/** The content of a unit as a group, the same object wherever it looks the same; undefined where limits forbid it. */
function sharedUnit(
  unit: XmlElement,
  id: string | undefined,
  space: Space,
  element: XmlElement,
): SharedGroup | undefined {
  const { page, document } = space;
  const cache = space.resources === document.body.resources ? document.sharedGroups : page.sharedGroups;
  const key = unit === element || id === undefined ? undefined : unitKey(id, space);
  const known = key === undefined ? undefined : cache.get(key);
  const outerDepth = space.depth - GROUPS_A_USE;
  if (outerDepth + (known?.height ?? GROUPS_A_USE) > document.limits.maxGroupDepth) {
    page.tally.isOneOff = true;
    page.report('nesting_cut', 'A composite object is nested too deep and left out', element);
    return undefined;
  }
  if (known !== undefined) {
    if (!page.count(known.objects, known.characters)) return undefined;
    page.reach(outerDepth + known.height);
    page.note(known.hasText, known.hasInk);
    return known;
  }
  if (page.open.has(unit)) {
    page.tally.isOneOff = true;
    page.report('reference_ring', `Composite graphic unit ${id} contains itself and is left out there`, element);
    return undefined;
  }
  page.open.add(unit);
  const { result, tally } = page.measure(() => {
    page.reach(space.depth);
    return document.buildObjects(unit.child('Content')!, space);
  });
  page.open.delete(unit);
  const canShare = key !== undefined && !tally.isOneOff;
  const shared: SharedGroup = {
    group: contentGroup(result, canShare),
    objects: tally.objects,
    characters: tally.characters,
    height: tally.deepest - outerDepth,
    hasText: tally.hasText,
    hasInk: tally.hasInk,
  };
  if (canShare) cache.set(key, shared);
  return shared;
}

function contentGroup(items: readonly Item[], isShared: boolean): Group {
  return { kind: 'group', matrix: IDENTITY, alpha: 1, items, isShared, clips: NO_CLIPS, blendMode: 'normal' };
}

/** What decides how a unit looks; undefined where it cannot be put into words. */
function unitKey(id: string, space: Space): string | undefined {
  const { style } = space;
  const fill = colorKey(style.fillColor, space);
  const stroke = colorKey(style.strokeColor, space);
  if (fill === undefined || stroke === undefined) return undefined;
  return JSON.stringify([
    id,
    [style.lineWidth, style.cap, style.join, style.miterLimit, style.dashOffset, style.dashPattern],
    [fill, stroke],
    [space.isInvisible, space.needsStrokeColor, space.multipliesFills],
    // Synthetic bold and the sharpness of enlarged pictures go by the size on the page.
    meanScale(space.toPage).toPrecision(3),
  ]);
}

/** A colour by what is written; '' for none, undefined for shadings and colours of other resources. */
function colorKey(source: ColorSource | undefined, space: Space): string | undefined {
  if (source === undefined) return '';
  if (source.resources !== space.resources || !isPlainColor(source.element)) return undefined;
  const { element } = source;
  return [...['Value', 'Index', 'ColorSpace', 'Alpha'].map((name) => element.attribute(name)), source.alpha].join('/');
}
