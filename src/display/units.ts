/** The only file that knows how many points or pixels a millimetre has. */

export const MM_PER_INCH = 25.4;
export const POINTS_PER_INCH = 72;
export const POINTS_PER_MM = POINTS_PER_INCH / MM_PER_INCH;

export function mmToPoints(mm: number): number {
  return mm * POINTS_PER_MM;
}

/** Pixels for a length at a resolution; not rounded. */
export function mmToPixels(mm: number, dpi: number): number {
  return (mm * dpi) / MM_PER_INCH;
}

export function pixelsPerMm(dpi: number): number {
  return dpi / MM_PER_INCH;
}
