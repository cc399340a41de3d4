/** Clips: each Clip the union of its Areas, all of them together an intersection. */
import {
  type Box,
  COORDINATES_OF_VERB,
  IDENTITY,
  intersectBoxes,
  type Matrix,
  MOVE,
  multiply,
  Path,
} from '../../display/geometry.js';
import type { Clip, FillRule } from '../../display/list.js';
import type { XmlElement } from '../xml.js';
import type { Space } from './context.js';
import { parsePathData } from './path-data.js';
import { hasArea, isDrawable, NO_CLIPS, type Placement, placementOf } from './placement.js';
import { layOutText } from './text-layout.js';
import { addOutlines } from './text-outline.js';

/** Clips of one object that are looked at: the time that they take grows with their number, on everything drawn in them. */
const MAX_CLIPS = 256;

/** The region of one Area, in the space that its CTM leads to. */
interface Region {
  readonly path: Path;
  readonly rule: FillRule;
}

/** The Clips of an object, in the space of its group; empty clips hide nothing (format reference 4.3). */
export function clipsOf(element: XmlElement, space: Space, placement: Placement): readonly Clip[] {
  const clips = element.child('Clips');
  if (clips === undefined) return NO_CLIPS;
  const regions = differentRegions(element, clips.childrenNamed('Clip'), space);
  if (regions.length === 0) return NO_CLIPS;
  const plain = regions.map((region) => moved(region, placement.origin));
  const ctm = placement.matrix;
  if (placement.ctm === undefined || !isDrawable(ctm)) return plain;
  const follows = clips.boolean('TransFlag');
  if (follows === false) return plain;
  const turned = regions.map((region) => moved(region, ctm));
  if (follows === true) return turned;
  const { boundary } = placement;
  if (boundary === undefined || !hasArea(boundary)) return plain;
  return overlap(turned, boundary) > overlap(plain, boundary) ? turned : plain;
}

/** The region of each Clip, equal ones once. */
function differentRegions(owner: XmlElement, clips: readonly XmlElement[], space: Space): Region[] {
  const regions = new Map<string, Region>();
  for (const clip of clips) {
    const areas = clip.childrenNamed('Area').flatMap((area) => areaRegions(area, space));
    if (areas.length === 0) continue;
    const region = areas.length === 1 ? areas[0]! : union(areas);
    const { verbs, coordinates } = region.path;
    const key = clips.length === 1 ? '' : [region.rule, verbs.join(''), coordinates.join(' ')].join();
    regions.set(key, region);
    if (regions.size <= MAX_CLIPS) continue;
    regions.delete(key);
    space.page.report('clips_cut', `An object is cut by more than ${MAX_CLIPS} clips; the rest is not used`, owner);
    break;
  }
  return [...regions.values()];
}

function moved(region: Region, matrix: Matrix): Clip {
  return { path: region.path.transformed(matrix), rule: region.rule };
}

/** How well the box of all clips together fits Boundary: shared by joint area. */
function overlap(clips: readonly Clip[], boundary: Box): number {
  let box: Box | undefined;
  for (const { path } of clips) {
    const bounds = path.controlBounds();
    if (bounds === undefined) return 0;
    box = box === undefined ? bounds : intersectBoxes(box, bounds);
    if (box === undefined) return 0;
  }
  const shared = box === undefined ? undefined : intersectBoxes(box, boundary);
  if (box === undefined || shared === undefined) return 0;
  const sharedArea = shared.width * shared.height;
  return sharedArea / (box.width * box.height + boundary.width * boundary.height - sharedArea || 1);
}

