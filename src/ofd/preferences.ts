/** VPreferences: how a document wants to be shown. */
import type { ViewerPreferences } from '../display/facts.js';
import type { PageView } from '../display/link.js';
import { parseNumber, type XmlElement } from './xml.js';

const PAGE_MODES: Readonly<Record<string, NonNullable<ViewerPreferences['pageMode']>>> = {
  fullscreen: 'fullScreen',
  useoutlines: 'outline',
  usethumbs: 'thumbnails',
  uselayers: 'layers',
  useattatchs: 'attachments',
  useattachs: 'attachments',
  useattachments: 'attachments',
  usecustomtags: 'tags',
  usebookmarks: 'bookmarks',
};

const PAGE_LAYOUTS: Readonly<Record<string, NonNullable<ViewerPreferences['pageLayout']>>> = {
  onepage: 'onePage',
  onecolumn: 'oneColumn',
  twopagel: 'twoPageLeft',
  twocolumnl: 'twoColumnLeft',
  twopager: 'twoPageRight',
  twocolumnr: 'twoColumnRight',
};

const ZOOM_MODES: Readonly<Record<string, PageView>> = {
  fitheight: { kind: 'fitV' },
  fitwidth: { kind: 'fitH' },
  fitrect: { kind: 'fit' },
};

export function readPreferences(element: XmlElement | undefined): ViewerPreferences {
  if (element === undefined) return {};
  const word = (name: string): string => (element.childText(name) ?? '').toLowerCase();
  const isTrue = (name: string): boolean => ['true', '1', 'yes'].includes(word(name));
  const pageMode = PAGE_MODES[word('PageMode')];
  const pageLayout = PAGE_LAYOUTS[word('PageLayout')];
  return {
    ...(pageMode === undefined ? {} : { pageMode }),
    ...(pageLayout === undefined ? {} : { pageLayout }),
    ...(word('TabDisplay') === 'doctitle' ? { showsTitle: true } : {}),
    ...(isTrue('HideToolbar') ? { hidesToolbar: true } : {}),
    ...(isTrue('HideMenubar') ? { hidesMenubar: true } : {}),
    ...(isTrue('HideWindowUI') ? { hidesWindow: true } : {}),
  };
}

/** How the first page is shown; undefined where the reader decides. */
export function openingView(element: XmlElement | undefined): PageView | undefined {
  const mode = ZOOM_MODES[(element?.childText('ZoomMode') ?? '').toLowerCase()];
  if (mode !== undefined) return mode;
  const zoom = parseNumber(element?.childText('Zoom') ?? '');
  return zoom !== undefined && zoom > 0 ? { kind: 'xyz', zoom } : undefined;
}
