/** Reads the chunks of a PNG: header, palette, transparency and the compressed rows. Checksums are not asked. */

export interface PngFile {
  readonly width: number;
  readonly height: number;
  readonly bitDepth: number;
  /** 0 grey, 2 RGB, 3 palette, 4 grey and alpha, 6 RGB and alpha. */
  readonly colorType: number;
  readonly isInterlaced: boolean;
  /** RGB triples; empty where there is none. */
  readonly palette: Uint8Array;
  readonly transparency: Uint8Array | undefined;
  /** All IDAT chunks in one. */
  readonly data: Uint8Array;
  readonly samplesPerPixel: number;
}

const SAMPLES_PER_PIXEL: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };
const DEPTHS: Readonly<Record<number, readonly number[]>> = {
  0: [1, 2, 4, 8, 16],
  2: [8, 16],
  3: [1, 2, 4, 8],
  4: [8, 16],
  6: [8, 16],
};

/** Undefined where the header is wrong or a palette picture has no palette. A file that ends early gives what it has. */
export function readPng(bytes: Uint8Array): PngFile | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < 33) return undefined;
  const bitDepth = bytes[24]!;
  const colorType = bytes[25]!;
  const samplesPerPixel = SAMPLES_PER_PIXEL[colorType];
  if (samplesPerPixel === undefined || !DEPTHS[colorType]!.includes(bitDepth)) return undefined;
  let palette: Uint8Array = new Uint8Array(0);
  let transparency: Uint8Array | undefined;
  const parts: Uint8Array[] = [];
  for (const { type, body } of chunks(bytes, view)) {
    if (type === 'PLTE') palette = body.subarray(0, Math.floor(Math.min(body.length, 768) / 3) * 3);
    else if (type === 'tRNS') transparency = body;
    else if (type === 'IDAT') parts.push(body);
  }
  if (colorType === 3 && palette.length === 0) return undefined;
  return {
    width: view.getUint32(16),
    height: view.getUint32(20),
    bitDepth,
    colorType,
    isInterlaced: bytes[28] === 1,
    palette,
    transparency,
    data: parts.length === 1 ? parts[0]! : Buffer.concat(parts),
    samplesPerPixel,
  };
}

function* chunks(bytes: Uint8Array, view: DataView): Generator<{ type: string; body: Uint8Array }> {
  let at = 8;
  while (at + 8 <= bytes.length) {
    const length = view.getUint32(at);
    const type = String.fromCharCode(...bytes.subarray(at + 4, at + 8));
    yield { type, body: bytes.subarray(at + 8, Math.min(bytes.length, at + 8 + length)) };
    if (type === 'IEND') return;
    at += 12 + length;
  }
}
