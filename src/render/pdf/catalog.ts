/** The catalog: what a reader should know of the file as a whole. */
import type { DocumentFacts, NamedDestination, ViewerPreferences } from '../../display/facts.js';
import type { WrittenAttachment } from './attachment-table.js';
import { PROFILE_NAME, srgbProfile } from './color-profile.js';
import type { WrittenPages } from './destination.js';
import type { Entries, PdfFile, Value } from './file.js';
import { type PDFObject, PDFString, type Reference } from './pdf-lib.js';
import { compareAsStrings, textString } from './text-string.js';

/** A document's tags have no counterpart. */
const PAGE_MODES: Partial<Record<NonNullable<ViewerPreferences['pageMode']>, string>> = {
  fullScreen: 'FullScreen',
  outline: 'UseOutlines',
  bookmarks: 'UseOutlines',
  thumbnails: 'UseThumbs',
  layers: 'UseOC',
  attachments: 'UseAttachments',
};

const PAGE_LAYOUTS: Record<NonNullable<ViewerPreferences['pageLayout']>, string> = {
  onePage: 'SinglePage',
  oneColumn: 'OneColumn',
  twoPageLeft: 'TwoPageLeft',
  twoColumnLeft: 'TwoColumnLeft',
  twoPageRight: 'TwoPageRight',
  twoColumnRight: 'TwoColumnRight',
};

/** How to show the file. */
export function viewerEntries({ preferences, opening }: DocumentFacts, pages: WrittenPages): Entries {
  const { pageMode, pageLayout } = preferences;
  const mode = pageMode && PAGE_MODES[pageMode];
  const window: Entries = {
    ...(preferences.showsTitle ? { DisplayDocTitle: true } : {}),
    ...(preferences.hidesToolbar ? { HideToolbar: true } : {}),
    ...(preferences.hidesMenubar ? { HideMenubar: true } : {}),
    ...(preferences.hidesWindow ? { HideWindowUI: true } : {}),
  };
  const destination = opening && pages.destination(opening);
  return {
    ...(mode === undefined ? {} : { PageMode: mode }),
    ...(pageLayout === undefined ? {} : { PageLayout: PAGE_LAYOUTS[pageLayout] }),
    ...(Object.keys(window).length === 0 ? {} : { ViewerPreferences: window }),
    ...(destination === undefined ? {} : { OpenAction: destination }),
  };
}

/** Named destinations and files by name, and the files as those of the whole document. */
export function nameEntries(
  file: PdfFile,
  destinations: readonly NamedDestination[],
  pages: WrittenPages,
  attachments: readonly WrittenAttachment[],
): Entries {
  const known = destinations.flatMap(({ name, target }): NamedValue[] => {
    const value = pages.destination(target);
    return value === undefined ? [] : [{ name, value }];
  });
  const files = attachments.map(({ name, reference }) => ({ name, value: reference }));
  const trees = {
    ...(known.length === 0 ? {} : { Dests: file.add(nameTree(file, known)) }),
    ...(files.length === 0 ? {} : { EmbeddedFiles: file.add(nameTree(file, files)) }),
  };
  return {
    ...(Object.keys(trees).length === 0 ? {} : { Names: trees }),
    ...(files.length === 0 ? {} : { AF: files.map(({ value }) => value) }),
  };
}

interface NamedValue {
  readonly name: string;
  readonly value: Value;
}

function nameTree(file: PdfFile, values: readonly NamedValue[]): PDFObject {
  const sorted = [...values].sort((one, other) => compareAsStrings(one.name, other.name));
  return file.object({ Names: sorted.flatMap(({ name, value }) => [textString(name), value]) });
}

/** The numbers that pages have in the source, where these are not simply one to the last. */
export function pageLabelEntries({ pageNumbers }: WrittenPages): Entries {
  const ranges: Value[] = [];
  for (const [index, number] of pageNumbers.entries()) {
    const follows = index > 0 && number === pageNumbers[index - 1]! + 1;
    if (!follows) ranges.push(index, { S: 'D', St: number });
  }
  const isPlain = ranges.length === 0 || (ranges.length === 2 && pageNumbers[0] === 1);
  return isPlain ? {} : { PageLabels: { Nums: ranges } };
}

/** Says that colours are those of sRGB; of a PDF/A alone. */
export function outputIntents(file: PdfFile): Entries {
  const profile: Reference = file.addStream({ N: 3 }, srgbProfile());
  const intent = {
    Type: 'OutputIntent',
    S: 'GTS_PDFA1',
    OutputConditionIdentifier: PDFString.of(PROFILE_NAME),
    DestOutputProfile: profile,
  };
  return { OutputIntents: [intent] };
}
