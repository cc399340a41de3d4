/** Geometry of glyph runs that every drawing backend needs. */
import type { Face } from '../display/face.js';
import { type Box, type Matrix, Path } from '../display/geometry.js';
import type { GlyphRun } from '../display/list.js';

/** Outline space of glyph `i` (font units, y up) → run space. */
export function glyphMatrix(run: GlyphRun, i: number): Matrix {
  const k = run.sizeMm / run.face.unitsPerEm;
  const kx = k * (run.xScale?.[i] ?? 1);
  const [a, b, c, d] = run.shape;
  return [a * kx, b * kx, -c * k, -d * k, run.x[i] ?? 0, run.y[i] ?? 0];
}

/** All outlines of the run in run space as one path. */
export function runOutline(run: GlyphRun): Path {
  const path = new Path();
  for (let i = 0; i < run.glyphIds.length; i++) {
    path.addPath(run.face.outline(run.glyphIds[i]!), glyphMatrix(run, i));
  }
  return path;
}

const boxesOfFaces = new WeakMap<Face, Map<number, Box | undefined>>();

/** The box of a glyph's outline in font units; undefined for a blank glyph. */
export function glyphBox(face: Face, glyphId: number): Box | undefined {
  let boxes = boxesOfFaces.get(face);
  if (boxes === undefined) {
    boxes = new Map();
    boxesOfFaces.set(face, boxes);
  }
  if (!boxes.has(glyphId)) boxes.set(glyphId, face.outline(glyphId).controlBounds());
  return boxes.get(glyphId);
}

/** Whether the run shows anything at all. */
export function isRunVisible(run: GlyphRun): boolean {
  return run.fill !== undefined || run.stroke !== undefined;
}
