/** Leaves out what lies beside the page: it is not seen, but costs bytes, and viewers fail on what lies very far away. */
import { type Box, growBox, intersectBoxes, invert, transformBox } from '../../display/geometry.js';
import type { Item } from '../../display/list.js';
import { contains, itemBounds } from '../bounds.js';

/** Thin lines are drawn a little wider than their bounds. */
const MARGIN_MM = 1;

/** The items that may be seen in `view`, a box of the list's space; the list itself where that is all of them. */
export function visibleItems(items: readonly Item[], view: Box): readonly Item[] {
  const wide = growBox(view, MARGIN_MM);
  const visible = items.flatMap((item) => visiblePart(item, wide));
  return visible.length === items.length && visible.every((item, i) => item === items[i]) ? items : visible;
}

function visiblePart(item: Item, view: Box): readonly Item[] {
  const bounds = itemBounds(item);
  if (bounds === undefined || intersectBoxes(bounds, view) === undefined) return [];
  // Shared contents stay whole, so that they can be written once.
  if (item.kind !== 'group' || item.isShared || contains(view, bounds)) return [item];
  const toGroup = invert(item.matrix);
  if (toGroup === undefined) return [];
  const items = visibleItems(item.items, transformBox(toGroup, view));
  return items === item.items ? [item] : [{ ...item, items }];
}
