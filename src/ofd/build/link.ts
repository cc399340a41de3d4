/** Links of a page: actions of its objects, seen or not, of its annotations, and of the page itself. */
import { type Box, IDENTITY, type Matrix, multiply, transformBox, translation } from '../../display/geometry.js';
import type { LinkArea } from '../../display/link.js';
import { type ActionContext, actionsOf, targetOf } from '../action.js';
import type { Sheet } from '../document.js';
import type { XmlElement } from '../xml.js';
import { isVisible } from './objects.js';
import { hasArea, placementOf } from './placement.js';
import { regionBoxes } from './region.js';

/** Ten kilometres: nothing leads anywhere from farther away. */
const MAX_COORDINATE = 1e7;
/** Elements that hold objects and have no place of their own. */
const CONTAINERS: ReadonlySet<string> = new Set(['Content', 'Layer', 'PageBlock']);

/** Links of the objects of a page or template. What a hidden layer holds leads nowhere. */
export function contentLinks(root: XmlElement, context: ActionContext): LinkArea[] {
  const links: LinkArea[] = [];
  addObjectLinks(links, root, IDENTITY, context);
  return links;
}

/** Links of the page as a whole. What it wants done when it is opened is left out: no page opens for itself in a PDF/A. */
export function pageLinks(root: XmlElement, sheet: Sheet, context: ActionContext): LinkArea[] {
  const actions = root.child('Actions');
  if (actions === undefined) return [];
  if (actionsOf(actions, 'PO').length > 0) {
    context.report({ code: 'action_dropped', message: 'What pages do when they are opened is left out' });
  }
  return linksOf(actions, { x: 0, y: 0, width: sheet.widthMm, height: sheet.heightMm }, IDENTITY, context);
}

/** Links of the annotations of one file; `root` is its root element. */
export function annotationLinks(root: XmlElement, context: ActionContext): LinkArea[] {
  return root
    .childrenNamed('Annot')
    .filter(isVisible)
    .flatMap((annotation) => linksOfAnnotation(annotation, context));
}

/** The hot zone of a Link annotation is its Boundary, unless several objects in it lead to several places. */
function linksOfAnnotation(annotation: XmlElement, context: ActionContext): LinkArea[] {
  const isLink = annotation.attribute('Type')?.trim().toLowerCase() === 'link';
  return annotation.childrenNamed('Appearance').flatMap((appearance) => {
    const boundary = appearance.box('Boundary');
    const matrix = boundary === undefined ? IDENTITY : translation(boundary.x, boundary.y);
    const links: LinkArea[] = [];
    const own = annotation.child('Actions') ?? appearance.child('Actions');
    if (own !== undefined && boundary !== undefined) links.push(...linksOf(own, boundary, matrix, context));
    addObjectLinks(links, appearance, matrix, context);
    const [only] = links;
    return isLink && links.length === 1 && only !== undefined && boundary !== undefined && hasArea(boundary)
      ? [{ ...only, box: boundary }]
      : links;
  });
}

function addObjectLinks(links: LinkArea[], parent: XmlElement, matrix: Matrix, context: ActionContext): void {
  for (const element of parent.children) {
    if (CONTAINERS.has(element.name)) {
      if (isVisible(element)) addObjectLinks(links, element, matrix, context);
      continue;
    }
    const actions = element.name === 'Actions' ? undefined : element.child('Actions');
    if (actions === undefined) continue;
    const placement = placementOf(element);
    const toPage = multiply(matrix, placement.matrix);
    const box = placement.boundary === undefined ? undefined : transformBox(matrix, placement.boundary);
    for (const link of linksOf(actions, box, toPage, context)) links.push(link);
  }
}

/**
 * The areas of the first click that leads anywhere: its Region, else `box`.
 *
 * @param box the owner on the page; undefined where nobody knows
 * @param toPage the owner's own space → the page, for a Region
 */
function linksOf(actions: XmlElement, box: Box | undefined, toPage: Matrix, context: ActionContext): LinkArea[] {
  for (const action of actionsOf(actions, 'CLICK')) {
    const target = targetOf(action, context);
    if (target === undefined) continue;
    const region = action.child('Region');
    const areas = region === undefined ? [] : regionBoxes(region).map((area) => transformBox(toPage, area));
    const boxes = areas.length > 0 ? areas : box === undefined ? [] : [box];
    return boxes.filter(isPlace).map((area) => ({ box: area, target }));
  }
  return [];
}

function isPlace(box: Box): boolean {
  return hasArea(box) && [box.x, box.y, box.width, box.height].every((value) => Math.abs(value) < MAX_COORDINATE);
}
