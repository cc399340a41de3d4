/** Pages of a list that is looked through in steps. */

/** Items of one step, and the place from which the next one goes on; undefined at the end. */
export interface ListStep<Item> {
  readonly items: readonly Item[];
  readonly continueBelow: string | undefined;
}

/** One page, and the place from which the next one goes on; undefined at the end. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | undefined;
}

/**
 * @param cursor `nextCursor` of the page before
 * @param takeStep at most so many items below a place; it may find fewer, though there are more
 * @param placeOf the place of an item
 */
export async function pageOf<Item>(
  limit: number,
  cursor: string | undefined,
  takeStep: (limit: number, below: string | undefined) => Promise<ListStep<Item>>,
  placeOf: (item: Item) => string,
): Promise<Page<Item>> {
  const items: Item[] = [];
  let below = cursor;
  do {
    // One more than asked for tells whether there is another page.
    const step = await takeStep(limit + 1 - items.length, below);
    items.push(...step.items);
    below = step.continueBelow;
  } while (below !== undefined && items.length <= limit);
  const last = items.length > limit ? items[limit - 1] : undefined;
  return { items: items.slice(0, limit), nextCursor: last && placeOf(last) };
}
