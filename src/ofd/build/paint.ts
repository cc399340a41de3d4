/** A colour element to a paint: plain, shading or pattern, with every opacity multiplied in. */
import type { Paint } from '../../display/paint.js';
import type { XmlElement } from '../xml.js';
import { plainColor } from './color.js';
import type { Space } from './context.js';
import type { ColorSource } from './draw-param.js';
import { freeMesh, latticeMesh, type MeshFault } from './mesh.js';
import { patternPaint } from './pattern.js';
import { opacity, type PaintedShape } from './placement.js';
import { axialPaint, radialPaint } from './shading.js';

/**
 * The paint of a colour; undefined where it shows nothing.
 *
 * @param alpha opacity 0…1 of the object
 */
export function paintOf(source: ColorSource, alpha: number, space: Space, shape: PaintedShape): Paint | undefined {
  const { element, resources } = source;
  const ownAlpha = source.alpha === undefined ? opacity(element.number('Alpha')) : opacity(source.alpha);
  const total = alpha * ownAlpha;
  if (total <= 0 || space.isInvisible) return undefined;
  for (const child of element.children) {
    const paint = complexPaint(child, source, total, space, shape);
    if (paint !== 'plain') return paint;
  }
  return { kind: 'solid', color: plainColor(element, resources, space.document.colorSpaces), alpha: total };
}

/** The paint of a colour's child; 'plain' where the child is none that paints. */
function complexPaint(
  child: XmlElement,
  { resources }: ColorSource,
  alpha: number,
  space: Space,
  shape: PaintedShape,
): Paint | undefined | 'plain' {
  const colorOf = (element: XmlElement) => ({
    color: plainColor(element, resources, space.document.colorSpaces),
    alpha: alpha * opacity(element.number('Alpha')),
  });
  switch (child.name) {
    case 'AxialShd':
    case 'RadialShd':
      if (!child.childrenNamed('Segment').some((segment) => segment.child('Color') !== undefined)) {
        space.page.report('paint_invalid', `A ${child.name} paints nothing: it has no colours`);
        return undefined;
      }
      return child.name === 'AxialShd' ? axialPaint(child, colorOf, shape) : radialPaint(child, colorOf, shape);
    case 'Pattern':
      return patternPaint(child, resources, alpha, space, shape);
    case 'GouraudShd':
      return drawableMesh(freeMesh(child, colorOf, shape), child, space);
    case 'LaGourandShd':
    case 'LaGouraudShd':
      return drawableMesh(latticeMesh(child, colorOf, shape), child, space);
    default: {
      const { document, page } = space;
      const message = `Colours of the kind ${child.name} are not known; the plain colour is painted`;
      document.reportOnce({ code: 'unsupported', message, page: page.pageNumber, part: page.part });
      return 'plain';
    }
  }
}

function drawableMesh(mesh: Paint | MeshFault, { name }: XmlElement, space: Space): Paint | undefined {
  if (!('fault' in mesh)) return mesh;
  space.page.report('paint_invalid', `A ${name} paints nothing: ${mesh.fault}`);
  return undefined;
}
