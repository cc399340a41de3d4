/** Axial and radial shadings to gradients with every period written out (format reference 6.3 to 6.5). */
import {
  type Box,
  invert,
  type Matrix,
  multiply,
  type Point,
  transformBox,
  transformPoint,
} from '../../display/geometry.js';
import type { Color, GradientStop, Paint } from '../../display/paint.js';
import type { XmlElement } from '../xml.js';
import type { PaintedShape } from './placement.js';

interface ShadedColor {
  readonly color: Color;
  readonly alpha: number;
}

type ColorReader = (element: XmlElement) => ShadedColor;
type MapType = 'direct' | 'repeat' | 'reflect';

/** More periods than this on one object are finer than any device. */
const MAX_PERIODS = 512;
/** More colours than this along one shading, all periods counted, are finer than any device. */
const MAX_STOPS = 4096;
/** A period below this is none. */
const MIN_UNIT_MM = 1e-6;
/** Lengths and places beyond this are slips of the producer. */
const MAX_LENGTH_MM = 1e6;
/** Points looked at along each side of a shape to find how far a radial shading reaches. */
const SAMPLES = 24;

/** AxialShd; undefined where it paints nothing. */
export function axialPaint(element: XmlElement, colorOf: ColorReader, shape: PaintedShape): Paint | undefined {
  const stops = readStops(element, colorOf);
  const flat = flatPaint(stops);
  const start = pointOf(element, 'StartPoint') ?? { x: 0, y: 0 };
  const end = pointOf(element, 'EndPoint') ?? start;
  const extend = extendOf(element);
  const length = Math.hypot(end.x - start.x, end.y - start.y);
  if (stops.length < 2) return flat;
  if (length < 1e-9) return extend.start || extend.end ? flat : undefined;
  const common = { kind: 'axial', matrix: shape.origin, extendStart: extend.start, extendEnd: extend.end } as const;
  const mapType = mapTypeOf(element);
  if (mapType === 'direct') return { ...common, start, end, stops: padded(stops) };
  const axis = { x: (end.x - start.x) / length, y: (end.y - start.y) / length };
  const [near, far] = axialReach(start, axis, length, shape);
  const from = Math.max(near, extend.start ? near : 0);
  const to = Math.min(far, extend.end ? far : length);
  if (to <= from) return undefined;
  const unit = mapUnitOf(element, length);
  return {
    ...common,
    start: { x: start.x + axis.x * from, y: start.y + axis.y * from },
    end: { x: start.x + axis.x * to, y: start.y + axis.y * to },
    stops: spread(stops, mapType, from / unit, to / unit),
  };
}

/** The stretch of the axis that the shape covers, in millimetres from the start. */
function axialReach(start: Point, axis: Point, length: number, shape: PaintedShape): readonly [number, number] {
  const box = boundsIn(shape.origin, shape);
  if (box === undefined) return [0, length];
  const corners = [0, 1, 2, 3].map((corner) => {
    const x = box.x + (corner & 1 ? box.width : 0) - start.x;
    const y = box.y + (corner & 2 ? box.height : 0) - start.y;
    return x * axis.x + y * axis.y;
  });
  return [Math.min(...corners), Math.max(...corners)];
}

function boundsIn(matrix: Matrix, shape: PaintedShape): Box | undefined {
  const bounds = shape.bounds();
  const inverse = invert(matrix);
  return bounds === undefined || inverse === undefined ? undefined : transformBox(inverse, bounds);
}

/** RadialShd; undefined where it paints nothing. */
export function radialPaint(element: XmlElement, colorOf: ColorReader, shape: PaintedShape): Paint | undefined {
  const stops = readStops(element, colorOf);
  if (stops.length < 2) return flatPaint(stops);
  const cone = readCone(element, shape.origin);
  const extend = extendOf(element);
  const distance = Math.hypot(cone.end.x, cone.end.y);
  const growth = cone.endRadius - cone.startRadius;
  if (distance < 1e-9 && Math.abs(growth) < 1e-9) return extend.start || extend.end ? flatPaint(stops) : undefined;
  const common = { kind: 'radial', matrix: cone.matrix, extendStart: extend.start, extendEnd: extend.end } as const;
  const mapType = mapTypeOf(element);
  if (mapType === 'direct') {
    const { startRadius, end, endRadius } = cone;
    return { ...common, start: { x: 0, y: 0 }, startRadius, end, endRadius, stops: padded(stops) };
  }
  const axisLength = cone.centreDistance < 1e-9 ? Math.abs(growth) : cone.centreDistance;
  const periods = axisLength / mapUnitOf(element, axisLength);
  const [from, to] = radialReach(cone, extend, shape);
  if (to <= from) return undefined;
  return {
    ...common,
    start: { x: cone.end.x * from, y: cone.end.y * from },
    startRadius: Math.max(0, cone.startRadius + growth * from),
    end: { x: cone.end.x * to, y: cone.end.y * to },
    endRadius: Math.max(0, cone.startRadius + growth * to),
    stops: spread(stops, mapType, from * periods, to * periods),
  };
}

