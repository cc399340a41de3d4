/** Decodes the first page of a TIFF: strips or tiles, the usual compressions and colours. */
import { decodeJpeg } from './jpeg.js';
import { hasTransparency, sampleAt } from './png.js';
import { decodeBlock, FAX_COMPRESSIONS } from './tiff-blocks.js';
import { readTiffDirectory, type TiffDirectory } from './tiff-directory.js';
import type { DecodedImage } from './types.js';

const WHITE_IS_ZERO = 0;
const BLACK_IS_ZERO = 1;
const RGB = 2;
const PALETTE = 3;
const CMYK = 5;
const YCBCR = 6;
const JPEG_COMPRESSION = 7;
const COLOR_SAMPLES: Readonly<Record<number, number>> = {
  [WHITE_IS_ZERO]: 1,
  [BLACK_IS_ZERO]: 1,
  [RGB]: 3,
  [PALETTE]: 1,
  [CMYK]: 4,
  [YCBCR]: 3,
};

/** How the pixels of the first page are stored. */
export interface TiffLayout {
  readonly directory: TiffDirectory;
  readonly width: number;
  readonly height: number;
  readonly bits: number;
  readonly samples: number;
  readonly photometric: number;
  readonly compression: number;
  readonly isReversed: boolean;
  readonly isPlanar: boolean;
  readonly blockWidth: number;
  readonly blockHeight: number;
  /** Blocks side by side: 1 for strips. */
  readonly blocksAcross: number;
  /** Where each block's data stand, in order. */
  readonly blocks: readonly Uint8Array[];
}

/** Undefined where the directory makes no sense or wants what is not supported. */
export function readTiffLayout(bytes: Uint8Array): TiffLayout | undefined {
  const directory = readTiffDirectory(bytes);
  const { value, values } = directory;
  const width = value(256, 0);
  const height = value(257, 0);
  const bits = value(258, 1);
  const compression = value(259, 1);
  const isTiled = values(322) !== undefined;
  const blockWidth = isTiled ? value(322, 0) : width;
  const blockHeight = isTiled ? value(323, 0) : Math.min(height, value(278, height));
  const samples = value(277, 1);
  const photometric = value(262, FAX_COMPRESSIONS.includes(compression) ? WHITE_IS_ZERO : BLACK_IS_ZERO);
  if (![1, 2, 4, 8, 16].includes(bits) || (values(258) ?? []).some((b) => b !== bits)) return undefined;
  if (blockWidth < 1 || blockHeight < 1 || blockWidth * blockHeight > 4 * width * height + 1_000_000) return undefined;
  if (samples < (COLOR_SAMPLES[photometric] ?? 99) || samples > 8) return undefined;
  const offsets = values(isTiled ? 324 : 273) ?? [];
  const counts = values(isTiled ? 325 : 279) ?? [];
  return {
    directory,
    width,
    height,
    bits,
    samples,
    photometric,
    compression,
    isReversed: value(266, 1) === 2,
    isPlanar: value(284, 1) === 2 && samples > 1,
    blockWidth,
    blockHeight,
    blocksAcross: Math.ceil(width / blockWidth),
    blocks: offsets.map((offset, i) =>
      bytes.subarray(offset, counts[i] === undefined ? undefined : offset + counts[i]),
    ),
  };
}

/** Undefined where nothing can be decoded. Blocks that are missing stay white. */
export async function decodeTiff(bytes: Uint8Array): Promise<DecodedImage | undefined> {
  const layout = readTiffLayout(bytes);
  if (layout === undefined) return undefined;
  const { width, height } = layout;
  const rgba = new Uint8Array(width * height * 4).fill(255);
  const drawn =
    layout.compression === JPEG_COMPRESSION ? await drawJpegs(layout, rgba) : await drawBlocks(layout, rgba);
  if (drawn === 0) return undefined;
  const isPartial = drawn < blocksInPlane(layout);
  return { widthPx: width, heightPx: height, rgba, hasAlpha: hasTransparency(rgba), isPartial };
}

/** Blocks of one plane; a planar file repeats them for each sample. */
function blocksInPlane(layout: TiffLayout): number {
  return layout.blocksAcross * Math.ceil(layout.height / layout.blockHeight);
}

