/** Decodes Windows bitmaps of every depth, with run lengths and bit fields; alpha only where the header declares it. */
import { hasTransparency, sampleAt } from './png.js';
import type { DecodedImage } from './types.js';

const RGB = 0;
const RLE8 = 1;
const RLE4 = 2;
const BIT_FIELDS = 3;
const ALPHA_BIT_FIELDS = 6;

interface BmpHeader {
  readonly width: number;
  readonly height: number;
  readonly isTopDown: boolean;
  readonly bitsPerPixel: number;
  readonly compression: number;
  readonly dataStart: number;
  /** Four bytes a colour: blue, green, red, unused. */
  readonly palette: Uint8Array;
  /** Red, green, blue, alpha. */
  readonly masks: readonly number[];
}

/** Undefined where the header is of no known kind or nothing follows it. Missing rows stay white, as viewers show them. */
export function decodeBmp(bytes: Uint8Array): DecodedImage | undefined {
  const header = readHeader(bytes);
  if (header === undefined || header.dataStart >= bytes.length) return undefined;
  const rgba = new Uint8Array(header.width * header.height * 4).fill(255);
  const data = bytes.subarray(header.dataStart);
  if (header.compression === RLE8 || header.compression === RLE4) decodeRuns(header, data, rgba);
  else if (header.bitsPerPixel <= 8) decodeIndexed(header, data, rgba);
  else decodeDirect(header, data, rgba);
  if (header.masks[3] !== 0 && isAlphaAllZero(rgba)) for (let i = 3; i < rgba.length; i += 4) rgba[i] = 255;
  const isPartial = header.compression !== RLE8 && header.compression !== RLE4 && data.length < neededBytes(header);
  return { widthPx: header.width, heightPx: header.height, rgba, hasAlpha: hasTransparency(rgba), isPartial };
}

function readHeader(bytes: Uint8Array): BmpHeader | undefined {
  if (bytes.length < 26) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const headerSize = view.getUint32(14, true);
  const isCore = headerSize === 12;
  if (!isCore && bytes.length < 54) return undefined;
  const signedHeight = isCore ? view.getUint16(20, true) : view.getInt32(22, true);
  const bitsPerPixel = view.getUint16(isCore ? 24 : 28, true);
  const compression = isCore ? RGB : view.getUint32(30, true);
  if (![1, 2, 4, 8, 16, 24, 32].includes(bitsPerPixel) || !isKnownPair(compression, bitsPerPixel)) return undefined;
  const masks = masksOf(view, headerSize, compression, bitsPerPixel);
  const masksAfterHeader = headerSize === 40 && compression === BIT_FIELDS ? 12 : 0;
  const paletteStart = 14 + headerSize + masksAfterHeader;
  return {
    width: isCore ? view.getUint16(18, true) : view.getInt32(18, true),
    height: Math.abs(signedHeight),
    isTopDown: signedHeight < 0,
    bitsPerPixel,
    compression,
    dataStart: view.getUint32(10, true),
    palette: paletteOf(bytes, paletteStart, isCore ? 3 : 4, bitsPerPixel),
    masks,
  };
}

function isKnownPair(compression: number, bitsPerPixel: number): boolean {
  if (compression === RLE8) return bitsPerPixel === 8;
  if (compression === RLE4) return bitsPerPixel === 4;
  if (compression === BIT_FIELDS || compression === ALPHA_BIT_FIELDS) return bitsPerPixel === 16 || bitsPerPixel === 32;
  return compression === RGB;
}

function masksOf(view: DataView, headerSize: number, compression: number, bitsPerPixel: number): number[] {
  if (compression === BIT_FIELDS || compression === ALPHA_BIT_FIELDS) {
    const hasAlphaMask = (headerSize >= 56 || compression === ALPHA_BIT_FIELDS) && view.byteLength >= 70;
    const colors = view.byteLength >= 66 ? [54, 58, 62].map((at) => view.getUint32(at, true)) : [0, 0, 0];
    return [...colors, hasAlphaMask ? view.getUint32(66, true) : 0];
  }
  return bitsPerPixel === 16 ? [0x7c00, 0x03e0, 0x001f, 0] : [0xff0000, 0x00ff00, 0x0000ff, 0];
}

function paletteOf(bytes: Uint8Array, start: number, entryBytes: number, bitsPerPixel: number): Uint8Array {
  if (bitsPerPixel > 8) return new Uint8Array(0);
  const count = 1 << bitsPerPixel;
  const palette = new Uint8Array(count * 4);
  for (let i = 0; i < count; i++) {
    for (let j = 0; j < 3; j++) palette[i * 4 + j] = bytes[start + i * entryBytes + j] ?? 0;
  }
  return palette;
}

