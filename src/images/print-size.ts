/** How large, and which way up, a picture wants to be seen, as its file says. */
import type { EncodedImage } from '../display/list.js';
import { segments } from './jpeg-header.js';

export interface PrintSize {
  /** Pixels an inch; undefined where the file says none that makes sense. */
  readonly dpiX?: number;
  readonly dpiY?: number;
  /** As in Exif and TIFF: 1 upright, 3 upside down, 6 to be turned clockwise, 8 anticlockwise, 2 4 5 7 mirrored. */
  readonly orientation: number;
}

const UPRIGHT: PrintSize = { orientation: 1 };
const CM_PER_INCH = 2.54;
const METRES_PER_INCH = 0.0254;
const MIN_DPI = 10;
const MAX_DPI = 10_000;
const ORIENTATION = 274;
const X_RESOLUTION = 282;
const Y_RESOLUTION = 283;
const RESOLUTION_UNIT = 296;
const PER_CM = 3;
const RATIONAL = 5;
const SHORT = 3;

/** Never throws: what cannot be read is not said. */
export function printSize(image: EncodedImage): PrintSize {
  try {
    return checked(read(image));
  } catch (error) {
    if (error instanceof RangeError) return UPRIGHT; // the header ends early
    throw error;
  }
}

function read({ bytes, format }: EncodedImage): PrintSize {
  switch (format) {
    case 'jpeg':
      return readJpeg(bytes);
    case 'png':
      return readPng(bytes);
    case 'bmp':
      return readBmp(bytes);
    case 'tiff':
      return readTiff(bytes);
    default:
      return UPRIGHT;
  }
}

function checked({ dpiX, dpiY, orientation }: PrintSize): PrintSize {
  const isSensible = [dpiX, dpiY].every((dpi) => dpi !== undefined && dpi >= MIN_DPI && dpi <= MAX_DPI);
  return {
    ...(isSensible && { dpiX: dpiX!, dpiY: dpiY! }),
    orientation: orientation >= 1 && orientation <= 8 ? orientation : 1,
  };
}

/** JFIF's density, else that of the Exif block; the orientation is Exif's. */
function readJpeg(bytes: Uint8Array): PrintSize {
  let density: Partial<PrintSize> = {};
  let exif = UPRIGHT;
  for (const { marker, at, length } of segments(bytes)) {
    if (marker === 0xda) break;
    const body = bytes.subarray(at + 2, at + length);
    if (marker === 0xe0 && startsWith(body, 'JFIF\0')) density = jfifDensity(body);
    else if (marker === 0xe1 && startsWith(body, 'Exif\0\0')) exif = readTiff(body.subarray(6));
  }
  return { ...exif, ...density };
}

/** Unit 0 tells the shape of pixels, not their size. */
function jfifDensity(body: Uint8Array): Partial<PrintSize> {
  const view = viewOf(body);
  const unit = view.getUint8(7);
  const [x, y] = [view.getUint16(8), view.getUint16(10)];
  const perInch = unit === 1 ? 1 : unit === 2 ? CM_PER_INCH : 0;
  return perInch > 0 && x > 0 && y > 0 ? { dpiX: x * perInch, dpiY: y * perInch } : {};
}

function readPng(bytes: Uint8Array): PrintSize {
  const view = viewOf(bytes);
  let size = UPRIGHT;
  for (let at = 8; at + 12 <= bytes.length; ) {
    const length = view.getUint32(at);
    const type = Buffer.from(bytes.subarray(at + 4, at + 8)).toString('latin1');
    if (type === 'IDAT' || type === 'IEND') break;
    if (type === 'pHYs' && length >= 9 && view.getUint8(at + 16) === 1) {
      size = {
        ...size,
        dpiX: view.getUint32(at + 8) * METRES_PER_INCH,
        dpiY: view.getUint32(at + 12) * METRES_PER_INCH,
      };
    }
    if (type === 'eXIf') size = { ...size, orientation: readTiff(bytes.subarray(at + 8, at + 8 + length)).orientation };
    at += 12 + length;
  }
  return size;
}

function readBmp(bytes: Uint8Array): PrintSize {
  const view = viewOf(bytes);
  if (view.getUint32(14, true) < 40) return UPRIGHT;
  const perMetre = METRES_PER_INCH;
  return { dpiX: view.getInt32(38, true) * perMetre, dpiY: view.getInt32(42, true) * perMetre, orientation: 1 };
}

/** Of the first directory; an Exif block is one too. */
function readTiff(bytes: Uint8Array): PrintSize {
  const view = viewOf(bytes);
  const isLittleEndian = view.getUint8(0) === 0x49;
  const start = view.getUint32(4, isLittleEndian);
  const count = view.getUint16(start, isLittleEndian);
  const found = new Map<number, number>();
  for (let at = start + 2; at < start + 2 + 12 * count && at + 12 <= bytes.length; at += 12) {
    const type = view.getUint16(at + 2, isLittleEndian);
    const tag = view.getUint16(at, isLittleEndian);
    if (type === SHORT) found.set(tag, view.getUint16(at + 8, isLittleEndian));
    else if (type === RATIONAL && (tag === X_RESOLUTION || tag === Y_RESOLUTION)) {
      const place = view.getUint32(at + 8, isLittleEndian);
      if (place + 8 > bytes.length) continue;
      found.set(tag, view.getUint32(place, isLittleEndian) / view.getUint32(place + 4, isLittleEndian));
    }
  }
  const unit = found.get(RESOLUTION_UNIT) ?? 2;
  const perInch = unit === PER_CM ? CM_PER_INCH : unit === 2 ? 1 : Number.NaN;
  const [x, y] = [found.get(X_RESOLUTION), found.get(Y_RESOLUTION)];
  return {
    ...(x !== undefined && y !== undefined && { dpiX: x * perInch, dpiY: y * perInch }),
    orientation: found.get(ORIENTATION) ?? 1,
  };
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function startsWith(bytes: Uint8Array, text: string): boolean {
  return Buffer.from(bytes.subarray(0, text.length)).toString('latin1') === text;
}
