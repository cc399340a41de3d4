/** Areas of a page that lead somewhere. */
import type { LinkArea } from '../display/link.js';
import { boxOnPage, type PageFrame } from './geometry.js';
import type { Pdfium } from './pdfium.js';
import { Targets } from './targets.js';

const MAX_LINKS = 10_000;

export function linkAreas(pdfium: Pdfium, document: number, page: number, frame: PageFrame): LinkArea[] {
  const { call } = pdfium;
  const targets = new Targets(pdfium, document);
  const areas: LinkArea[] = [];
  pdfium.lend(8, (position) => {
    for (let i = 0; i < MAX_LINKS && call.FPDFLink_Enumerate(page, position, position + 4) !== 0; i++) {
      const link = pdfium.view.getUint32(position + 4, true);
      const target = targets.target(call.FPDFLink_GetDest(document, link), call.FPDFLink_GetAction(link));
      const box = pdfium.structure(4, (address) => call.FPDFLink_GetAnnotRect(link, address));
      if (target === undefined || box === undefined) continue;
      const [left, top, right, bottom] = box as [number, number, number, number];
      areas.push({ box: boxOnPage(frame, left, top, right, bottom), target });
    }
  });
  return areas;
}
