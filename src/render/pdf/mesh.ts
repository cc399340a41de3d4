/** Meshes as free-form triangle shadings: every triangle begins anew, so that any order and overlap can be told. */
import type { MeshColor, MeshPaint } from '../../display/paint.js';
import type { PdfFile } from './file.js';
import { roundFactor } from './number.js';
import type { Reference } from './pdf-lib.js';

export type ShadingSpace = 'DeviceRGB' | 'DeviceGray';

/** The channels, 0…1, of a colour in a shading's space. */
export type Channels = (color: MeshColor) => number[];

const COORDINATE_MAX = 2 ** 32 - 1;
const CHANNEL_MAX = 2 ** 16 - 1;

/** A flag of a byte, two coordinates of four bytes, channels of two. */
export function meshShading(file: PdfFile, paint: MeshPaint, colorSpace: ShadingSpace, channels: Channels): Reference {
  const { vertices, triangles, background } = paint;
  const channelCount = colorSpace === 'DeviceRGB' ? 3 : 1;
  const x = rangeOf(vertices.map((vertex) => vertex.x));
  const y = rangeOf(vertices.map((vertex) => vertex.y));
  const bytes = Buffer.alloc(triangles.length * (9 + 2 * channelCount));
  let at = 0;
  for (const index of triangles) {
    const vertex = vertices[index]!;
    at = bytes.writeUInt8(0, at);
    at = bytes.writeUInt32BE(within(x, vertex.x), at);
    at = bytes.writeUInt32BE(within(y, vertex.y), at);
    for (const channel of channels(vertex)) at = bytes.writeUInt16BE(Math.round(channel * CHANNEL_MAX), at);
  }
  const entries = {
    ShadingType: 4,
    ColorSpace: colorSpace,
    BitsPerCoordinate: 32,
    BitsPerComponent: 16,
    BitsPerFlag: 8,
    Decode: [...x, ...y, ...Array.from({ length: channelCount }, () => [0, 1]).flat()],
    ...(background === undefined ? {} : { Background: channels(background).map(roundFactor) }),
  };
  return file.addStreamOnce(entries, bytes);
}

type Range = readonly [low: number, high: number];

/** Not empty, and exactly what is written for it. */
function rangeOf(values: readonly number[]): Range {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return [Math.floor(low), Math.max(Math.ceil(high), Math.floor(low) + 1)];
}

function within([low, high]: Range, value: number): number {
  return Math.round(((value - low) / (high - low)) * COORDINATE_MAX);
}
