/** What a JBIG2 file asks of its decoder, looked up before it is let loose: the library itself has no bounds. */
import { END_OF_FILE, type Jbig2Segment, jbig2Segments, PAGE_INFORMATION } from './jbig2-segments.js';

/** Text, halftone, generic and refinement regions; all begin with width and height. */
const REGIONS = new Set([4, 6, 7, 20, 22, 23, 36, 38, 39, 40, 42, 43]);
/** Regions whose work is told by their size alone. */
const PLAIN_REGIONS = new Set([36, 38, 39]);
const DICTIONARIES = new Set([0, 16]);
/** All regions together may have this many times the pixels of the page, and some more for small pages. */
const MAX_LAYERS = 16;
const MIN_BUDGET_PIXELS = 1_000_000;

export interface Jbig2Demand {
  /** Pages and regions fit the picture: nothing absurd is asked for. */
  readonly isSensible: boolean;
  /** There are generic regions only, so the pixels bound the time. */
  readonly isPlain: boolean;
  /** Where the last segment ends whose header makes sense. What follows would be taken for headers, with counts of anything. */
  readonly end: number;
  /** Where the height of a page stands that its header leaves open. */
  readonly openHeightAt: number | undefined;
}

/** `pixels` are those of the page that `jbig2PageSize` found. */
export function jbig2Demand(bytes: Uint8Array, pixels: number): Jbig2Demand {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const { segments, isSequential } = jbig2Segments(bytes);
  const budget = MAX_LAYERS * pixels + MIN_BUDGET_PIXELS;
  const regions = segments.filter((segment) => REGIONS.has(segment.type));
  const asked = regions.reduce((sum, segment) => sum + areaOf(view, segment), 0);
  const pages = segments.filter((segment) => segment.type === PAGE_INFORMATION);
  const last = segments.at(-1);
  const open = pages.find((page) => isOpen(view, page));
  const pageAreas = pages.map((page) => (isOpen(view, page) ? pixels : areaOf(view, page)));
  return {
    isSensible:
      asked <= budget && pageAreas.every((area) => area <= pixels) && (isSequential || last?.type === END_OF_FILE),
    isPlain: regions.every((r) => PLAIN_REGIONS.has(r.type)) && !segments.some((s) => DICTIONARIES.has(s.type)),
    end: segments.reduce((end, { dataEnd }) => Math.max(end, dataEnd), 0),
    openHeightAt: open && open.dataStart + 4,
  };
}

function isOpen(view: DataView, page: Jbig2Segment): boolean {
  return page.dataEnd - page.dataStart >= 8 && view.getUint32(page.dataStart + 4) === 0xffffffff;
}

function areaOf(view: DataView, segment: Jbig2Segment): number {
  if (segment.dataEnd - segment.dataStart < 8) return 0;
  return view.getUint32(segment.dataStart) * view.getUint32(segment.dataStart + 4);
}