/** How many blocks could be drawn. */
async function drawBlocks(layout: TiffLayout, rgba: Uint8Array): Promise<number> {
  const perPlane = blocksInPlane(layout);
  const samplesInBlock = layout.isPlanar ? 1 : layout.samples;
  const planes = layout.isPlanar ? layout.samples : 1;
  const expand = pixelExpander(layout);
  if (expand === undefined) return 0;
  let drawn = 0;
  for (let block = 0; block < perPlane; block++) {
    const parts: Uint8Array[] = [];
    for (let plane = 0; plane < planes; plane++) {
      const coded = layout.blocks[plane * perPlane + block];
      const part =
        coded === undefined || coded.length === 0 ? undefined : await decodePart(layout, coded, samplesInBlock);
      if (part !== undefined) parts.push(part);
    }
    if (parts.length < planes) continue;
    drawBlock(layout, block, parts, samplesInBlock, expand, rgba);
    drawn++;
  }
  return drawn;
}

async function decodePart(layout: TiffLayout, coded: Uint8Array, samples: number): Promise<Uint8Array | undefined> {
  const { blockWidth, blockHeight, bits, compression, isReversed, directory } = layout;
  const stride = Math.ceil((blockWidth * samples * bits) / 8);
  if (FAX_COMPRESSIONS.includes(compression) && (bits !== 1 || samples !== 1)) return undefined;
  const part = await decodeBlock(coded, {
    compression,
    columns: blockWidth,
    rows: blockHeight,
    bytes: stride * blockHeight,
    isReversed,
    t4Options: directory.value(292, 0),
  });
  if (part === undefined || directory.value(317, 1) !== 2) return part;
  const summed = part.slice();
  for (let at = 0; at + stride <= summed.length; at += stride) {
    undoDifferences(summed.subarray(at, at + stride), samples, bits, directory.isLittleEndian);
  }
  return summed;
}

/** Horizontal predictor: each sample is stored as the difference from the one to its left. */
function undoDifferences(line: Uint8Array, samples: number, bits: number, isLittleEndian: boolean): void {
  if (bits === 8) {
    for (let i = samples; i < line.length; i++) line[i] = line[i]! + line[i - samples]!;
  } else if (bits === 16) {
    const view = new DataView(line.buffer, line.byteOffset, line.byteLength);
    for (let i = samples * 2; i + 1 < line.length; i += 2) {
      const sum = view.getUint16(i, isLittleEndian) + view.getUint16(i - samples * 2, isLittleEndian);
      view.setUint16(i, sum & 0xffff, isLittleEndian);
    }
  }
}

type PixelExpander = (samples: readonly number[], rgba: Uint8Array, at: number) => void;

function drawBlock(
  layout: TiffLayout,
  block: number,
  parts: readonly Uint8Array[],
  samplesInBlock: number,
  expand: PixelExpander,
  rgba: Uint8Array,
): void {
  const { width, height, bits, samples, blockWidth, blockHeight } = layout;
  const left = (block % layout.blocksAcross) * blockWidth;
  const top = Math.floor(block / layout.blocksAcross) * blockHeight;
  const stride = Math.ceil((blockWidth * samplesInBlock * bits) / 8);
  const columns = Math.min(blockWidth, width - left);
  const rows = Math.min(blockHeight, height - top, Math.floor(parts[0]!.length / stride));
  const read = sampleReader(layout);
  const pixel = new Array<number>(samples).fill(0);
  for (let y = 0; y < rows; y++) {
    const lines = parts.map((part) => part.subarray(y * stride, (y + 1) * stride));
    for (let x = 0; x < columns; x++) {
      for (let s = 0; s < samples; s++) {
        pixel[s] = layout.isPlanar ? read(lines[s]!, x) : read(lines[0]!, x * samples + s);
      }
      expand(pixel, rgba, ((top + y) * width + left + x) * 4);
    }
  }
}

/** Of 16 bits the high byte is enough. */
function sampleReader(layout: TiffLayout): (line: Uint8Array, index: number) => number {
  const { bits } = layout;
  if (bits === 16) {
    const high = layout.directory.isLittleEndian ? 1 : 0;
    return (line, index) => line[index * 2 + high] ?? 0;
  }
  return (line, index) => sampleAt(line, index, bits);
}

