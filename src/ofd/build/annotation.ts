/** Appearances of annotations, drawn into the page. */
import { type Box, IDENTITY, translation } from '../../display/geometry.js';
import type { Item } from '../../display/list.js';
import type { XmlElement } from '../xml.js';
import type { Space } from './context.js';
import { isVisible } from './objects.js';
import { NO_CLIPS } from './placement.js';

/** A stamp is taken for the drawn seal at the same place if no side is further off than this. */
const SAME_PLACE_MM = 1;

/**
 * Groups of all annotations of a page, in document order.
 *
 * @param roots root elements of the page's annotation files
 * @param sealBoxes where seals are drawn on the page: a Stamp annotation there shows the same thing once more
 */
export function buildAnnotations(roots: readonly XmlElement[], space: Space, sealBoxes: readonly Box[]): Item[] {
  return roots.flatMap((root) => root.childrenNamed('Annot').flatMap((annot) => build(annot, space, sealBoxes)));
}

function build(annotation: XmlElement, space: Space, sealBoxes: readonly Box[]): Item[] {
  if (!isVisible(annotation)) return [];
  const type = annotation.attribute('Type')?.trim().toLowerCase();
  return annotation.childrenNamed('Appearance').flatMap((appearance): Item[] => {
    const boundary = appearance.box('Boundary');
    if (type === 'stamp' && boundary && sealBoxes.some((box) => isSamePlace(box, boundary))) return [];
    const matrix = boundary === undefined ? IDENTITY : translation(boundary.x, boundary.y);
    const depth = space.depth + 1;
    space.page.reach(depth);
    const items = space.document.buildObjects(appearance, {
      ...space,
      toPage: matrix,
      depth,
      needsStrokeColor: type === 'link',
      multipliesFills: type === 'highlight',
    });
    if (items.length === 0) return [];
    return [{ kind: 'group', matrix, alpha: 1, items, isShared: false, clips: NO_CLIPS, blendMode: 'normal' }];
  });
}

function isSamePlace(a: Box, b: Box): boolean {
  const offsets = [a.x - b.x, a.y - b.y, a.x + a.width - b.x - b.width, a.y + a.height - b.y - b.height];
  return offsets.every((offset) => Math.abs(offset) <= SAME_PLACE_MM);
}
