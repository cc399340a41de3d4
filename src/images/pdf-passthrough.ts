/** Coded data that PDF takes as it stands. Each function gives undefined where decoding is the safe way. */
import type { EncodedImage } from '../display/list.js';
import { inflateUpTo } from './inflate.js';
import { jbig2Demand } from './jbig2-limits.js';
import { END_OF_FILE, END_OF_PAGE, jbig2Segments, PAGE_INFORMATION } from './jbig2-segments.js';
import { isJpegComplete, jpegHeader } from './jpeg-header.js';
import { isJpegSound } from './jpeg-sound.js';
import { jpeg2000Header } from './jpeg2000-header.js';
import { predictorParms } from './pdf-flate.js';
import { rowBytes } from './png.js';
import { readPng } from './png-file.js';
import { readTiffLayout } from './tiff.js';
import { reverseBits } from './tiff-blocks.js';
import type { DecodeParameters, PdfImageData } from './types.js';

/** A whole Huffman-coded JPEG of 8 bits: DCTDecode. Adobe's inks are stored inverted (spec 8.3). */
export function passJpeg(image: EncodedImage): PdfImageData | undefined {
  const header = jpegHeader(image.bytes);
  if (header === undefined || !header.isPlainCoding || header.bitsPerComponent !== 8) return undefined;
  const colorSpace = ({ 1: 'DeviceGray', 3: 'DeviceRGB', 4: 'DeviceCMYK' } as const)[header.componentCount];
  if (colorSpace === undefined || !isJpegComplete(image.bytes) || !isJpegSound(image.bytes)) return undefined;
  const isInverted = header.componentCount === 4 && header.adobeTransform !== undefined;
  return {
    filter: 'DCTDecode',
    data: image.bytes,
    width: image.widthPx,
    height: image.heightPx,
    bitsPerComponent: 8,
    colorSpace,
    ...(isInverted ? { decode: [1, 0, 1, 0, 1, 0, 1, 0] } : {}),
    ...(header.isNamedRgb && header.adobeTransform === undefined ? { decodeParms: { ColorTransform: 0 } } : {}),
  };
}

/** Rows of a PNG without alpha and of at most 8 bits are what Predictor 15 reads. */
export async function passPng(image: EncodedImage): Promise<PdfImageData | undefined> {
  const png = readPng(image.bytes);
  if (png === undefined || png.isInterlaced || png.bitDepth > 8) return undefined;
  if (png.transparency !== undefined || png.colorType > 3) return undefined;
  const stride = 1 + rowBytes(png, png.width);
  const { bytes, isExact } = await inflateUpTo(png.data, stride * png.height);
  if (!isExact) return undefined;
  for (let at = 0; at < bytes.length; at += stride) if (bytes[at]! > 4) return undefined;
  return {
    filter: 'FlateDecode',
    data: png.data,
    width: png.width,
    height: png.height,
    bitsPerComponent: png.bitDepth,
    colorSpace:
      png.colorType === 3
        ? { palette: fittingPalette(png.palette, png.bitDepth) }
        : png.colorType === 0
          ? 'DeviceGray'
          : 'DeviceRGB',
    decodeParms: predictorParms(png.samplesPerPixel, png.bitDepth, png.width),
  };
}

/** Readers want no more colours than the bits can name. */
function fittingPalette(palette: Uint8Array, bitDepth: number): Uint8Array {
  return palette.subarray(0, Math.min(palette.length, 3 << bitDepth));
}

/** The segments of the first page, without the file's header and ends, all said to be of page 1. */
export function passJbig2(image: EncodedImage): PdfImageData | undefined {
  const { segments, isComplete } = jbig2Segments(image.bytes);
  const page = segments.find((segment) => segment.type === PAGE_INFORMATION)?.page;
  if (!isComplete || page === undefined) return undefined;
  if (!jbig2Demand(image.bytes, image.widthPx * image.heightPx).isSensible) return undefined;
  const parts: Uint8Array[] = [];
  for (const segment of segments) {
    if (segment.type === END_OF_PAGE || segment.type === END_OF_FILE) continue;
    if (segment.page !== 0 && segment.page !== page) continue;
    const header = image.bytes.slice(segment.headerStart, segment.headerEnd);
    if (segment.page !== 0) header[segment.pageAt - segment.headerStart + (segment.isPageLong ? 3 : 0)] = 1;
    if (segment.page > 255) return undefined;
    parts.push(header, image.bytes.subarray(segment.dataStart, segment.dataEnd));
  }
  return {
    filter: 'JBIG2Decode',
    data: Buffer.concat(parts),
    width: image.widthPx,
    height: image.heightPx,
    bitsPerComponent: 1,
    colorSpace: 'DeviceGray',
  };
}

