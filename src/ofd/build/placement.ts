/** Where an object stands: its Boundary and CTM as matrices, the clip to Boundary, the opacity. */
import {
  type Box,
  growBox,
  IDENTITY,
  type Matrix,
  multiply,
  rectanglePath,
  translation,
} from '../../display/geometry.js';
import { BLEND_MODES, type BlendMode, type Clip } from '../../display/list.js';
import type { XmlElement } from '../xml.js';
import type { PageState } from './context.js';

/** A matrix beyond these sends everything off any sheet, or flattens it. */
const MAX_ENTRY = 1e9;
const MIN_DETERMINANT = 1e-14;

export interface Placement {
  /** In the space of the group; undefined where the producer forgot it. */
  readonly boundary: Box | undefined;
  /** Boundary's corner → the group: the space of shadings. */
  readonly origin: Matrix;
  /** CTM as written. */
  readonly ctm: Matrix | undefined;
  /** Object space → the group. */
  readonly matrix: Matrix;
}

/** What is to be painted; all of it in the space of the group. */
export interface PaintedShape {
  /** Boundary's corner → the group. */
  readonly origin: Matrix;
  /** Object space → the group. */
  readonly matrix: Matrix;
  /** A box around the shape; undefined where nobody knows. */
  bounds(): Box | undefined;
}

export function placementOf(element: XmlElement): Placement {
  const boundary = element.box('Boundary');
  const origin = boundary === undefined ? IDENTITY : translation(boundary.x, boundary.y);
  const ctm = element.matrix('CTM');
  return { boundary, origin, ctm, matrix: ctm === undefined ? origin : multiply(origin, ctm) };
}

/** Whether things moved by `matrix` can be seen at all. */
export function isDrawable(matrix: Matrix): boolean {
  const isFlat = Math.abs(matrix[0] * matrix[3] - matrix[1] * matrix[2]) < MIN_DETERMINANT;
  return !isFlat && matrix.every((entry) => Math.abs(entry) < MAX_ENTRY);
}

/** Whether things moved by `matrix` can be seen; where they cannot, it is told that the object is left out. */
export function checkDrawable(matrix: Matrix, element: XmlElement, page: PageState): boolean {
  if (isDrawable(matrix)) return true;
  const ctm = element.attribute('CTM')?.trim() ?? '';
  page.report('object_invalid', `Nothing can be drawn under the CTM "${ctm}"; the object is left out`, element);
  return false;
}

/** Whether a box has an area; many producers write boxes that have none. */
export function hasArea(box: Box): boolean {
  return box.width > 0 && box.height > 0;
}

/**
 * The clip to Boundary with `slack` on all sides; none where Boundary is no box, or where `ink` lies within. Producers
 * leave line widths out of Boundary, so a tight clip would cut what is meant to be seen.
 */
export function boundaryClip(boundary: Box | undefined, slack: number, ink: Box | undefined): readonly Clip[] {
  if (boundary === undefined || !hasArea(boundary)) return NO_CLIPS;
  const box = growBox(boundary, slack);
  if (ink !== undefined && contains(box, ink)) return NO_CLIPS;
  return [{ path: rectanglePath(box), rule: 'nonzero' }];
}

export const NO_CLIPS: readonly Clip[] = [];

export function contains(outer: Box, inner: Box): boolean {
  return (
    inner.x >= outer.x &&
    inner.y >= outer.y &&
    inner.x + inner.width <= outer.x + outer.width &&
    inner.y + inner.height <= outer.y + outer.height
  );
}

/** Opacity 0…1 of an attribute 0…255; absent is opaque. */
export function opacityOf(element: XmlElement): number {
  return opacity(element.number('Alpha'));
}

export function opacity(alpha: number | undefined): number {
  return alpha === undefined ? 1 : Math.min(Math.max(alpha, 0), 255) / 255;
}

/** The vendors' attribute BlendMode, in the spelling of PDF or CSS; one that nobody knows is reported. */
export function blendModeOf(element: XmlElement, page: PageState): BlendMode {
  const written = element.attribute('BlendMode');
  if (written === undefined) return 'normal';
  const letters = written.toLowerCase().replace(/[^a-z]/g, '');
  const mode = BLEND_MODES.find((name) => name.replace('-', '') === letters);
  if (mode === undefined && letters !== '') {
    page.report('unsupported', `BlendMode "${written.trim()}" is not known; the object is painted plainly`, element);
  }
  return mode ?? 'normal';
}
