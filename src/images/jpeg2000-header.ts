/** Reads what surrounds the coded data of a JPEG 2000: components, colour space, and whether the data are all there. */

const START_OF_CODESTREAM = 0xff4f;
const SIZE = 0xff51;
const START_OF_TILE_PART = 0xff90;
const END_OF_CODESTREAM = 0xffd9;
const BOX = {
  codestream: 0x6a703263,
  header: 0x6a703268,
  color: 0x636f6c72,
  palette: 0x70636c72,
  channels: 0x63646566,
};

export interface Jpeg2000Component {
  readonly bits: number;
  readonly isSigned: boolean;
  /** One sample for each pixel. */
  readonly isFull: boolean;
}

export interface Jpeg2000Header {
  /** From the start marker on, to the end marker where that is there. */
  readonly codestream: Uint8Array;
  readonly components: readonly Jpeg2000Component[];
  /** The standard's number: 12 CMYK, 16 sRGB, 17 grey, 18 YCC; undefined where a profile or nothing tells. */
  readonly colorSpace: number | undefined;
  readonly hasPalette: boolean;
  /** The file says itself which component is which colour or opacity. */
  readonly hasChannels: boolean;
  /** All tile parts that are announced are there, and the end marker after them. */
  readonly isComplete: boolean;
}

/** Undefined where there is no codestream that begins as one. May throw RangeError where the bytes end early. */
export function jpeg2000Header(bytes: Uint8Array): Jpeg2000Header | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const { start, ...facts } = boxesOf(view);
  if (start === undefined) return undefined;
  const end = endOfCodestream(view, start);
  const codestream = bytes.subarray(start, end);
  return { ...facts, codestream, components: componentsOf(view, start + 4), isComplete: end !== undefined };
}

/**
 * Pixels of the coded picture: what decoders go by, whatever the header box claims. Undefined where there is no codestream.
 * May throw RangeError where the bytes end early.
 */
export function jpeg2000Size(view: DataView): { readonly width: number; readonly height: number } | undefined {
  const { start } = boxesOf(view);
  if (start === undefined) return undefined;
  const side = (at: number): number => view.getUint32(start + at) - view.getUint32(start + at + 8);
  return { width: side(8), height: side(12) };
}

/** `start` is that of a codestream that begins as one. */
function boxesOf(view: DataView): Boxes {
  const found: Boxes = { start: undefined, colorSpace: undefined, hasPalette: false, hasChannels: false };
  if (view.getUint16(0) === START_OF_CODESTREAM) found.start = 0;
  else readBoxes(view, 0, view.byteLength, found);
  const { start } = found;
  const isCodestream =
    start !== undefined && view.getUint16(start) === START_OF_CODESTREAM && view.getUint16(start + 2) === SIZE;
  return isCodestream ? found : { ...found, start: undefined };
}

interface Boxes {
  start: number | undefined;
  colorSpace: number | undefined;
  hasPalette: boolean;
  hasChannels: boolean;
}

/** Notes what the boxes up to the codestream say; of several colour spaces the first one with a number counts. */
function readBoxes(view: DataView, from: number, end: number, found: Boxes): void {
  for (let at = from; at + 8 <= end && found.start === undefined; ) {
    let length = view.getUint32(at);
    const type = view.getUint32(at + 4);
    const body = at + (length === 1 ? 16 : 8);
    if (length === 1) length = Number(view.getBigUint64(at + 8));
    if (length === 0) length = end - at;
    if (type === BOX.codestream) found.start = body;
    else if (type === BOX.header) readBoxes(view, body, Math.min(end, at + length), found);
    else if (type === BOX.palette) found.hasPalette = true;
    else if (type === BOX.channels) found.hasChannels = true;
    else if (type === BOX.color && view.getUint8(body) === 1) found.colorSpace ??= view.getUint32(body + 3);
    if (length < 8) return;
    at += length;
  }
}

/** `at` is where the length of the size marker stands. */
function componentsOf(view: DataView, at: number): Jpeg2000Component[] {
  const count = view.getUint16(at + 36);
  return Array.from({ length: count }, (_, i) => {
    const depth = view.getUint8(at + 38 + 3 * i);
    const isFull = view.getUint8(at + 39 + 3 * i) === 1 && view.getUint8(at + 40 + 3 * i) === 1;
    return { bits: (depth & 0x7f) + 1, isSigned: depth >= 0x80, isFull };
  });
}

/** Behind the end marker, found by the lengths of the tile parts; undefined where they lead past the end of the bytes. */
function endOfCodestream(view: DataView, start: number): number | undefined {
  let at = start + 2;
  while (at + 2 <= view.byteLength) {
    const marker = view.getUint16(at);
    if (marker === END_OF_CODESTREAM) return at + 2;
    if (marker < 0xff00 || at + 10 > view.byteLength) return undefined;
    const isTilePart = marker === START_OF_TILE_PART;
    const length = isTilePart ? view.getUint32(at + 6) : 2 + view.getUint16(at + 2);
    // The last tile part may leave its length open: it goes up to the end marker.
    if (isTilePart && length === 0) return endsWithMarker(view) ? view.byteLength : undefined;
    if (length < 4) return undefined;
    at += length;
  }
  return undefined;
}

function endsWithMarker(view: DataView): boolean {
  return view.getUint16(view.byteLength - 2) === END_OF_CODESTREAM;
}
