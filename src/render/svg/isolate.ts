/**
 * Takes blend modes out of plain groups. On a canvas and in PDF an item inside a plain group blends with everything
 * below; in SVG a group that is clipped may blend only within itself. So a group that holds such an item is split
 * into groups before, of and after it, and the blending moves outwards onto the group of it alone.
 */
import type { Group, Item } from '../../display/list.js';

/** The same picture, with blend modes only on items of the list itself and of transparent groups. */
export function withBlendsOutside(items: readonly Item[]): readonly Item[] {
  return items.some(holdsBlend) ? items.flatMap(splitGroup) : items;
}

const holding = new WeakMap<readonly Item[], boolean>();

/** Whether the item is a group with a blended item somewhere inside. */
function holdsBlend(item: Item): boolean {
  if (item.kind !== 'group') return false;
  let holds = holding.get(item.items);
  if (holds === undefined) {
    holds = item.items.some((child) => child.blendMode !== 'normal' || holdsBlend(child));
    holding.set(item.items, holds);
  }
  return holds;
}

function splitGroup(item: Item): readonly Item[] {
  if (item.kind !== 'group' || !holdsBlend(item)) return [item];
  const items = withBlendsOutside(item.items);
  if (item.alpha < 1 || item.blendMode !== 'normal') return [{ ...item, items }];
  const parts: Group[] = [];
  let plain: Item[] = [];
  const flush = () => {
    if (plain.length > 0) parts.push({ ...item, items: plain, isShared: false });
    plain = [];
  };
  for (const child of items) {
    if (child.blendMode === 'normal') plain.push(child);
    else {
      flush();
      const alone: Item = { ...child, blendMode: 'normal' };
      parts.push({ ...item, items: [alone], blendMode: child.blendMode, isShared: false });
    }
  }
  flush();
  return parts;
}
