/** Pictures that stand in for unreadable ones. */
import type { ImageItem } from '../display/list.js';

/** The item with the picture that stands in for its own; undefined where it has none. */
export function substituteOf(item: ImageItem): ImageItem | undefined {
  const { substitute, ...plain } = item;
  return substitute === undefined ? undefined : { ...plain, image: substitute };
}