/** Two circles in a space where the ellipses are circles and the start centre is the origin. */
interface Cone {
  /** That space → the group. */
  readonly matrix: Matrix;
  readonly startRadius: number;
  readonly end: Point;
  readonly endRadius: number;
  /** Between the centres as written, in millimetres. */
  readonly centreDistance: number;
}

function readCone(element: XmlElement, origin: Matrix): Cone {
  const start = pointOf(element, 'StartPoint') ?? { x: 0, y: 0 };
  const end = pointOf(element, 'EndPoint') ?? start;
  const stated = element.number('Eccentricity') ?? 0;
  const eccentricity = stated > 0 && stated < 1 ? stated : 0;
  const flattening = Math.sqrt(1 - eccentricity * eccentricity);
  const angle = (((element.number('Angle') ?? 0) % 360) * Math.PI) / 180;
  const cos = Math.cos(angle);
  const sin = Math.sin(angle);
  const ellipse: Matrix = [cos, sin, -sin * flattening, cos * flattening, start.x, start.y];
  const inverse = invert(ellipse);
  return {
    matrix: multiply(origin, ellipse),
    startRadius: Math.min(Math.abs(element.number('StartRadius') ?? 0), MAX_LENGTH_MM),
    end: inverse === undefined ? { x: 0, y: 0 } : transformPoint(inverse, end.x, end.y),
    endRadius: Math.min(Math.abs(element.number('EndRadius') ?? 0), MAX_LENGTH_MM),
    centreDistance: Math.hypot(end.x - start.x, end.y - start.y),
  };
}

/** The parameters between which the shape is painted, from a grid of points over it. */
function radialReach(cone: Cone, extend: Extend, shape: PaintedShape): readonly [number, number] {
  const box = boundsIn(cone.matrix, shape);
  let from = 0;
  let to = 1;
  if (box === undefined || !(extend.start || extend.end)) return [from, to];
  for (let i = 0; i <= SAMPLES; i++) {
    for (let j = 0; j <= SAMPLES; j++) {
      const s = parameterAt(cone, box.x + (box.width * i) / SAMPLES, box.y + (box.height * j) / SAMPLES, extend);
      if (s === undefined) continue;
      from = Math.min(from, s);
      to = Math.max(to, s);
    }
  }
  // Between the points of the grid the parameter may go a little further.
  const margin = (to - from) / SAMPLES;
  const growth = cone.endRadius - cone.startRadius;
  const apex = growth === 0 ? undefined : -cone.startRadius / growth;
  if (extend.start) from = Math.max(from - margin, growth > 0 ? (apex ?? from) : -Infinity);
  if (extend.end) to = Math.min(to + margin, growth < 0 ? (apex ?? to) : Infinity);
  return [from, to];
}

/** The greatest s whose circle passes through a point, within what is painted. */
function parameterAt(cone: Cone, x: number, y: number, extend: Extend): number | undefined {
  const growth = cone.endRadius - cone.startRadius;
  const a = cone.end.x ** 2 + cone.end.y ** 2 - growth ** 2;
  const b = x * cone.end.x + y * cone.end.y + cone.startRadius * growth;
  const c = x * x + y * y - cone.startRadius ** 2;
  const isPainted = (s: number) =>
    Number.isFinite(s) && cone.startRadius + s * growth >= 0 && (s >= 0 || extend.start) && (s <= 1 || extend.end);
  if (Math.abs(a) < 1e-12) {
    const s = c / (2 * b);
    return isPainted(s) ? s : undefined;
  }
  const discriminant = b * b - a * c;
  if (discriminant < 0) return undefined;
  const root = Math.sqrt(discriminant);
  const high = Math.max((b + root) / a, (b - root) / a);
  const low = Math.min((b + root) / a, (b - root) / a);
  return [high, low].find(isPainted);
}

interface Extend {
  readonly start: boolean;
  readonly end: boolean;
}

function extendOf(element: XmlElement): Extend {
  const extend = element.integer('Extend') ?? 0;
  return { start: (extend & 1) !== 0, end: (extend & 2) !== 0 };
}

function pointOf(element: XmlElement, name: string): Point | undefined {
  const point = element.position(name);
  return point && Math.max(Math.abs(point.x), Math.abs(point.y)) <= MAX_LENGTH_MM ? point : undefined;
}

