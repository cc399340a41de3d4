/** JBIG2, JPEG 2000 and raw JPEG inks through pdf.js's decoders, loaded when the first such picture comes. */
import { jbig2Demand } from './jbig2-limits.js';
import { withinTime } from './time-limit.js';

const DECODERS = 'pdfjs-dist/legacy/image_decoders/pdf.image_decoders.mjs';
/** The script form of the JPEG 2000 decoder: the other form would want to read a file of its own. */
const OPENJPEG = 'pdfjs-dist/wasm/openjpeg_nowasm_fallback.js';

interface Size {
  readonly width: number;
  readonly height: number;
}

/** The part of the library that is used; it ships no types for this entry. */
interface Decoders {
  readonly JpegImage: new () => {
    parse(bytes: Uint8Array): void;
    getData(options: Size & { isSourcePDF: boolean }): Uint8ClampedArray;
  };
  readonly Jbig2Image: new () => { width: number; height: number; parse(bytes: Uint8Array): Uint8ClampedArray };
  setVerbosityLevel(level: number): void;
}

let loading: Promise<Decoders> | undefined;

function decoders(): Promise<Decoders> {
  loading ??= import(DECODERS).then((library: Decoders) => {
    library.setVerbosityLevel(0);
    return library;
  });
  return loading;
}

/** For symbols and halftones, whose number and size only decoding tells: a start, and time by pixels. */
const BASE_LIMIT_MS = 1_000;
const PIXELS_PER_MS = 10_000;

/** Grey pixels of a JBIG2 file, 0 for black, of the size given. Undefined where it cannot be decoded or asks for too much. */
export async function decodeJbig2(bytes: Uint8Array, size: Size): Promise<Uint8ClampedArray | undefined> {
  const pixels = size.width * size.height;
  const demand = jbig2Demand(bytes, pixels);
  if (!demand.isSensible) return undefined;
  const { Jbig2Image } = await decoders();
  const parse = () => {
    const image = new Jbig2Image();
    const gray = image.parse(withHeight(bytes.subarray(0, demand.end), demand.openHeightAt, size.height));
    return image.width === size.width && image.height === size.height ? gray : undefined;
  };
  try {
    return demand.isPlain ? parse() : withinTime(BASE_LIMIT_MS + pixels / PIXELS_PER_MS, parse);
  } catch {
    return undefined;
  }
}

/** The library knows no page whose height is left open. */
function withHeight(bytes: Uint8Array, at: number | undefined, height: number): Uint8Array {
  if (at === undefined) return bytes;
  const copy = bytes.slice();
  new DataView(copy.buffer).setUint32(at, height);
  return copy;
}

/** The decoder as its script gives it: memory to put a file into, and a call that leaves samples or messages behind. */
interface OpenJpeg {
  _malloc(size: number): number;
  _free(at: number): void;
  writeArrayToMemory(bytes: Uint8Array, at: number): void;
  _jp2_decode(at: number, size: number, components: number, isIndexed: number, hasMask: number, reduce: number): number;
  imageData: Uint8ClampedArray | null | undefined;
  errorMessages?: string;
}

type OpenJpegScript = { default(options: { warn(message: string): void }): Promise<OpenJpeg> };

let openJpeg: Promise<OpenJpeg> | undefined;

/**
 * Interleaved samples of 8 bits: one, three or four a pixel; grey with opacity as RGBA. Undefined where the data cannot be
 * decoded.
 */
export async function decodeJpeg2000(
  bytes: Uint8Array,
  isGrayAndAlpha: boolean,
): Promise<Uint8ClampedArray | undefined> {
  // What it has to say of damaged files is said by our own warnings.
  openJpeg ??= import(OPENJPEG).then((script: OpenJpegScript) => script.default({ warn: () => {} }));
  const decoder = await openJpeg;
  try {
    const at = decoder._malloc(bytes.length);
    decoder.writeArrayToMemory(bytes, at);
    const isFailed = decoder._jp2_decode(at, bytes.length, isGrayAndAlpha ? 0 : 4, 0, isGrayAndAlpha ? 1 : 0, 0) !== 0;
    const { imageData } = decoder;
    decoder.imageData = null;
    delete decoder.errorMessages;
    decoder._free(at);
    return isFailed ? undefined : (imageData ?? undefined);
  } catch {
    openJpeg = undefined; // the instance is broken: take a new one
    return undefined;
  }
}

/** Four samples a pixel as they stand in a JPEG, 255 for full ink. Undefined where it cannot be decoded. */
export async function decodeInks(bytes: Uint8Array, size: Size): Promise<Uint8ClampedArray | undefined> {
  const { JpegImage } = await decoders();
  try {
    const image = new JpegImage();
    image.parse(bytes);
    const data = image.getData({ width: size.width, height: size.height, isSourcePDF: true });
    return data.length === size.width * size.height * 4 ? data : undefined;
  } catch {
    return undefined;
  }
}
