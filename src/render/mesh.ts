/** Meshes of coloured triangles as pixels: each pixel belongs to the triangle that holds its centre, so there are no seams. */
import { type Matrix, type Point, transformPoint } from '../display/geometry.js';
import type { MeshColor, MeshPaint, MeshVertex } from '../display/paint.js';

/** Red, green, blue, opacity; all 0…255. */
const CHANNELS = 4;

/** Pixels that `meshPixels` visits, those of overlapping triangles each time. */
export function meshWork(paint: MeshPaint, toPixels: Matrix, width: number, height: number): number {
  const corners = paint.vertices.map(({ x, y }) => transformPoint(toPixels, x, y));
  let work = width * height;
  for (let i = 0; i + 2 < paint.triangles.length; i += 3) {
    const [a, b, c] = cornersAt(paint, corners, i);
    const columns = Math.min(width, Math.max(a.x, b.x, c.x)) - Math.max(0, Math.min(a.x, b.x, c.x));
    const rows = Math.min(height, Math.max(a.y, b.y, c.y)) - Math.max(0, Math.min(a.y, b.y, c.y));
    // Half of its box at most.
    if (columns > 0 && rows > 0) work += (columns * rows) / 2;
  }
  return work;
}

/** RGBA, alpha not multiplied in, of the mesh over `width` × `height` pixels; `toPixels` leads there from the mesh's space. */
export function meshPixels(paint: MeshPaint, toPixels: Matrix, width: number, height: number): Uint8Array {
  const pixels = new Uint8Array(width * height * CHANNELS);
  if (paint.background !== undefined) fillWith(pixels, paint.background);
  const corners = paint.vertices.map(({ x, y }) => transformPoint(toPixels, x, y));
  for (let i = 0; i + 2 < paint.triangles.length; i += 3) {
    const places = cornersAt(paint, corners, i);
    const colors = cornersAt(paint, paint.vertices, i);
    fillTriangle(pixels, width, height, places, colors.map(channelsOf));
  }
  return pixels;
}

type Three<T> = readonly [T, T, T];

function cornersAt<T>({ triangles }: MeshPaint, of: readonly T[], at: number): Three<T> {
  return [of[triangles[at]!]!, of[triangles[at + 1]!]!, of[triangles[at + 2]!]!];
}

function channelsOf({ color, alpha }: MeshColor | MeshVertex): readonly number[] {
  return [...color, alpha * 255];
}

function fillWith(pixels: Uint8Array, background: MeshColor): void {
  const channels = channelsOf(background).map(Math.round);
  for (let at = 0; at < pixels.length; at += CHANNELS) pixels.set(channels, at);
}

/** Row by row between the two edges that cross it; a centre on an edge belongs to the right and lower side of it. */
function fillTriangle(
  pixels: Uint8Array,
  width: number,
  height: number,
  [a, b, c]: Three<Point>,
  [atA, atB, atC]: readonly (readonly number[])[],
): void {
  const area = (b.x - a.x) * (c.y - a.y) - (c.x - a.x) * (b.y - a.y);
  if (!(Math.abs(area) > 0) || !Number.isFinite(area)) return;
  // The colour is a plane over the page: its value at A, and its slopes.
  const slopes = atA!.map((value, i) => {
    const toB = atB![i]! - value;
    const toC = atC![i]! - value;
    const alongX = (toB * (c.y - a.y) - toC * (b.y - a.y)) / area;
    const alongY = (toC * (b.x - a.x) - toB * (c.x - a.x)) / area;
    return { value, alongX, alongY };
  });
  const firstRow = Math.max(0, Math.ceil(Math.min(a.y, b.y, c.y) - 0.5));
  const endRow = Math.min(height, Math.ceil(Math.max(a.y, b.y, c.y) - 0.5));
  for (let row = firstRow; row < endRow; row++) {
    const [left, right] = crossings([a, b, c], row + 0.5);
    const first = Math.max(0, Math.ceil(left - 0.5));
    const end = Math.min(width, Math.ceil(right - 0.5));
    for (let column = first; column < end; column++) {
      const dx = column + 0.5 - a.x;
      const dy = row + 0.5 - a.y;
      const at = (row * width + column) * CHANNELS;
      for (let i = 0; i < CHANNELS; i++) {
        const { value, alongX, alongY } = slopes[i]!;
        const channel = value + alongX * dx + alongY * dy;
        pixels[at + i] = channel <= 0 ? 0 : channel >= 255 ? 255 : channel + 0.5;
      }
    }
  }
}

/** Where the line at height `y` enters and leaves the triangle. */
function crossings(corners: Three<Point>, y: number): readonly [number, number] {
  let left = Infinity;
  let right = -Infinity;
  for (let i = 0; i < 3; i++) {
    const from = corners[i]!;
    const to = corners[(i + 1) % 3]!;
    // Both triangles at an edge compute its place from the same end.
    const [low, high] = from.y < to.y ? [from, to] : [to, from];
    if (y < low.y || y >= high.y) continue;
    const x = low.x + ((high.x - low.x) * (y - low.y)) / (high.y - low.y);
    left = Math.min(left, x);
    right = Math.max(right, x);
  }
  return [left, right];
}