/** Where row `y` of the file (the first is the lowest, mostly) starts in the pixels. */
function rowStart(header: BmpHeader, y: number): number {
  return (header.isTopDown ? y : header.height - 1 - y) * header.width * 4;
}

function strideOf(header: BmpHeader): number {
  return Math.ceil((header.width * header.bitsPerPixel) / 32) * 4;
}

/** Bytes of all rows; the padding of the last is often left out. */
function neededBytes(header: BmpHeader): number {
  return strideOf(header) * (header.height - 1) + Math.ceil((header.width * header.bitsPerPixel) / 8);
}

function setIndexed(header: BmpHeader, rgba: Uint8Array, at: number, index: number): void {
  rgba[at] = header.palette[index * 4 + 2]!;
  rgba[at + 1] = header.palette[index * 4 + 1]!;
  rgba[at + 2] = header.palette[index * 4]!;
}

function decodeIndexed(header: BmpHeader, data: Uint8Array, rgba: Uint8Array): void {
  const stride = strideOf(header);
  for (let y = 0; y < header.height && (y + 1) * stride <= data.length + 3; y++) {
    const line = data.subarray(y * stride, (y + 1) * stride);
    const start = rowStart(header, y);
    for (let x = 0; x < header.width; x++) {
      setIndexed(header, rgba, start + x * 4, sampleAt(line, x, header.bitsPerPixel) & 255);
    }
  }
}

function decodeDirect(header: BmpHeader, data: Uint8Array, rgba: Uint8Array): void {
  const bytesPerPixel = header.bitsPerPixel >> 3;
  const stride = strideOf(header);
  const channels = header.masks.map(channelOf);
  for (let y = 0; y < header.height; y++) {
    const start = rowStart(header, y);
    for (let x = 0; x < header.width; x++) {
      const from = y * stride + x * bytesPerPixel;
      if (from + bytesPerPixel > data.length) return;
      let pixel = data[from]! | (data[from + 1]! << 8);
      if (bytesPerPixel > 2) pixel |= data[from + 2]! << 16;
      if (bytesPerPixel > 3) pixel |= data[from + 3]! << 24;
      for (let c = 0; c < 4; c++) {
        const channel = channels[c]!;
        if (channel.max > 0)
          rgba[start + x * 4 + c] = (((pixel >>> channel.shift) & channel.max) * 255) / channel.max + 0.5;
        else if (c < 3) rgba[start + x * 4 + c] = 0;
      }
    }
  }
}

function channelOf(mask: number): { shift: number; max: number } {
  if (mask === 0) return { shift: 0, max: 0 };
  const shift = 31 - Math.clz32(mask & -mask);
  return { shift, max: mask >>> shift };
}

/** Pairs of count and colour; a zero count escapes to the end of line, the end, a jump, or literal pixels. */
function decodeRuns(header: BmpHeader, data: Uint8Array, rgba: Uint8Array): void {
  const isNibbles = header.compression === RLE4;
  let x = 0;
  let y = 0;
  let at = 0;
  const put = (index: number) => {
    if (x < header.width && y < header.height) setIndexed(header, rgba, rowStart(header, y) + x * 4, index);
    x++;
  };
  while (at + 1 < data.length && y < header.height) {
    const count = data[at]!;
    const value = data[at + 1]!;
    at += 2;
    if (count > 0) {
      for (let i = 0; i < count; i++) put(isNibbles ? nibble(value, i) : value);
    } else if (value === 0) {
      x = 0;
      y++;
    } else if (value === 1) return;
    else if (value === 2) {
      x += data[at] ?? 0;
      y += data[at + 1] ?? 0;
      at += 2;
    } else {
      for (let i = 0; i < value; i++) put(isNibbles ? nibble(data[at + (i >> 1)] ?? 0, i) : (data[at + i] ?? 0));
      const bytesUsed = isNibbles ? (value + 1) >> 1 : value;
      at += bytesUsed + (bytesUsed & 1);
    }
  }
}

function nibble(byte: number, i: number): number {
  return (i & 1) === 0 ? byte >> 4 : byte & 15;
}

function isAlphaAllZero(rgba: Uint8Array): boolean {
  for (let i = 3; i < rgba.length; i += 4) if (rgba[i] !== 0) return false;
  return true;
}
