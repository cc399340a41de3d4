/** Reads the markers of a JPEG up to its first scan: size, coding, components, and what Adobe's marker says. */

export interface JpegHeader {
  readonly width: number;
  readonly height: number;
  readonly bitsPerComponent: number;
  readonly componentCount: number;
  /** Huffman-coded baseline, extended or progressive frames: what PDF's DCTDecode takes. */
  readonly isPlainCoding: boolean;
  /** Transform flag of Adobe's marker (0 none, 1 YCbCr, 2 YCCK); undefined without that marker. */
  readonly adobeTransform: number | undefined;
  readonly hasScan: boolean;
  /** Components' letters 'R','G','B' instead of numbers: not transformed even without Adobe's marker. */
  readonly isNamedRgb: boolean;
}

const SOF_NOT_FRAMES = new Set([0xc4, 0xc8, 0xcc]);

/** Undefined where no frame header is found before the data ends. */
export function jpegHeader(bytes: Uint8Array): JpegHeader | undefined {
  let frame: { marker: number; at: number } | undefined;
  let adobeTransform: number | undefined;
  let hasScan = false;
  for (const { marker, at, length } of segments(bytes)) {
    if (marker === 0xda) {
      hasScan = true;
      break;
    }
    const isFrame = marker >= 0xc0 && marker <= 0xcf && !SOF_NOT_FRAMES.has(marker);
    if (isFrame && frame === undefined && length >= 8) frame = { marker, at };
    if (marker === 0xee && length >= 14 && isAdobe(bytes, at)) adobeTransform = bytes[at + 13];
  }
  if (frame === undefined) return undefined;
  const at = frame.at;
  const componentCount = bytes[at + 7]!;
  const letters = [0, 1, 2].map((i) => bytes[at + 8 + 3 * i]);
  return {
    bitsPerComponent: bytes[at + 2]!,
    height: uint16(bytes, at + 3),
    width: uint16(bytes, at + 5),
    componentCount,
    isPlainCoding: frame.marker <= 0xc2,
    adobeTransform,
    hasScan,
    isNamedRgb: componentCount === 3 && letters[0] === 0x52 && letters[1] === 0x47 && letters[2] === 0x42,
  };
}

/** Marker segments that have a length; `at` is where the length stands, `length` counts from there. Stops at damage. */
export function* segments(bytes: Uint8Array): Generator<{ marker: number; at: number; length: number }> {
  let at = 2;
  while (at + 4 <= bytes.length) {
    if (bytes[at] !== 0xff) {
      at++; // garbage between segments: look for the next marker
      continue;
    }
    const marker = bytes[at + 1]!;
    if (marker === 0xff) {
      at++;
      continue;
    }
    const isAlone = marker === 0 || marker === 1 || (marker >= 0xd0 && marker <= 0xd8);
    if (isAlone) {
      at += 2;
      continue;
    }
    if (marker === 0xd9) return;
    const length = uint16(bytes, at + 2);
    if (length < 2 || at + 2 + length > bytes.length) return;
    yield { marker, at: at + 2, length };
    at += 2 + length;
  }
}

function isAdobe(bytes: Uint8Array, at: number): boolean {
  return [0x41, 0x64, 0x6f, 0x62, 0x65].every((byte, i) => bytes[at + 2 + i] === byte);
}

function uint16(bytes: Uint8Array, at: number): number {
  return (bytes[at]! << 8) | bytes[at + 1]!;
}

/** Whether the data run, scan by scan, to the end-of-image marker. */
export function isJpegComplete(bytes: Uint8Array): boolean {
  let at = firstScanData(bytes);
  while (at >= 0 && at + 1 < bytes.length) {
    at = bytes.indexOf(0xff, at);
    if (at < 0) return false;
    const marker = bytes[at + 1];
    if (marker === 0xd9) return true;
    const isInScan = marker === 0x00 || marker === 0xff || (marker! >= 0xd0 && marker! <= 0xd7);
    if (marker === 0xff) at += 1;
    else if (isInScan) at += 2;
    else at += 2 + Math.max(2, uint16(bytes, at + 2)); // tables or a scan header between scans
  }
  return false;
}

/** Where the coded data of the first scan begin, or -1. */
function firstScanData(bytes: Uint8Array): number {
  for (const { marker, at, length } of segments(bytes)) if (marker === 0xda) return at + length;
  return -1;
}
