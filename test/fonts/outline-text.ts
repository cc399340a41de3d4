/** A path as text, for exact comparison: M x y L x y Q … C … Z. */
import { COORDINATES_OF_VERB, type Path } from '../../src/display/geometry.js';

export function pathText(path: Path): string {
  let at = 0;
  return path.verbs
    .map((verb) => {
      const numbers = path.coordinates.slice(at, at + COORDINATES_OF_VERB[verb as 0]);
      at += numbers.length;
      return ['M', 'L', 'Q', 'C', 'Z'][verb] + numbers.map((v) => Math.round(v * 1000) / 1000).join(' ');
    })
    .join(' ');
}