function mapTypeOf(element: XmlElement): MapType {
  const name = element.attribute('MapType')?.trim().toLowerCase();
  return name === 'repeat' || name === 'reflect' ? name : 'direct';
}

function mapUnitOf(element: XmlElement, axisLength: number): number {
  const unit = element.number('MapUnit') ?? 0;
  return unit > MIN_UNIT_MM ? unit : axisLength;
}

/** The paint of a shading that has come down to one colour: that of its last stop. */
function flatPaint(stops: readonly GradientStop[]): Paint | undefined {
  const last = stops[stops.length - 1];
  return last === undefined || last.alpha <= 0 ? undefined : { kind: 'solid', color: last.color, alpha: last.alpha };
}

/** Segments with their positions completed, brought into 0…1 and in order. */
function readStops(element: XmlElement, colorOf: ColorReader): GradientStop[] {
  const written = element.childrenNamed('Segment').filter((segment) => segment.child('Color') !== undefined);
  const every = Math.ceil(written.length / MAX_STOPS);
  const kept = written.filter((_, index) => index % every === 0 || index === written.length - 1);
  const segments = kept.map((segment) => ({
    position: segment.number('Position'),
    ...colorOf(segment.child('Color')!),
  }));
  const offsets = completePositions(segments.map((segment) => segment.position));
  return segments.map(({ color, alpha }, index) => ({ offset: offsets[index]!, color, alpha }));
}

/** The first is 0 and the last 1 where they say nothing; others without a position stand evenly between neighbours. */
function completePositions(stated: readonly (number | undefined)[]): number[] {
  const last = stated.length - 1;
  const most = stated.reduce<number>((greatest, position) => Math.max(greatest, position ?? 0), 1);
  const known = stated.map((position, index) => {
    if (position !== undefined) return Math.min(Math.max(position / most, 0), 1);
    return index === 0 ? 0 : index === last ? 1 : undefined;
  });
  const complete: number[] = [];
  known.forEach((position, index) => {
    let offset = position;
    if (offset === undefined) {
      const next = known.findIndex((later, at) => at > index && later !== undefined);
      const before = complete[index - 1]!;
      offset = before + (known[next]! - before) / (next - index + 1);
    }
    complete.push(Math.max(offset, complete[index - 1] ?? 0));
  });
  return complete;
}

/** The stops with ends at 0 and 1. */
function padded(stops: readonly GradientStop[]): GradientStop[] {
  const first = stops[0]!;
  const last = stops[stops.length - 1]!;
  return [
    ...(first.offset > 0 ? [{ ...first, offset: 0 }] : []),
    ...stops,
    ...(last.offset < 1 ? [{ ...last, offset: 1 }] : []),
  ];
}

/**
 * Repeats or mirrors one period of stops from `first` to `last`, both counted in periods; where those are too many, longer
 * periods stand for them.
 */
function spread(stops: readonly GradientStop[], mapType: MapType, first: number, last: number): GradientStop[] {
  const mostPeriods = Math.min(MAX_PERIODS, Math.max(1, Math.floor(MAX_STOPS / stops.length)));
  const stretch = Math.min(1, mostPeriods / (last - first));
  const from = first * stretch;
  const end = last * stretch;
  const forward = padded(stops);
  const backward = forward.map((stop) => ({ ...stop, offset: 1 - stop.offset })).reverse();
  const result: GradientStop[] = [];
  for (let period = Math.floor(from); period < end; period++) {
    const isMirrored = mapType === 'reflect' && Math.abs(period % 2) === 1;
    const own = isMirrored ? backward : forward;
    if (from >= period) result.push({ ...colorAt(own, from - period), offset: 0 });
    for (const stop of own) {
      const at = period + stop.offset;
      if (at > from && at < end) result.push({ ...stop, offset: (at - from) / (end - from) });
    }
    if (end <= period + 1) result.push({ ...colorAt(own, end - period), offset: 1 });
  }
  return result;
}

function colorAt(stops: readonly GradientStop[], offset: number): GradientStop {
  const after = stops.findIndex((stop) => stop.offset >= offset);
  const right = stops[after < 0 ? stops.length - 1 : after]!;
  const left = stops[Math.max(0, after - 1)]!;
  if (after <= 0 || right.offset <= left.offset) return right;
  const ratio = (offset - left.offset) / (right.offset - left.offset);
  const mix = (a: number, b: number) => a + (b - a) * ratio;
  return {
    offset,
    color: [mix(left.color[0], right.color[0]), mix(left.color[1], right.color[1]), mix(left.color[2], right.color[2])],
    alpha: mix(left.alpha, right.alpha),
  };
}
