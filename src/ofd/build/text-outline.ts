/** Outlines of laid-out text, for clips. */
import { type Matrix, multiply, type Path } from '../../display/geometry.js';
import { shapeOf, type TextLayout } from './text-layout.js';

/** Appends the outlines of all glyphs, moved from the object's space by `matrix`. */
export function addOutlines(path: Path, layout: TextLayout, matrix: Matrix): void {
  for (const run of layout.runs) {
    if (!run.hasGlyphs) continue;
    const { face } = run.styled;
    const scale = layout.sizeMm / face.unitsPerEm;
    const [a, b, c, d] = shapeOf(layout, run.styled);
    run.glyphIds.forEach((glyphId, index) => {
      const width = scale * (run.xScale[index] ?? 1);
      const glyph: Matrix = [a * width, b * width, -c * scale, -d * scale, run.x[index]!, run.y[index]!];
      path.addPath(face.outline(glyphId), multiply(matrix, glyph));
    });
  }
}
