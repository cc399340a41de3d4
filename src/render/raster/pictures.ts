/** Pictures as canvases ready to be drawn: decoded once, masked, reduced to about the size they are shown at, kept for a while. */
import { type Canvas, createCanvas, ImageData } from '@napi-rs/canvas';
import type { EncodedImage } from '../../display/list.js';
import type { ImageDecoder } from '../decoding.js';
import { applyMask, type Pixels, reducePixels } from '../pixels.js';
import { releasePixels } from './target.js';

/** Bytes of pixels kept for the next time the same picture is drawn. */
const MAX_KEPT_BYTES = 96 * 1024 * 1024;

/** Part of a canvas, from its top left corner, that shows the whole picture. */
export interface Picture {
  readonly canvas: Canvas;
  /** Not whole where the picture was reduced by a factor that its size can't be divided by. */
  readonly sourceWidth: number;
  readonly sourceHeight: number;
}

export class Pictures {
  readonly #decoder: ImageDecoder;
  /** In the order of last use. */
  readonly #kept = new Map<string, Picture>();
  readonly #numbers = new WeakMap<Uint8Array, number>();
  #keptBytes = 0;
  /** The last one, where it is too large to be kept: good until the next is asked for. */
  #passing: Picture | undefined;
  #nextNumber = 1;

  constructor(decoder: ImageDecoder) {
    this.#decoder = decoder;
  }

  /**
   * The picture, for drawing at about `widthPx` × `heightPx` device pixels; may have fewer pixels than the encoded one,
   * never fewer than that. Good until the next call. Undefined, after a warning, where it can't be decoded.
   */
  async get(
    image: EncodedImage,
    mask: EncodedImage | undefined,
    widthPx: number,
    heightPx: number,
  ): Promise<Picture | undefined> {
    if (this.#passing !== undefined) releasePixels(this.#passing.canvas);
    this.#passing = undefined;
    const factorX = Math.max(1, Math.floor(image.widthPx / Math.max(1, widthPx)));
    const factorY = Math.max(1, Math.floor(image.heightPx / Math.max(1, heightPx)));
    const key = `${this.#numberOf(image)} ${mask ? this.#numberOf(mask) : 0} ${factorX} ${factorY}`;
    const kept = this.#kept.get(key);
    if (kept !== undefined) {
      this.#kept.delete(key);
      this.#kept.set(key, kept);
      return kept;
    }
    const pixels = await this.#decoder.decode(image);
    if (pixels === undefined) return undefined;
    const maskPixels = mask && (await this.#decoder.decode(mask));
    const whole = maskPixels ? applyMask(pixels, maskPixels) : pixels;
    const picture = {
      canvas: toCanvas(reducePixels(whole, factorX, factorY)),
      sourceWidth: whole.widthPx / factorX,
      sourceHeight: whole.heightPx / factorY,
    };
    this.#keep(key, picture);
    return picture;
  }

  #numberOf(image: EncodedImage): number {
    let number = this.#numbers.get(image.bytes);
    if (number === undefined) {
      number = this.#nextNumber++;
      this.#numbers.set(image.bytes, number);
    }
    return number;
  }

  #keep(key: string, picture: Picture): void {
    this.#kept.set(key, picture);
    this.#keptBytes += bytesOf(picture);
    for (const [oldest, old] of this.#kept) {
      if (this.#keptBytes <= MAX_KEPT_BYTES) return;
      this.#kept.delete(oldest);
      this.#keptBytes -= bytesOf(old);
      if (old === picture) this.#passing = picture;
      else releasePixels(old.canvas);
    }
  }
}

function bytesOf({ canvas }: Picture): number {
  return canvas.width * canvas.height * 4;
}

export function toCanvas(pixels: Pixels): Canvas {
  const { rgba, widthPx, heightPx } = pixels;
  const canvas = createCanvas(widthPx, heightPx);
  const clamped = new Uint8ClampedArray(rgba.buffer as ArrayBuffer, rgba.byteOffset, rgba.byteLength);
  canvas.getContext('2d').putImageData(new ImageData(clamped, widthPx, heightPx), 0, 0);
  return canvas;
}
