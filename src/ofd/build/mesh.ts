/** GouraudShd and LaGourandShd to a mesh of triangles (format reference 6.6). */
import type { Color, MeshColor, MeshVertex, Paint } from '../../display/paint.js';
import type { XmlElement } from '../xml.js';
import type { PaintedShape } from './placement.js';

/** Points farther away are slips of the producer. */
const MAX_COORDINATE_MM = 1e6;
const TRANSPARENT: MeshColor = { color: [0, 0, 0], alpha: 0 };

/** Why a shading paints nothing, for a message. */
export interface MeshFault {
  readonly fault: string;
}

type ColorReader = (element: XmlElement) => { readonly color: Color; readonly alpha: number };

/** GouraudShd: points that go on from the triangle before, as their flags say. */
export function freeMesh(element: XmlElement, colorOf: ColorReader, shape: PaintedShape): Paint | MeshFault {
  const points = element.childrenNamed('Point');
  const triangles: number[] = [];
  for (let i = 0; i < points.length; ) {
    const last = triangles.length - 3;
    const flag = last < 0 ? 0 : (points[i]!.integer('EdgeFlag') ?? 0);
    if (flag >= 1 && flag <= 3) {
      // Flag 3 keeps the first two corners; the other two share the edge to the last corner.
      triangles.push(triangles[flag === 1 ? last + 1 : last]!, triangles[flag === 3 ? last + 1 : last + 2]!, i);
      i++;
    } else {
      if (i + 2 < points.length) triangles.push(i, i + 1, i + 2);
      i += 3;
    }
  }
  return meshPaint(element, points, triangles, colorOf, shape);
}

/** LaGourandShd: rows of points; what is left over of the last row is dropped. */
export function latticeMesh(element: XmlElement, colorOf: ColorReader, shape: PaintedShape): Paint | MeshFault {
  const points = element.childrenNamed('Point');
  const columns = element.integer('VerticesPerRow') ?? 0;
  if (columns < 2) return { fault: `it has ${columns} points a row` };
  const rows = Math.floor(points.length / columns);
  const triangles: number[] = [];
  for (let row = 0; row + 1 < rows; row++) {
    for (let i = row * columns; i + 1 < (row + 1) * columns; i++) {
      triangles.push(i, i + 1, i + columns, i + 1, i + columns + 1, i + columns);
    }
  }
  return meshPaint(element, points, triangles, colorOf, shape);
}

function meshPaint(
  element: XmlElement,
  points: readonly XmlElement[],
  triangles: readonly number[],
  colorOf: ColorReader,
  shape: PaintedShape,
): Paint | MeshFault {
  const background = backgroundOf(element, colorOf);
  if (triangles.length === 0) {
    if (background !== undefined) return { kind: 'solid', ...background };
    return { fault: `its ${points.length} points make no triangle` };
  }
  return {
    kind: 'mesh',
    matrix: shape.origin,
    vertices: points.map((point) => vertexOf(point, colorOf)),
    triangles,
    ...(background === undefined ? {} : { background }),
  };
}

function backgroundOf(element: XmlElement, colorOf: ColorReader): MeshColor | undefined {
  const back = element.child('BackColor');
  return back === undefined || (element.integer('Extend') ?? 0) === 0 ? undefined : colorOf(back);
}

function vertexOf(point: XmlElement, colorOf: ColorReader): MeshVertex {
  const color = point.child('Color');
  return {
    x: coordinate(point.number('X')),
    y: coordinate(point.number('Y')),
    ...(color === undefined ? TRANSPARENT : colorOf(color)),
  };
}

function coordinate(value: number | undefined): number {
  return value === undefined ? 0 : Math.min(Math.max(value, -MAX_COORDINATE_MM), MAX_COORDINATE_MM);
}
