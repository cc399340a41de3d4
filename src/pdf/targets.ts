/** Where links and bookmarks of a PDF lead. Only addresses that are safe to follow, and pages of the document itself. */
import { transformPoint } from '../display/geometry.js';
import type { LinkTarget, PageTarget, PageView } from '../display/link.js';
import { linkUri } from '../display/uri.js';
import { type PageFrame, pageFrame } from './geometry.js';
import type { Pdfium } from './pdfium.js';

const ACTION_GO_TO = 1;
const ACTION_URI = 3;
/** FPDFDest_GetView; those with a B fit what is drawn instead of the page. */
const VIEWS: readonly PageView['kind'][] = ['xyz', 'xyz', 'fit', 'fitH', 'fitV', 'fitR', 'fit', 'fitH', 'fitV'];
const MEDIA_BOX = 0;
const CROP_BOX = 1;
const MAX_ZOOM = 64;

export class Targets {
  readonly #pdfium: Pdfium;
  readonly #document: number;
  readonly #frames = new Map<number, PageFrame>();

  constructor(pdfium: Pdfium, document: number) {
    this.#pdfium = pdfium;
    this.#document = document;
  }

  /** @param destination and @param action addresses, 0 where there is none */
  target(destination: number, action: number): LinkTarget | undefined {
    const { call } = this.#pdfium;
    if (destination !== 0) return this.page(destination);
    if (action === 0) return undefined;
    const type = call.FPDFAction_GetType(action);
    if (type === ACTION_GO_TO) return this.page(call.FPDFAction_GetDest(this.#document, action));
    if (type !== ACTION_URI) return undefined;
    const written = this.#pdfium.utf8((to, size) => call.FPDFAction_GetURIPath(this.#document, action, to, size));
    const uri = linkUri(written, undefined);
    return uri === undefined ? undefined : { kind: 'uri', uri };
  }

  /** @param destination an address, 0 for none */
  page(destination: number): PageTarget | undefined {
    if (destination === 0) return undefined;
    const index = this.#pdfium.call.FPDFDest_GetDestPageIndex(this.#document, destination);
    return index < 0 ? undefined : { kind: 'page', pageNumber: index + 1, view: this.#view(destination, index) };
  }

  #view(destination: number, pageIndex: number): PageView {
    const { call } = this.#pdfium;
    const frame = this.#frame(pageIndex);
    return this.#pdfium.lend(24, (count) => {
      const places = count + 8;
      const kind = VIEWS[call.FPDFDest_GetView(destination, count, places)] ?? 'xyz';
      const given = Math.min(this.#pdfium.view.getUint32(count, true), 4);
      const values = Array.from({ length: given }, (_, i) => this.#pdfium.view.getFloat32(places + 4 * i, true));
      if (kind === 'xyz') return this.#place(destination, frame);
      if (kind === 'fitH' && values.length > 0) return { kind, top: onPage(frame, 0, values[0]!).y };
      if (kind === 'fitV' && values.length > 0) return { kind, left: onPage(frame, values[0]!, 0).x };
      if (kind === 'fitR') return rectangle(frame, values);
      return { kind: 'fit' };
    });
  }

  #place(destination: number, frame: PageFrame): PageView {
    return this.#pdfium.lend(24, (at) => {
      const { call } = this.#pdfium;
      if (call.FPDFDest_GetLocationInPage(destination, at, at + 4, at + 8, at + 12, at + 16, at + 20) === 0) {
        return { kind: 'xyz' };
      }
      const { view } = this.#pdfium;
      const [hasLeft, hasTop, hasZoom] = [0, 4, 8].map((offset) => view.getInt32(at + offset, true) !== 0);
      const [x, y, zoom] = [12, 16, 20].map((offset) => view.getFloat32(at + offset, true));
      const point = onPage(frame, hasLeft ? x! : 0, hasTop ? y! : 0);
      return {
        kind: 'xyz',
        ...(hasLeft && Number.isFinite(point.x) && { left: point.x }),
        ...(hasTop && Number.isFinite(point.y) && { top: point.y }),
        ...(hasZoom && zoom! > 0 && { zoom: Math.min(zoom!, MAX_ZOOM) }),
      };
    });
  }

  #frame(pageIndex: number): PageFrame {
    const known = this.#frames.get(pageIndex);
    if (known !== undefined) return known;
    const { call } = this.#pdfium;
    const box = (kind: number): number[] | undefined =>
      this.#pdfium.structure(4, (at) => call.EPDF_GetPageBoxByIndex(this.#document, pageIndex, kind, at));
    const [left, top, right, bottom] = box(CROP_BOX) ?? box(MEDIA_BOX) ?? [0, 0, 0, 0];
    const turns = call.EPDF_GetPageRotationByIndex(this.#document, pageIndex);
    const frame = pageFrame([left!, Math.min(top!, bottom!), right!, Math.max(top!, bottom!)], Math.max(0, turns));
    this.#frames.set(pageIndex, frame);
    return frame;
  }
}

function onPage(frame: PageFrame, x: number, y: number): { readonly x: number; readonly y: number } {
  return transformPoint(frame.toPage, x, y);
}

function rectangle(frame: PageFrame, values: readonly number[]): PageView {
  if (values.length < 4) return { kind: 'fit' };
  const [a, b] = [onPage(frame, values[0]!, values[1]!), onPage(frame, values[2]!, values[3]!)];
  return {
    kind: 'fitR',
    left: Math.min(a.x, b.x),
    top: Math.min(a.y, b.y),
    right: Math.max(a.x, b.x),
    bottom: Math.max(a.y, b.y),
  };
}
