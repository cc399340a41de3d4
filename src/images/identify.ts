/** Tells a picture's format and pixel size from its first bytes; names and declared formats are never asked. */
import type { EncodedImage, ImageFormat } from '../display/list.js';
import { jbig2PageSize } from './jbig2-segments.js';
import { jpegHeader } from './jpeg-header.js';
import { jpeg2000Size } from './jpeg2000-header.js';
import { readTiffDirectory } from './tiff-directory.js';

/** Longest side that a header may claim before it is taken for garbage. */
const MAX_SIDE_PX = 1_000_000;

interface Size {
  readonly width: number;
  readonly height: number;
}

interface Sniffer {
  readonly format: ImageFormat;
  /** Patterns at byte 0; -1 stands for any byte. */
  readonly signatures: readonly (readonly number[])[];
  /** Size from the header; may throw RangeError where the bytes end early. */
  size(bytes: Uint8Array, view: DataView): Size | undefined;
}

const SNIFFERS: readonly Sniffer[] = [
  { format: 'png', signatures: [[0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]], size: pngSize },
  { format: 'jpeg', signatures: [[0xff, 0xd8, 0xff]], size: (bytes) => jpegHeader(bytes) },
  { format: 'gif', signatures: [[0x47, 0x49, 0x46, 0x38, -1, 0x61]], size: gifSize },
  { format: 'bmp', signatures: [[0x42, 0x4d]], size: bmpSize },
  {
    format: 'tiff',
    signatures: [
      [0x49, 0x49, 0x2a, 0x00],
      [0x4d, 0x4d, 0x00, 0x2a],
    ],
    size: tiffSize,
  },
  {
    format: 'jbig2',
    signatures: [[0x97, 0x4a, 0x42, 0x32, 0x0d, 0x0a, 0x1a, 0x0a]],
    size: (bytes) => jbig2PageSize(bytes),
  },
  {
    format: 'jpeg2000',
    signatures: [
      [0x00, 0x00, 0x00, 0x0c, 0x6a, 0x50, 0x20, 0x20, 0x0d, 0x0a, 0x87, 0x0a],
      [0xff, 0x4f, 0xff, 0x51],
    ],
    size: (_bytes, view) => jpeg2000Size(view),
  },
  {
    format: 'webp',
    signatures: [[0x52, 0x49, 0x46, 0x46, -1, -1, -1, -1, 0x57, 0x45, 0x42, 0x50]],
    size: webpSize,
  },
];

/**
 * The picture in `bytes`, or undefined where they are no picture of a known format or claim no sensible size.
 * Reads headers only. `part` is the name that warnings give.
 */
export function identifyImage(bytes: Uint8Array, part: string): EncodedImage | undefined {
  const sniffer = SNIFFERS.find((s) => s.signatures.some((signature) => startsWith(bytes, signature)));
  if (sniffer === undefined) return undefined;
  const size = sizeOf(sniffer, bytes);
  if (size === undefined || !isSensible(size.width) || !isSensible(size.height)) return undefined;
  return { bytes, format: sniffer.format, widthPx: size.width, heightPx: size.height, part };
}

function sizeOf(sniffer: Sniffer, bytes: Uint8Array): Size | undefined {
  try {
    return sniffer.size(bytes, new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  } catch (error) {
    if (error instanceof RangeError) return undefined; // the header ends early
    throw error;
  }
}

function isSensible(side: number): boolean {
  return side >= 1 && side <= MAX_SIDE_PX;
}

function startsWith(bytes: Uint8Array, signature: readonly number[]): boolean {
  return bytes.length >= signature.length && signature.every((byte, i) => byte === -1 || bytes[i] === byte);
}

function pngSize(_bytes: Uint8Array, view: DataView): Size | undefined {
  const isHeaderFirst = view.getUint32(12) === 0x49484452; // 'IHDR'
  return isHeaderFirst ? { width: view.getUint32(16), height: view.getUint32(20) } : undefined;
}

/** Of the screen, or of what the first frame makes of it: a frame that reaches beyond it is drawn whole. */
function gifSize(bytes: Uint8Array, view: DataView): Size {
  const screen = { width: view.getUint16(6, true), height: view.getUint16(8, true) };
  const at = firstGifFrame(bytes, view);
  if (at === undefined) return screen;
  return {
    width: Math.max(screen.width, view.getUint16(at + 1, true) + view.getUint16(at + 5, true)),
    height: Math.max(screen.height, view.getUint16(at + 3, true) + view.getUint16(at + 7, true)),
  };
}

/** Where the first image descriptor stands, behind the colour table and the extensions. */
function firstGifFrame(bytes: Uint8Array, view: DataView): number | undefined {
  const flags = view.getUint8(10);
  let at = 13 + ((flags & 0x80) === 0 ? 0 : 3 << ((flags & 7) + 1));
  while (bytes[at] === 0x21) {
    at += 2;
    for (let length = bytes[at]; length !== undefined && length > 0; length = bytes[at]) at += 1 + length;
    at += 1;
  }
  return bytes[at] === 0x2c ? at : undefined;
}

function bmpSize(_bytes: Uint8Array, view: DataView): Size | undefined {
  const headerSize = view.getUint32(14, true);
  if (headerSize === 12) return { width: view.getUint16(18, true), height: view.getUint16(20, true) };
  if (headerSize < 16 || headerSize > 256) return undefined;
  return { width: view.getInt32(18, true), height: Math.abs(view.getInt32(22, true)) }; // negative: rows from the top
}

function tiffSize(bytes: Uint8Array): Size {
  const directory = readTiffDirectory(bytes);
  return { width: directory.value(256, 0), height: directory.value(257, 0) };
}

function webpSize(_bytes: Uint8Array, view: DataView): Size | undefined {
  switch (view.getUint32(12)) {
    case 0x56503858: // 'VP8X'
      return { width: 1 + uint24(view, 24), height: 1 + uint24(view, 27) };
    case 0x5650384c: {
      // 'VP8L': two fields of 14 bits
      if (view.getUint8(20) !== 0x2f) return undefined;
      const bits = view.getUint32(21, true);
      return { width: 1 + (bits & 0x3fff), height: 1 + ((bits >>> 14) & 0x3fff) };
    }
    case 0x56503820: // 'VP8 ': a frame tag of three bytes and a start code stand before the size
      return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
    default:
      return undefined;
  }
}

function uint24(view: DataView, at: number): number {
  return view.getUint16(at, true) | (view.getUint8(at + 2) << 16);
}
