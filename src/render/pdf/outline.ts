/** The outline as PDF's tree of items, each of which knows its neighbours. */
import type { OutlineEntry } from '../../display/facts.js';
import type { WrittenPages } from './destination.js';
import type { PdfFile } from './file.js';
import { linkEntries } from './link-table.js';
import type { Reference } from './pdf-lib.js';
import { textString } from './text-string.js';

/** An entry that is shown: it, or something below it, leads to what is in the file, or it is a mere heading. */
interface ShownEntry {
  readonly entry: OutlineEntry;
  readonly reference: Reference;
  readonly children: readonly ShownEntry[];
}

/** Writes the outline; the result is its root, or undefined where there is nothing to show. */
export function writeOutline(
  file: PdfFile,
  pages: WrittenPages,
  outline: readonly OutlineEntry[],
): Reference | undefined {
  const shown = shownEntries(file, pages, outline);
  if (shown.length === 0) return undefined;
  const root = file.allocate();
  const visible = writeEntries(file, pages, shown, root);
  file.add(file.object({ Type: 'Outlines', ...endsOf(shown), Count: visible }), root);
  return root;
}

function shownEntries(file: PdfFile, pages: WrittenPages, entries: readonly OutlineEntry[]): ShownEntry[] {
  return entries.flatMap((entry) => {
    const children = shownEntries(file, pages, entry.children);
    const leadsAway = entry.target?.kind === 'page' && pages.destination(entry.target) === undefined;
    return leadsAway && children.length === 0 ? [] : [{ entry, reference: file.allocate(), children }];
  });
}

/** Gives how many items are visible when the reader opens their parent. */
function writeEntries(file: PdfFile, pages: WrittenPages, entries: readonly ShownEntry[], parent: Reference): number {
  let visible = entries.length;
  for (const [index, { entry, reference, children }] of entries.entries()) {
    const below = writeEntries(file, pages, children, reference);
    if (entry.isExpanded) visible += below;
    const [previous, next] = [entries[index - 1], entries[index + 1]];
    const item = file.object({
      Title: textString(entry.title),
      Parent: parent,
      ...(previous === undefined ? {} : { Prev: previous.reference }),
      ...(next === undefined ? {} : { Next: next.reference }),
      ...(children.length === 0 ? {} : { ...endsOf(children), Count: entry.isExpanded ? below : -below }),
      ...(entry.target === undefined ? {} : linkEntries(pages, entry.target)),
    });
    file.add(item, reference);
  }
  return visible;
}

function endsOf(entries: readonly ShownEntry[]): { First: Reference; Last: Reference } {
  return { First: entries[0]!.reference, Last: entries[entries.length - 1]!.reference };
}
