/** Links of a page: actions of its objects, seen or not, of its annotations, and of the page itself. */
import {
  type Box,
  IDENTITY,
  intersectBoxes,
  type Matrix,
  multiply,
  transformBox,
  translation,
} from '../../display/geometry.js';
import type { LinkArea } from '../../display/link.js';
import { type ActionContext, actionsOf, targetOf } from '../action.js';
import type { Sheet } from '../document.js';
import type { OfdLimits } from '../limits.js';
import type { ResourceTable } from '../resources.js';
import type { XmlElement } from '../xml.js';
import { isVisible } from './objects.js';
import { hasArea, isDrawable, placementOf } from './placement.js';
import { regionBoxes } from './region.js';

/** Ten kilometres: nothing leads anywhere from farther away. */
const MAX_COORDINATE = 1e7;
/** Elements that hold objects and have no place of their own. */
const CONTAINERS: ReadonlySet<string> = new Set(['Content', 'Layer', 'PageBlock']);

const COMPOSITES: ReadonlySet<string> = new Set(['CompositeObject', 'CompositeGraphicUnit']);

/** What looking for links goes by. */
export interface LinkSource {
  readonly context: ActionContext;
  readonly limits: OfdLimits;
  /** Asked for composite units only. */
  resources(): ResourceTable;
}

/** Links of the objects of a page or template, those in composite units too. What a hidden layer holds leads nowhere. */
export function contentLinks(root: XmlElement, source: LinkSource): LinkArea[] {
  const collector = new ObjectLinks(source);
  collector.add(root, IDENTITY);
  return collector.links;
}

/** Links of the page as a whole. What it wants done when it is opened is left out: no page opens for itself in a PDF/A. */
export function pageLinks(root: XmlElement, sheet: Sheet, context: ActionContext): LinkArea[] {
  const actions = root.child('Actions');
  if (actions === undefined) return [];
  return linksOf(actions, { x: 0, y: 0, width: sheet.widthMm, height: sheet.heightMm }, IDENTITY, context);
}

/** Links of the annotations of one file; `root` is its root element. */
export function annotationLinks(root: XmlElement, source: LinkSource): LinkArea[] {
  return root
    .childrenNamed('Annot')
    .filter(isVisible)
    .flatMap((annotation) => linksOfAnnotation(annotation, source));
}

/** The hot zone of a Link annotation is its Boundary, unless several objects in it lead to several places. */
function linksOfAnnotation(annotation: XmlElement, source: LinkSource): LinkArea[] {
  const isLink = annotation.attribute('Type')?.trim().toLowerCase() === 'link';
  return annotation.childrenNamed('Appearance').flatMap((appearance) => {
    const boundary = appearance.box('Boundary');
    const matrix = boundary === undefined ? IDENTITY : translation(boundary.x, boundary.y);
    const collector = new ObjectLinks(source);
    const { links } = collector;
    const own = annotation.child('Actions') ?? appearance.child('Actions');
    if (own !== undefined && boundary !== undefined) links.push(...linksOf(own, boundary, matrix, source.context));
    collector.add(appearance, matrix);
    const [only] = links;
    return isLink && links.length === 1 && only !== undefined && boundary !== undefined && hasArea(boundary)
      ? [{ ...only, box: boundary }]
      : links;
  });
}

/** Whether the units of a table, and those in them by its names, have actions. */
const LEADING_UNITS = new WeakMap<ResourceTable, WeakMap<XmlElement, boolean>>();

/** Gathers the links of objects, container by container. */
class ObjectLinks {
  readonly links: LinkArea[] = [];
  readonly #source: LinkSource;
  /** Units that are being looked through: one inside itself is a ring. */
  readonly #open = new Set<XmlElement>();

  constructor(source: LinkSource) {
    this.#source = source;
  }

  /** Units looked through, each time counted: no more are drawn either. */
  #units = 0;

