/** Paths and glyph outlines as Path2D objects; those of glyphs are kept. */
import { Path2D } from '@napi-rs/canvas';
import type { Face } from '../../display/face.js';
import { CLOSE, CUBIC, LINE, MOVE, type Path, QUAD } from '../../display/geometry.js';

export function toPath2D(path: Path): Path2D {
  const target = new Path2D();
  const c = path.coordinates;
  let at = 0;
  for (const verb of path.verbs) {
    switch (verb) {
      case MOVE:
        target.moveTo(c[at]!, c[at + 1]!);
        at += 2;
        break;
      case LINE:
        target.lineTo(c[at]!, c[at + 1]!);
        at += 2;
        break;
      case QUAD:
        target.quadraticCurveTo(c[at]!, c[at + 1]!, c[at + 2]!, c[at + 3]!);
        at += 4;
        break;
      case CUBIC:
        target.bezierCurveTo(c[at]!, c[at + 1]!, c[at + 2]!, c[at + 3]!, c[at + 4]!, c[at + 5]!);
        at += 6;
        break;
      case CLOSE:
        target.closePath();
        break;
    }
  }
  return target;
}

/** Coordinates kept in all; about 16 bytes each on the native side. */
const MAX_COORDINATES = 2_000_000;

/** Outlines in font units by face and glyph. Forgets everything when it holds too much: the next page fills it again. */
export class GlyphPaths {
  readonly #byFace = new Map<string, Map<number, Path2D | undefined>>();
  #coordinates = 0;

  /** Undefined for a blank glyph. */
  get(face: Face, glyphId: number): Path2D | undefined {
    const known = this.#byFace.get(face.key);
    if (known?.has(glyphId)) return known.get(glyphId);
    const outline = face.outline(glyphId);
    const path = outline.isEmpty ? undefined : toPath2D(outline);
    this.#keep(face.key, glyphId, path, outline.coordinates.length);
    return path;
  }

  #keep(faceKey: string, glyphId: number, path: Path2D | undefined, coordinates: number): void {
    if (this.#coordinates + coordinates > MAX_COORDINATES) {
      this.#byFace.clear();
      this.#coordinates = 0;
    }
    let glyphs = this.#byFace.get(faceKey);
    if (glyphs === undefined) {
      glyphs = new Map();
      this.#byFace.set(faceKey, glyphs);
    }
    glyphs.set(glyphId, path);
    this.#coordinates += coordinates;
  }
}
