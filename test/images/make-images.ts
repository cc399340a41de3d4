/** Writers of small pictures for the tests: every one writes what it is told, sense or not. */
import { crc32, deflateSync } from 'node:zlib';

export function concat(...parts: (Uint8Array | readonly number[])[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts.map((part) => Uint8Array.from(part))));
}

export function uint32(value: number): Uint8Array {
  return Uint8Array.from([value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255]);
}

export function ascii(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text, 'latin1'));
}

export interface PngOptions {
  readonly width: number;
  readonly height: number;
  readonly bitDepth: number;
  readonly colorType: number;
  /** Rows in file order, without filter bytes. */
  readonly rows: readonly Uint8Array[];
  /** Filter of row i; 0 where there is none. */
  readonly filters?: readonly number[];
  readonly isInterlaced?: boolean;
  readonly palette?: readonly number[];
  readonly transparency?: readonly number[];
}

const SAMPLES: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

export function makePng(options: PngOptions): Uint8Array {
  const { width, height, bitDepth, colorType } = options;
  const step = Math.max(1, (SAMPLES[colorType]! * bitDepth) >> 3);
  let above = new Uint8Array(0);
  const lines = options.rows.map((row, i) => {
    const filter = options.filters?.[i] ?? 0;
    const line = filterLine(filter, row, above.length === row.length ? above : new Uint8Array(row.length), step);
    above = Uint8Array.from(row);
    return concat([filter], line);
  });
  const header = concat(uint32(width), uint32(height), [bitDepth, colorType, 0, 0, options.isInterlaced ? 1 : 0]);
  return concat(
    [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a],
    chunk('IHDR', header),
    options.palette ? chunk('PLTE', Uint8Array.from(options.palette)) : [],
    options.transparency ? chunk('tRNS', Uint8Array.from(options.transparency)) : [],
    chunk('IDAT', deflateSync(concat(...lines))),
    chunk('IEND', new Uint8Array(0)),
  );
}

export function chunk(type: string, body: Uint8Array): Uint8Array {
  const named = concat(ascii(type), body);
  return concat(uint32(body.length), named, uint32(crc32(named)));
}

function filterLine(filter: number, row: Uint8Array, above: Uint8Array, step: number): Uint8Array {
  return row.map((value, i) => {
    const a = i < step ? 0 : row[i - step]!;
    const b = above[i]!;
    const c = i < step ? 0 : above[i - step]!;
    const p = a + b - c;
    const nearest = [a, b, c].reduce((best, v) => (Math.abs(p - v) < Math.abs(p - best) ? v : best));
    return value - [0, a, b, (a + b) >> 1, nearest][filter]!;
  });
}

export interface BmpOptions {
  readonly width: number;
  readonly height: number;
  readonly bitsPerPixel: number;
  readonly compression?: number;
  /** Blue, green, red, 0 each. */
  readonly palette?: readonly number[];
  /** Red, green, blue, alpha masks; alpha makes a header of version 4. */
  readonly masks?: readonly number[];
  readonly data: readonly number[];
}

export function makeBmp(options: BmpOptions): Uint8Array {
  const headerSize = options.masks ? 108 : 40;
  const palette = Uint8Array.from(options.palette ?? []);
  const dataStart = 14 + headerSize + palette.length;
  const bytes = new Uint8Array(dataStart + options.data.length);
  const view = new DataView(bytes.buffer);
  bytes.set(ascii('BM'));
  view.setUint32(2, bytes.length, true);
  view.setUint32(10, dataStart, true);
  view.setUint32(14, headerSize, true);
  view.setInt32(18, options.width, true);
  view.setInt32(22, options.height, true);
  view.setUint16(26, 1, true);
  view.setUint16(28, options.bitsPerPixel, true);
  view.setUint32(30, options.compression ?? 0, true);
  options.masks?.forEach((mask, i) => {
    view.setUint32(54 + i * 4, mask, true);
  });
  bytes.set(palette, 14 + headerSize);
  bytes.set(options.data, dataStart);
  return bytes;
}