function pixelExpander(layout: TiffLayout): PixelExpander | undefined {
  const scale = layout.bits >= 8 ? 1 : 255 / ((1 << layout.bits) - 1);
  const alpha = alphaOf(layout);
  switch (layout.photometric) {
    case WHITE_IS_ZERO:
    case BLACK_IS_ZERO: {
      const isInverted = layout.photometric === WHITE_IS_ZERO;
      return (s, rgba, at) => {
        const gray = isInverted ? 255 - s[0]! * scale : s[0]! * scale;
        put(rgba, at, gray, gray, gray, alpha(s));
      };
    }
    case RGB:
      return (s, rgba, at) => put(rgba, at, s[0]! * scale, s[1]! * scale, s[2]! * scale, alpha(s));
    case PALETTE:
      return paletteExpander(layout);
    case CMYK:
      return (s, rgba, at) => {
        const light = (255 - s[3]!) / 255;
        put(rgba, at, (255 - s[0]!) * light, (255 - s[1]!) * light, (255 - s[2]!) * light, 255);
      };
    default:
      return undefined;
  }
}

function put(rgba: Uint8Array, at: number, red: number, green: number, blue: number, alpha: number): void {
  rgba[at] = red + 0.5;
  rgba[at + 1] = green + 0.5;
  rgba[at + 2] = blue + 0.5;
  rgba[at + 3] = alpha;
}

/** Only samples declared as unassociated alpha count; premultiplied alpha is rare and drawn as opaque colour. */
function alphaOf(layout: TiffLayout): (samples: readonly number[]) => number {
  const colors = COLOR_SAMPLES[layout.photometric] ?? 0;
  const isAlpha = layout.directory.value(338, 0) === 2 && layout.samples > colors && layout.bits >= 8;
  return isAlpha ? (samples) => samples[colors]! : () => 255;
}

function paletteExpander(layout: TiffLayout): PixelExpander | undefined {
  const map = layout.directory.values(320);
  const colors = 1 << layout.bits;
  if (map === undefined || map.length < 3 * colors) return undefined;
  return (s, rgba, at) => {
    const index = s[0]!;
    put(rgba, at, map[index]! >> 8, map[colors + index]! >> 8, map[2 * colors + index]! >> 8, 255);
  };
}

/** Each block is a JPEG whose tables may stand in a tag of their own. */
async function drawJpegs(layout: TiffLayout, rgba: Uint8Array): Promise<number> {
  if (layout.isPlanar || layout.photometric === CMYK || layout.bits !== 8) return 0;
  const tables = layout.directory.raw(347);
  let drawn = 0;
  for (let block = 0; block < Math.min(layout.blocks.length, blocksInPlane(layout)); block++) {
    const coded = layout.blocks[block]!;
    const decoded = coded.length < 4 ? undefined : await decodeJpeg(completeJpeg(coded, tables, layout.photometric));
    if (decoded === undefined) continue;
    const left = (block % layout.blocksAcross) * layout.blockWidth;
    const top = Math.floor(block / layout.blocksAcross) * layout.blockHeight;
    copyPixels(decoded, layout, left, top, rgba);
    drawn++;
  }
  return drawn;
}

/** Start of image, Adobe's marker with the colour transform that the TIFF names, tables, frame and scan. */
function completeJpeg(coded: Uint8Array, tables: Uint8Array | undefined, photometric: number): Uint8Array {
  const transform = photometric === YCBCR ? 1 : 0;
  const start = [0xff, 0xd8, 0xff, 0xee, 0, 14, 0x41, 0x64, 0x6f, 0x62, 0x65, 0, 100, 0, 0, 0, 0, transform];
  const body = tables === undefined || tables.length < 4 ? new Uint8Array(0) : tables.subarray(2, tables.length - 2);
  return Buffer.concat([Uint8Array.from(start), body, coded.subarray(2)]);
}

function copyPixels(from: DecodedImage, layout: TiffLayout, left: number, top: number, rgba: Uint8Array): void {
  const columns = Math.min(from.widthPx, layout.width - left);
  const rows = Math.min(from.heightPx, layout.height - top);
  for (let y = 0; y < rows; y++) {
    const line = from.rgba.subarray(y * from.widthPx * 4, (y * from.widthPx + columns) * 4);
    rgba.set(line, ((top + y) * layout.width + left) * 4);
  }
}
