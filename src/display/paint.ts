/** What fills a shape or a line. Everything is resolved: sRGB, explicit stops, explicit matrices. */
import type { Matrix, Point } from './geometry.js';
import type { Item } from './list.js';

/** sRGB, each channel 0…255 (not necessarily whole). */
export type Color = readonly [number, number, number];

export const BLACK: Color = [0, 0, 0];

export interface SolidPaint {
  readonly kind: 'solid';
  readonly color: Color;
  /** Opacity 0…1, those of the object and its containers multiplied in. */
  readonly alpha: number;
}

/** Offsets rise from 0 to 1; two stops may share an offset (a hard edge). At least two stops. */
export interface GradientStop {
  readonly offset: number;
  readonly color: Color;
  readonly alpha: number;
}

/** Repeating and mirrored gradients arrive here already written out as stops. */
interface Gradient {
  /** Gradient space → the space of the item's group. */
  readonly matrix: Matrix;
  readonly stops: readonly GradientStop[];
  /** Whether the first (last) colour goes on before the start (after the end); if not, nothing is painted there. */
  readonly extendStart: boolean;
  readonly extendEnd: boolean;
}

export interface AxialPaint extends Gradient {
  readonly kind: 'axial';
  readonly start: Point;
  readonly end: Point;
}

/** Two circles, as in PDF shading type 3; an ellipse is a circle under `matrix`. */
export interface RadialPaint extends Gradient {
  readonly kind: 'radial';
  readonly start: Point;
  readonly startRadius: number;
  readonly end: Point;
  readonly endRadius: number;
}

/** A cell repeated over the plane: cell (i, j) stands at `matrix · T(i·xStep, j·yStep)`, each clipped to width × height. */
export interface TilingPaint {
  readonly kind: 'tiling';
  /** Pattern space → the space of the item's group. */
  readonly matrix: Matrix;
  readonly width: number;
  readonly height: number;
  /** At least width and height. */
  readonly xStep: number;
  readonly yStep: number;
  readonly items: readonly Item[];
  readonly alpha: number;
}

/** Triangles with a colour at each corner, blended in between. Where they overlap, the later one is seen. */
export interface MeshPaint {
  readonly kind: 'mesh';
  /** Mesh space → the space of the item's group. */
  readonly matrix: Matrix;
  readonly vertices: readonly MeshVertex[];
  /** Indices into `vertices`, three a triangle. At least one triangle. */
  readonly triangles: readonly number[];
  /** What stands where no triangle is; nothing where absent. */
  readonly background?: MeshColor;
}

/** Opacity 0…1. */
export interface MeshColor {
  readonly color: Color;
  readonly alpha: number;
}

export interface MeshVertex extends Point, MeshColor {}

export type Paint = SolidPaint | AxialPaint | RadialPaint | TilingPaint | MeshPaint;

/** A pen in the space of the item's own data: the item's matrix scales it (an uneven matrix makes it elliptical). */
export interface Stroke {
  readonly paint: Paint;
  /** 0 means the thinnest line that the device draws; every line is at least one device pixel wide on a raster. */
  readonly widthMm: number;
  readonly cap: 'butt' | 'round' | 'square';
  readonly join: 'miter' | 'round' | 'bevel';
  /** A ratio as in PDF and SVG, 1…100. */
  readonly miterLimit: number;
  /** Lengths of dash, gap, dash …; empty for a solid line. Never negative, never all zero. */
  readonly dash: readonly number[];
  readonly dashOffset: number;
}