/** The regions of an Area, which holds a Path or a Text; none where they are empty. */
function areaRegions(area: XmlElement, space: Space): Region[] {
  const ctm = area.matrix('CTM') ?? IDENTITY;
  return area.children.flatMap((child): Region[] => {
    const placement = placementOf(child);
    const matrix = multiply(ctm, placement.matrix);
    if (!isDrawable(matrix)) {
      space.page.report('object_invalid', 'A clip of no area is left out: its matrix flattens it');
      return [];
    }
    if (child.name === 'Path' || child.name === 'PathObject') {
      const { path: data, dropped } = parsePathData(child.childText('AbbreviatedData') ?? '');
      if (dropped > 0) {
        space.page.report('path_malformed', `${dropped} commands of a clip's path cannot be read; the rest is used`);
      }
      const path = data.transformed(matrix);
      const isOdd = child.attribute('Rule')?.toLowerCase().includes('odd');
      return path.isEmpty ? [] : [{ path, rule: isOdd ? 'evenodd' : 'nonzero' }];
    }
    if (child.name !== 'Text' && child.name !== 'TextObject') {
      space.page.report('unsupported', `A clip by ${child.name} is left out`);
      return [];
    }
    const layout = layOutText(child, space);
    const path = new Path();
    if (layout !== undefined) addOutlines(path, layout, matrix);
    return path.isEmpty ? [] : [{ path, rule: 'nonzero' }];
  });
}

/**
 * Several regions as one path. Under the nonzero rule all must turn the same way, or two that overlap would cancel out;
 * an even-odd region keeps its holes where no other region touches it.
 */
function union(regions: readonly Region[]): Region {
  const isApart = regions.every((region, index) =>
    regions.slice(index + 1).every((other) => !touches(region.path, other.path)),
  );
  const path = new Path();
  if (isApart && regions.some((region) => region.rule === 'evenodd')) {
    for (const region of regions) path.addPath(region.path);
    return { path, rule: 'evenodd' };
  }
  for (const region of regions) addTurned(path, region.path);
  return { path, rule: 'nonzero' };
}

function touches(a: Path, b: Path): boolean {
  const first = a.controlBounds();
  const second = b.controlBounds();
  return first !== undefined && second !== undefined && intersectBoxes(first, second) !== undefined;
}

/** Appends `from` so that its signed area is positive: mirrored in direction where it is not. */
function addTurned(path: Path, from: Path): void {
  if (signedArea(from) >= 0) {
    path.addPath(from);
    return;
  }
  for (const figure of figures(from)) addReversed(path, figure);
}

/** Twice the area within the control polygon, by its end points. */
function signedArea(path: Path): number {
  let area = 0;
  for (const figure of figures(path)) {
    const { points } = figure;
    points.forEach((point, index) => {
      const next = points[(index + 1) % points.length]!;
      area += point[0] * next[1] - next[0] * point[1];
    });
  }
  return area;
}

interface Figure {
  readonly verbs: readonly number[];
  /** All points, control points among them. */
  readonly points: readonly (readonly [number, number])[];
}

function figures(path: Path): Figure[] {
  const list: { verbs: number[]; points: [number, number][] }[] = [];
  let at = 0;
  for (const verb of path.verbs) {
    if (verb === MOVE || list.length === 0) list.push({ verbs: [], points: [] });
    const figure = list[list.length - 1]!;
    figure.verbs.push(verb);
    for (let end = at + COORDINATES_OF_VERB[verb as 0]; at < end; at += 2) {
      figure.points.push([path.coordinates[at]!, path.coordinates[at + 1]!]);
    }
  }
  return list;
}

/** The figure from its end to its start; as a region it needs no explicit close. */
function addReversed(path: Path, { verbs, points }: Figure): void {
  const reversed = [...points].reverse();
  const [first] = reversed;
  if (first === undefined) return;
  path.moveTo(first[0], first[1]);
  for (const point of reversed.slice(1)) path.coordinates.push(point[0], point[1]);
  for (const verb of [...verbs].reverse()) {
    if (COORDINATES_OF_VERB[verb as 0] > 0 && verb !== MOVE) path.verbs.push(verb);
  }
  path.close();
}
