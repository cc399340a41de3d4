/** Pictures as image XObjects: each written once, in its own coding where PDF knows that, with its opacity as a soft mask. */
import { createHash } from 'node:crypto';
import type { EncodedImage, ImageItem, Item, Report } from '../../display/list.js';
import type { Paint } from '../../display/paint.js';
import { type PdfImageData, pdfImage } from '../../images/index.js';
import { partialPicture, undecodedCode } from '../decoding.js';
import { substituteOf } from '../substitute.js';
import type { PdfFile, Value } from './file.js';
import { coverageMask } from './image-mask.js';
import type { Reference } from './pdf-lib.js';

const INKS = ['Cyan', 'Magenta', 'Yellow', 'Black'];
/** Cyan, magenta, yellow and black on the stack become red, green and blue: each (1 − ink)·(1 − black). */
const MIXING =
  '{1 exch sub 4 1 roll 1 exch sub 3 index mul 3 1 roll 1 exch sub 3 index mul 3 1 roll ' +
  '1 exch sub 3 index mul 4 1 roll 3 -1 roll pop}';

export interface WrittenImage {
  readonly reference: Reference;
  readonly isTransparent: boolean;
}

export class ImageTable {
  readonly #file: PdfFile;
  readonly #report: Report;
  /** A hash of each picture's bytes, so that equal parts become one object. */
  readonly #contents = new WeakMap<EncodedImage, string>();
  /** By content and mask; undefined for what cannot be decoded. */
  readonly #written = new Map<string, WrittenImage | undefined>();
  /** Items of shared groups whose pictures are written. */
  readonly #prepared = new WeakSet<readonly Item[]>();

  constructor(file: PdfFile, report: Report) {
    this.#file = file;
    this.#report = report;
  }

  /** Writes all pictures of `items` that the file does not hold yet. */
  async prepare(items: readonly Item[], page: number): Promise<void> {
    for (const item of items) {
      if (item.kind === 'group') {
        if (item.isShared && this.#prepared.has(item.items)) continue;
        await this.prepare(item.items, page);
        if (item.isShared) this.#prepared.add(item.items);
      } else if (item.kind === 'image') {
        await this.#prepareImage(item, page);
      } else {
        await this.#preparePaint(item.kind === 'path' ? item.fill?.paint : item.fill, page);
        await this.#preparePaint(item.stroke?.paint, page);
      }
    }
  }

  /** A prepared picture; undefined where it could not be decoded. */
  imageOf(item: ImageItem): WrittenImage | undefined {
    const written = this.#written.get(this.#keyOf(item));
    const other = written === undefined ? substituteOf(item) : undefined;
    return other === undefined ? written : this.#written.get(this.#keyOf(other));
  }

  async #preparePaint(paint: Paint | undefined, page: number): Promise<void> {
    if (paint?.kind === 'tiling') await this.prepare(paint.items, page);
  }

  async #prepareImage(item: ImageItem, page: number): Promise<void> {
    const key = this.#keyOf(item);
    if (this.#written.has(key)) return;
    const data = await this.#tryTo(item.image, page, () => pdfImage(item.image));
    if (!data) {
      this.#written.set(key, undefined);
      const other = substituteOf(item);
      if (other !== undefined) await this.#prepareImage(other, page);
      return;
    }
    if (data.isPartial) this.#report(partialPicture(item.image, page));
    const { mask } = item;
    const coverage = mask && (await this.#tryTo(mask, page, () => coverageMask(item.image, data, mask)));
    const softMask = coverage ?? data.softMask;
    const reference = this.#write(data, softMask);
    this.#written.set(key, { reference, isTransparent: softMask !== undefined });
  }

  async #tryTo<T>(image: EncodedImage, page: number, decode: () => Promise<T>): Promise<T | undefined> {
    try {
      return await decode();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#report({
        code: undecodedCode(error),
        message: `picture ${image.part} is left out: ${reason}`,
        page,
        part: image.part,
      });
      return undefined;
    }
  }

  #write(data: PdfImageData, softMask: PdfImageData | undefined): Reference {
    return this.#file.addStream(
      {
        Type: 'XObject',
        Subtype: 'Image',
        Width: data.width,
        Height: data.height,
        ColorSpace: this.#colorSpace(data.colorSpace),
        BitsPerComponent: data.bitsPerComponent,
        Filter: data.filter,
        ...(data.decode ? { Decode: [...data.decode] } : {}),
        ...(data.decodeParms ? { DecodeParms: { ...data.decodeParms } } : {}),
        ...(softMask ? { SMask: this.#write(softMask, undefined) } : {}),
      },
      data.data,
    );
  }

  #colorSpace(colorSpace: PdfImageData['colorSpace']): Value {
    if (colorSpace === 'DeviceCMYK') return ['DeviceN', INKS, 'DeviceRGB', this.#inksToRgb()];
    if (typeof colorSpace === 'string') return colorSpace;
    const { palette } = colorSpace;
    return ['Indexed', 'DeviceRGB', palette.length / 3 - 1, this.#file.addStream({}, palette)];
  }

  /** A PDF/A with colours of sRGB takes inks only with the rule that mixes them; the rule is OFD's. */
  #inksToRgb(): Reference {
    const domain = INKS.flatMap(() => [0, 1]);
    const entries = { FunctionType: 4, Domain: domain, Range: [0, 1, 0, 1, 0, 1] };
    return this.#file.addStreamOnce(entries, Buffer.from(MIXING));
  }

  #keyOf(item: ImageItem): string {
    return `${this.#contentOf(item.image)} ${item.mask ? this.#contentOf(item.mask) : ''}`;
  }

  #contentOf(image: EncodedImage): string {
    let content = this.#contents.get(image);
    if (content === undefined) {
      content = createHash('sha256').update(image.bytes).digest('base64');
      this.#contents.set(image, content);
    }
    return content;
  }
}
