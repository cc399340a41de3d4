/** A page as pixels. */
import type { Pdfium } from './pdfium.js';

export interface PageRendering {
  readonly pdfium: Pdfium;
  /** Addresses; `page` is 0 for a blank one, `form` where there is none. */
  readonly page: number;
  readonly form: number;
  readonly size: { readonly widthPx: number; readonly heightPx: number };
  readonly background: { readonly color: readonly [number, number, number]; readonly alpha: number };
}

/** FPDFBitmap_BGRA; the flag below makes it RGBA. */
const FOUR_BYTES = 4;
const SHOW_ANNOTATIONS = 0x01;
const RED_FIRST = 0x10;
/** A larger page is drawn in strips, so that the library's own layers stay small. */
const MAX_STRIP_PIXELS = 16_000_000;

/** RGBA, rows from the top, alpha not multiplied in. */
export function renderPage(rendering: PageRendering): Uint8Array {
  const { widthPx, heightPx } = rendering.size;
  const pixels = new Uint8Array(widthPx * heightPx * 4);
  const rows = Math.max(1, Math.min(heightPx, Math.floor(MAX_STRIP_PIXELS / widthPx)));
  const { pdfium } = rendering;
  const buffer = pdfium.allocate(widthPx * rows * 4);
  try {
    for (let first = 0; first < heightPx; first += rows) {
      const count = Math.min(rows, heightPx - first);
      renderStrip(rendering, buffer, first, count);
      pixels.set(pdfium.bytes.subarray(buffer, buffer + widthPx * count * 4), first * widthPx * 4);
    }
  } finally {
    pdfium.call.free(buffer);
  }
  return pixels;
}

function renderStrip(
  { pdfium, page, form, size, background }: PageRendering,
  buffer: number,
  first: number,
  count: number,
): void {
  const { call } = pdfium;
  const { widthPx, heightPx } = size;
  const [red, green, blue] = background.color.map(Math.round);
  const opacity = Math.round(background.alpha * 255);
  const bitmap = call.FPDFBitmap_CreateEx(widthPx, count, FOUR_BYTES, buffer, widthPx * 4);
  // The filling knows nothing of the order of colours.
  call.FPDFBitmap_FillRect(
    bitmap,
    0,
    0,
    widthPx,
    count,
    ((opacity << 24) | (blue! << 16) | (green! << 8) | red!) >>> 0,
  );
  if (page !== 0) {
    const place = [0, -first, widthPx, heightPx, 0, SHOW_ANNOTATIONS | RED_FIRST] as const;
    call.FPDF_RenderPageBitmap(bitmap, page, ...place);
    if (form !== 0) call.FPDF_FFLDraw(form, bitmap, page, ...place);
  }
  call.FPDFBitmap_Destroy(bitmap);
}
