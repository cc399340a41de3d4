/** Outlines → Type 2 charstrings, for faces whose own descriptions cannot be taken over. */
import { CLOSE, COORDINATES_OF_VERB, LINE, MOVE, type Path, QUAD } from '../display/geometry.js';
import type { ByteWriter } from './bytes.js';

/** Fractions are kept to 1/64 unit. */
const GRID = 64;

/** Appends a number of a charstring: an integer, or 16.16 where it is none. */
export function writeCharstringNumber(writer: ByteWriter, value: number): void {
  if (!Number.isInteger(value) || value < -32768 || value > 32767) {
    writer.u8(255);
    writer.u32(Math.round(Math.max(-32768, Math.min(32767, value)) * 65536) >>> 0);
  } else if (value >= -107 && value <= 107) writer.u8(value + 139);
  else if (value >= 108 && value <= 1131) {
    writer.u8(247 + ((value - 108) >> 8));
    writer.u8((value - 108) & 0xff);
  } else if (value >= -1131 && value <= -108) {
    writer.u8(251 + ((-value - 108) >> 8));
    writer.u8((-value - 108) & 0xff);
  } else {
    writer.u8(28);
    writer.u16(value & 0xffff);
  }
}

/** Appends the whole charstring of a path, with its width (given relative to the nominal one, or undefined). */
export function writeCharstring(writer: ByteWriter, path: Path, widthDelta: number | undefined): void {
  if (widthDelta !== undefined) writeCharstringNumber(writer, widthDelta);
  const pen = { x: 0, y: 0 };
  let at = 0;
  for (const verb of path.verbs) {
    const points = path.coordinates.slice(at, at + COORDINATES_OF_VERB[verb as 0]);
    at += points.length;
    if (verb === CLOSE) continue;
    const segment = verb === QUAD ? raisedToCubic(pen, points) : points;
    for (let i = 0; i + 1 < segment.length; i += 2) writeStep(writer, pen, segment[i]!, segment[i + 1]!);
    writer.u8(verb === MOVE ? 21 : verb === LINE ? 5 : 8);
  }
  writer.u8(14);
}

function raisedToCubic(pen: { readonly x: number; readonly y: number }, points: readonly number[]): number[] {
  const [qx = 0, qy = 0, x = 0, y = 0] = points;
  const third = (a: number, b: number): number => a + ((b - a) * 2) / 3;
  return [third(pen.x, qx), third(pen.y, qy), third(x, qx), third(y, qy), x, y];
}

/** Steps are taken from where the rounded steps so far have led: errors do not add up. */
function writeStep(writer: ByteWriter, pen: { x: number; y: number }, x: number, y: number): void {
  const roundedX = Math.round(x * GRID) / GRID;
  const roundedY = Math.round(y * GRID) / GRID;
  writeCharstringNumber(writer, roundedX - pen.x);
  writeCharstringNumber(writer, roundedY - pen.y);
  pen.x = roundedX;
  pen.y = roundedY;
}