/** A GIF whose codes are all nine bits wide: clear, up to 200 literal pixels, clear … */
export function makeGif(
  width: number,
  height: number,
  palette: readonly number[],
  pixels: readonly number[],
): Uint8Array {
  const table = new Uint8Array(768);
  table.set(palette);
  const codes: number[] = [];
  pixels.forEach((pixel, i) => {
    if (i % 200 === 0) codes.push(256);
    codes.push(pixel);
  });
  codes.push(257);
  const data: number[] = [];
  let bits = 0;
  let count = 0;
  for (const code of codes) {
    bits |= code << count;
    count += 9;
    for (; count >= 8; count -= 8) {
      data.push(bits & 255);
      bits >>>= 8;
    }
  }
  data.push(bits & 255);
  const blocks: number[] = [];
  for (let at = 0; at < data.length; at += 255) {
    const part = data.slice(at, at + 255);
    blocks.push(part.length, ...part);
  }
  const size = [width & 255, width >> 8, height & 255, height >> 8];
  return concat(ascii('GIF89a'), size, [0xf7, 0, 0], table, [0x2c, 0, 0, 0, 0], size, [0, 8], blocks, [0, 0x3b]);
}

export interface TiffTag {
  readonly tag: number;
  /** 3 for 16 bits, 4 for 32. */
  readonly type: 3 | 4;
  readonly values: readonly number[];
}

/** Strips (or tiles) and the tags given; the tags of the blocks' places are added under `offsetsTag` and `countsTag`. */
export function makeTiff(
  isLittleEndian: boolean,
  tags: readonly TiffTag[],
  blocks: readonly Uint8Array[],
  [offsetsTag, countsTag] = [273, 279],
): Uint8Array {
  const offsets: number[] = [];
  let at = 8;
  for (const block of blocks) {
    offsets.push(at);
    at += block.length + (block.length & 1);
  }
  const all: TiffTag[] = [
    ...tags,
    { tag: offsetsTag!, type: 4 as const, values: offsets },
    { tag: countsTag!, type: 4 as const, values: blocks.map((block) => block.length) },
  ].sort((a, b) => a.tag - b.tag);
  const directoryAt = at;
  let valuesAt = directoryAt + 2 + all.length * 12 + 4;
  const bytes = new Uint8Array(valuesAt + all.reduce((sum, tag) => sum + tag.values.length * 4, 0));
  const view = new DataView(bytes.buffer);
  bytes.set(isLittleEndian ? [0x49, 0x49] : [0x4d, 0x4d]);
  view.setUint16(2, 42, isLittleEndian);
  view.setUint32(4, directoryAt, isLittleEndian);
  blocks.forEach((block, i) => {
    bytes.set(block, offsets[i]);
  });
  view.setUint16(directoryAt, all.length, isLittleEndian);
  all.forEach(({ tag, type, values }, i) => {
    const entry = directoryAt + 2 + i * 12;
    const size = type === 3 ? 2 : 4;
    view.setUint16(entry, tag, isLittleEndian);
    view.setUint16(entry + 2, type, isLittleEndian);
    view.setUint32(entry + 4, values.length, isLittleEndian);
    const isInline = values.length * size <= 4;
    const start = isInline ? entry + 8 : valuesAt;
    if (!isInline) view.setUint32(entry + 8, start, isLittleEndian);
    values.forEach((value, j) => {
      if (size === 2) view.setUint16(start + j * 2, value, isLittleEndian);
      else view.setUint32(start + j * 4, value, isLittleEndian);
    });
    if (!isInline) valuesAt += values.length * size;
  });
  return bytes;
}

export interface JpegOptions {
  /** One block of 8 × 8 pixels a colour, side by side; each as its components, 0 … 255. */
  readonly blocks: readonly (readonly number[])[];
  /** Transform flag of Adobe's marker; no marker where undefined. */
  readonly adobeTransform?: number;
  /** Orientation for an EXIF segment. */
  readonly orientation?: number;
  readonly bitsPerComponent?: number;
  readonly frameMarker?: number;
}