  /** One more than the document may have is enough to tell that there are too many. */
  get #isFull(): boolean {
    const { maxLinks, maxObjectsPerPage } = this.#source.limits;
    return this.links.length > maxLinks || this.#units > maxObjectsPerPage;
  }

  /** @param within the part of the page that the objects show in; all of it where undefined */
  add(parent: XmlElement, toPage: Matrix, within?: Box): void {
    for (const element of parent.children) {
      if (this.#isFull) return;
      if (CONTAINERS.has(element.name)) {
        if (isVisible(element)) this.add(element, toPage, within);
      } else if (element.name !== 'Actions') this.#addObject(element, toPage, within);
    }
  }

  #addObject(element: XmlElement, toPage: Matrix, within: Box | undefined): void {
    const actions = element.child('Actions');
    const isComposite = COMPOSITES.has(element.name);
    if (actions === undefined && !isComposite) return;
    const { matrix, boundary } = placementOf(element);
    const inner = multiply(toPage, matrix);
    const box = boundary === undefined ? undefined : transformBox(toPage, boundary);
    if (isComposite && isDrawable(matrix))
      this.#addUnit(element, inner, box && hasArea(box) ? common(box, within) : within);
    if (actions === undefined) return;
    for (const link of linksOf(actions, box, inner, this.#source.context)) {
      const shown = common(link.box, within);
      if (hasArea(shown)) this.links.push({ ...link, box: shown });
    }
  }

  /** Links in a composite unit lie below one of the object that places it. */
  #addUnit(element: XmlElement, toPage: Matrix, within: Box | undefined): void {
    const unit = this.#unitOf(element);
    if (unit === undefined || !this.#hasLinks(unit) || this.#open.has(unit)) return;
    if (this.#open.size >= this.#source.limits.maxReferenceDepth) return;
    this.#units++;
    this.#open.add(unit);
    this.add(unit, toPage, within);
    this.#open.delete(unit);
  }

  #unitOf(element: XmlElement): XmlElement | undefined {
    if (element.child('Content') !== undefined) return element;
    const id = element.id('ResourceID');
    return id === undefined ? undefined : this.#source.resources().find('composite', id)?.element;
  }

  /** Whether anything in a unit, or in the units in it, has an action: nearly none has. */
  #hasLinks(unit: XmlElement): boolean {
    const resources = this.#source.resources();
    const known = LEADING_UNITS.get(resources) ?? new WeakMap<XmlElement, boolean>();
    LEADING_UNITS.set(resources, known);
    let leads = known.get(unit);
    if (leads === undefined) {
      // Of a ring each unit is looked through once.
      known.set(unit, false);
      leads = this.#hasActions(unit);
      known.set(unit, leads);
    }
    return leads;
  }

  #hasActions(parent: XmlElement): boolean {
    return parent.children.some((element) => {
      if (element.name === 'Actions' || this.#hasActions(element)) return true;
      const unit = COMPOSITES.has(element.name) ? this.#unitOf(element) : undefined;
      return unit !== undefined && unit !== element && this.#hasLinks(unit);
    });
  }
}

/** What two boxes share; one without area where they share nothing. */
function common(box: Box, within: Box | undefined): Box {
  return within === undefined ? box : (intersectBoxes(box, within) ?? { ...box, width: 0, height: 0 });
}

/**
 * The areas of the first click that leads anywhere: its Region, else `box`.
 *
 * @param box the owner on the page; undefined where nobody knows
 * @param toPage the owner's own space → the page, for a Region
 */
function linksOf(actions: XmlElement, box: Box | undefined, toPage: Matrix, context: ActionContext): LinkArea[] {
  const clicks = actionsOf(actions, 'CLICK');
  if (clicks.length < actions.childrenNamed('Action').length) {
    context.report({ code: 'action_dropped', message: 'What pages and objects do without a click is left out' });
  }
  for (const action of clicks) {
    const target = targetOf(action, context);
    if (target === undefined) continue;
    if (action !== clicks.at(-1)) {
      context.report({ code: 'action_dropped', message: 'Of several actions of one click the first one is kept' });
    }
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
