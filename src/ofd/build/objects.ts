/** Graphic units by element name, in document order across kinds: what stands later lies on top. */
import { IDENTITY } from '../../display/geometry.js';
import type { Item } from '../../display/list.js';
import type { XmlElement } from '../xml.js';
import { buildComposite } from './composite.js';
import type { Space } from './context.js';
import { buildImage } from './image.js';
import { buildPath } from './path.js';
import { NO_CLIPS } from './placement.js';
import { buildText } from './text.js';

/** Items of all graphic units among the children of `parent`; groups of objects are gone through in place. */
export function buildObjects(parent: XmlElement, space: Space): readonly Item[] {
  const items: Item[] = [];
  addObjects(items, parent, space);
  return items;
}

function addObjects(items: Item[], parent: XmlElement, space: Space): void {
  for (const element of parent.children) {
    if (element.name === 'PageBlock' || element.name === 'Layer') {
      if (isVisible(element)) addObjects(items, element, space);
    } else if (isGraphicUnit(element) && isVisible(element)) {
      if (!space.page.count(1)) return;
      for (const item of buildUnit(element, space)) {
        items.push(blendedAsOne(item, space));
        if (item.kind === 'glyphs') {
          space.page.note(
            item.characters.some((characters) => characters.trim() !== ''),
            item.fill !== undefined,
          );
        } else if (item.kind !== 'group') space.page.note(false, true);
      }
    } else if (!BESIDE_OBJECTS.has(element.name) && !isGraphicUnit(element)) reportUnknown(element, space);
  }
}

/** An object blends with what lies below it, not its line with its own inside: one of several paints becomes a group. */
function blendedAsOne(item: Item, { page, depth }: Space): Item {
  if (item.blendMode === 'normal' || (item.kind !== 'path' && item.kind !== 'glyphs')) return item;
  const fill = item.kind === 'path' ? item.fill?.paint : item.fill;
  const isBold = item.kind === 'glyphs' && item.emboldenMm > 0;
  if (fill === undefined || (item.stroke === undefined && !isBold && fill.kind !== 'mesh')) return item;
  page.reach(depth + 1);
  const { blendMode } = item;
  const items = [{ ...item, blendMode: 'normal' } as const];
  return { kind: 'group', matrix: IDENTITY, alpha: 1, items, isShared: false, clips: NO_CLIPS, blendMode };
}

/** What may stand among objects and is none. */
const BESIDE_OBJECTS: ReadonlySet<string> = new Set(['Actions', 'Clips']);

function reportUnknown({ name }: XmlElement, { document, page }: Space): void {
  const message = `Objects of the kind ${name} are not drawn`;
  document.reportOnce({ code: 'unsupported', message, page: page.pageNumber, part: page.part });
}

export function isVisible(element: XmlElement): boolean {
  return element.boolean('Visible') !== false;
}

/** What nobody knows counts where it has a place on the page. */
function isGraphicUnit(element: XmlElement): boolean {
  const { name } = element;
  return name.endsWith('Object') || name === 'CompositeGraphicUnit' || element.attribute('Boundary') !== undefined;
}

function buildUnit(element: XmlElement, space: Space): readonly Item[] {
  switch (element.name) {
    case 'TextObject':
      return buildText(element, space);
    case 'PathObject': {
      const path = buildPath(element, space);
      return path === undefined ? [] : [path];
    }
    case 'ImageObject':
      return buildImage(element, space);
    case 'CompositeObject':
    case 'CompositeGraphicUnit':
      return buildComposite(element, space);
    default:
      reportUnknown(element, space);
      return [];
  }
}