/** A fax-coded TIFF in one strip: CCITTFaxDecode. */
export function passFaxTiff(image: EncodedImage): PdfImageData | undefined {
  const layout = readTiffLayout(image.bytes);
  const coded = layout?.blocks[0];
  if (layout === undefined || coded === undefined || coded.length === 0) return undefined;
  const isOneStrip =
    layout.blocks.length === 1 && layout.blockWidth === layout.width && layout.blockHeight === layout.height;
  if (!isOneStrip || layout.bits !== 1 || layout.samples !== 1 || layout.photometric > 1) return undefined;
  const coding = faxParms(layout.compression, layout.directory.value(292, 0));
  if (coding === undefined) return undefined;
  return {
    filter: 'CCITTFaxDecode',
    data: layout.isReversed ? reverseBits(coded) : coded,
    width: layout.width,
    height: layout.height,
    bitsPerComponent: 1,
    colorSpace: 'DeviceGray',
    // The codes' white is a 0 in the TIFF: black where its photometric tag says that 0 is black.
    decodeParms: { ...coding, Columns: layout.width, Rows: layout.height, BlackIs1: layout.photometric === 1 },
  };
}

function faxParms(compression: number, t4Options: number): DecodeParameters | undefined {
  if (compression === 4) return { K: -1 };
  if (compression === 2) return { K: 0, EncodedByteAlign: true, EndOfBlock: false };
  return compression === 3 ? { K: t4Options & 1 ? 1 : 0, EndOfBlock: false } : undefined;
}

/** Colour spaces of a JPEG 2000 that are what PDF's own say, by how many components they have. */
const PLAIN_SPACES: Readonly<Record<number, { number: number; name: 'DeviceGray' | 'DeviceRGB' }>> = {
  1: { number: 17, name: 'DeviceGray' },
  3: { number: 16, name: 'DeviceRGB' },
};

/**
 * The coded data of a whole JPEG 2000 in grey or RGB, in a file of their own: what PDF takes no notice of, and what PDF/A-2
 * forbids (several colour spaces, a bare codestream), stays behind.
 */
export function passJpeg2000(image: EncodedImage): PdfImageData | undefined {
  const header = jpeg2000Header(image.bytes);
  if (header === undefined || !header.isComplete || header.hasPalette || header.hasChannels) return undefined;
  const { components, codestream } = header;
  const space = PLAIN_SPACES[components.length];
  const bits = components[0]?.bits ?? 0;
  if (space === undefined || (header.colorSpace ?? space.number) !== space.number) return undefined;
  if (bits < 8 || bits > 16) return undefined;
  if (!components.every((component) => component.isFull && !component.isSigned && component.bits === bits)) {
    return undefined;
  }
  const { widthPx: width, heightPx: height } = image;
  const imageHeader = box('ihdr', [...uint32(height), ...uint32(width), 0, components.length, bits - 1, 7, 0, 0]);
  const file = Buffer.concat([
    box('jP  ', [0x0d, 0x0a, 0x87, 0x0a]),
    box('ftyp', Buffer.from('jp2 \0\0\0\0jp2 ', 'latin1')),
    box('jp2h', Buffer.concat([imageHeader, box('colr', [1, 0, 0, ...uint32(space.number)])])),
    box('jp2c', codestream),
  ]);
  return { filter: 'JPXDecode', data: file, width, height, bitsPerComponent: bits, colorSpace: space.name };
}

function box(type: string, body: Uint8Array | readonly number[]): Uint8Array {
  return Buffer.concat([Buffer.from(uint32(8 + body.length)), Buffer.from(type, 'latin1'), Buffer.from(body)]);
}

function uint32(value: number): number[] {
  return [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255];
}