/** A JPEG of flat blocks: only the mean of each is coded. */
export function makeJpeg(options: JpegOptions): Uint8Array {
  const count = options.blocks[0]!.length;
  const components = Array.from({ length: count }, (_, i) => i + 1);
  const segment = (marker: number, ...body: (Uint8Array | readonly number[])[]) => {
    const bytes = concat(...body);
    return concat([0xff, marker, (bytes.length + 2) >> 8, (bytes.length + 2) & 255], bytes);
  };
  const width = options.blocks.length * 8;
  const exif = [
    0x4d,
    0x4d,
    0,
    42,
    0,
    0,
    0,
    8,
    0,
    1,
    1,
    0x12,
    0,
    3,
    0,
    0,
    0,
    1,
    0,
    options.orientation ?? 1,
    0,
    0,
    0,
    0,
    0,
    0,
  ];
  return concat(
    [0xff, 0xd8],
    options.orientation === undefined ? [] : segment(0xe1, ascii('Exif\0\0'), exif),
    options.adobeTransform === undefined
      ? []
      : segment(0xee, ascii('Adobe'), [0, 100, 0, 0, 0, 0, options.adobeTransform]),
    segment(0xdb, [0], new Uint8Array(64).fill(8)),
    segment(
      options.frameMarker ?? 0xc0,
      [options.bitsPerComponent ?? 8, 0, 8, width >> 8, width & 255, count],
      components.flatMap((id) => [id, 0x11, 0]),
    ),
    // Nine codes of four bits for the sizes 0 … 8 of a mean; one code of one bit, 0, for "no more coefficients".
    segment(0xc4, [0x00, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]),
    segment(0xc4, [0x10, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
    segment(
      0xda,
      [count],
      components.flatMap((id) => [id, 0]),
      [0, 63, 0],
    ),
    flatBlocks(options.blocks),
    [0xff, 0xd9],
  );
}

function flatBlocks(blocks: readonly (readonly number[])[]): number[] {
  let bits = '';
  const last = blocks[0]!.map(() => 0);
  for (const block of blocks) {
    block.forEach((value, i) => {
      const level = value - 128;
      const difference = level - last[i]!;
      last[i] = level;
      const size = difference === 0 ? 0 : 32 - Math.clz32(Math.abs(difference));
      const amplitude = difference < 0 ? difference + (1 << size) - 1 : difference;
      bits += `${size.toString(2).padStart(4, '0')}${size === 0 ? '' : amplitude.toString(2).padStart(size, '0')}0`;
    });
  }
  const bytes: number[] = [];
  for (let at = 0; at < bits.length; at += 8) {
    const byte = Number.parseInt(bits.slice(at, at + 8).padEnd(8, '1'), 2);
    bytes.push(byte, ...(byte === 0xff ? [0] : []));
  }
  return bytes;
}

/** A JBIG2 file with one page of one generic region, MMR-coded. `g4` ends with its end-of-block code or not. */
export function makeJbig2(
  width: number,
  height: number,
  g4: Uint8Array,
  options: { page?: number; pages?: number } = {},
): Uint8Array {
  const page = options.page ?? 1;
  const segment = (number: number, type: number, body: Uint8Array) =>
    concat(uint32(number), [type, 0, page], uint32(body.length), body);
  const region = concat(uint32(width), uint32(height), uint32(0), uint32(0), [0], [1], g4);
  return concat(
    [0x97, 0x4a, 0x42, 0x32, 0x0d, 0x0a, 0x1a, 0x0a, 1],
    uint32(options.pages ?? 1),
    segment(0, 48, concat(uint32(width), uint32(height), uint32(0), uint32(0), [0, 0, 0])),
    segment(1, 38, region),
    segment(2, 49, new Uint8Array(0)),
    concat(uint32(3), [51, 0, 0], uint32(0)),
  );
}
