/** Pictures as data URIs that every viewer shows. */

import type { EncodedImage } from '../../display/list.js';
import { crc32 } from '../../zlib.js';
import type { ImageDecoder } from '../decoding.js';
import { enlargePixels } from '../pixels.js';
import { encodePng, pixelRows } from '../png-encoder.js';

/** Characters of data URIs kept from page to page. */
const MAX_KEPT_CHARACTERS = 32 * 1024 * 1024;

export class DataUris {
  readonly #decoder: ImageDecoder;
  #kept = new Map<Uint8Array, Map<number, string>>();
  #keptCharacters = 0;

  constructor(decoder: ImageDecoder) {
    this.#decoder = decoder;
  }

  /**
   * The picture's own bytes where they are a PNG or JPEG that viewers agree on; else its pixels as PNG, each drawn as
   * `enlargement` × `enlargement` of them. Undefined, after a warning, where it can't be decoded.
   */
  async get(image: EncodedImage, enlargement = 1): Promise<string | undefined> {
    const kept = this.#kept.get(image.bytes)?.get(enlargement);
    if (kept !== undefined) return kept;
    const uri = await this.#make(image, enlargement);
    if (uri !== undefined) this.#keep(image.bytes, enlargement, uri);
    return uri;
  }

  #keep(bytes: Uint8Array, enlargement: number, uri: string): void {
    if (this.#keptCharacters + uri.length > MAX_KEPT_CHARACTERS) {
      this.#kept = new Map();
      this.#keptCharacters = 0;
    }
    const uris = this.#kept.get(bytes) ?? new Map<number, string>();
    this.#kept.set(bytes, uris.set(enlargement, uri));
    this.#keptCharacters += uri.length;
  }

  async #make(image: EncodedImage, enlargement: number): Promise<string | undefined> {
    if (enlargement === 1) {
      if (image.format === 'png' && isSoundPng(image.bytes)) return dataUri('image/png', image.bytes);
      const jpeg = image.format === 'jpeg' ? plainJpeg(image.bytes) : undefined;
      if (jpeg !== undefined) return dataUri('image/jpeg', jpeg);
    }
    const pixels = await this.#decoder.decode(image);
    return pixels && dataUri('image/png', await encodePng(pixelRows(enlargePixels(pixels, enlargement))));
  }
}

function dataUri(mediaType: string, bytes: Uint8Array): string {
  const base64 = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
  return `data:${mediaType};base64,${base64}`;
}

/** Whole, and every chunk with its right checksum: viewers refuse what our own decoder mends. */
function isSoundPng(bytes: Uint8Array): boolean {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let hasPixels = false;
  for (let at = 8; at + 12 <= bytes.length; ) {
    const length = view.getUint32(at);
    const end = at + 8 + length;
    if (end + 4 > bytes.length || crc32(bytes.subarray(at + 4, end)) !== view.getUint32(end)) return false;
    const type = Buffer.from(bytes.subarray(at + 4, at + 8)).toString('latin1');
    if (type === 'acTL') return false; // an animation
    if (type === 'IDAT') hasPixels = true;
    if (type === 'IEND') return hasPixels;
    at = end + 4;
  }
  return false;
}

/**
 * The JPEG without its Exif block, whose orientation viewers would obey and OFD does not know. Undefined for what
 * viewers show differently or not at all: four components, other than 8 bits, odd codings, no end.
 */
function plainJpeg(bytes: Uint8Array): Uint8Array | undefined {
  const kept: Uint8Array[] = [bytes.subarray(0, 2)];
  let at = 2;
  let isPlain = false;
  while (at + 4 <= bytes.length && bytes[at] === 0xff) {
    const marker = bytes[at + 1]!;
    const end = at + 2 + ((bytes[at + 2]! << 8) | bytes[at + 3]!);
    if (marker === 0xff || end > bytes.length) return undefined;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
    if (isFrame) {
      const components = bytes[at + 9];
      isPlain = marker <= 0xc2 && bytes[at + 4] === 8 && (components === 1 || components === 3);
    }
    if (marker === 0xda) {
      kept.push(bytes.subarray(at));
      return isPlain && hasEnd(bytes) ? Buffer.concat(kept) : undefined;
    }
    if (marker !== 0xe1) kept.push(bytes.subarray(at, end));
    at = end;
  }
  return undefined;
}

/** Whether an end marker stands near the end; some writers pad after it. */
function hasEnd(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).lastIndexOf(Uint8Array.of(0xff, 0xd9)) > 0;
}
