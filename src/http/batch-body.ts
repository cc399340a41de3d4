/**
 * The body of POST /v1/batches as it comes: each element of `items` goes to a reader of its own, as if it were the body of
 * a single submission, and what is around them is small. So a batch of any size costs no more memory at a time than one
 * of its items, and no long stop of the event loop.
 */
import { ServiceError } from '../errors.js';
import { decodeUtf8, type JsonBody, JsonBodyReader, parseJsonText } from './json-body.js';
import { MOST_ITEMS } from './schemas.js';
import { BYTES_FIELD } from './submission.js';
import type { UploadWriter } from './upload.js';

/** Everything around the items. */
const LARGEST_FRAME_BYTES = 64 * 1024;
const ITEMS_NAME = '"items"';

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const OPENING = new Set([0x7b, 0x5b]);
const CLOSING = new Set([0x7d, 0x5d]);
const OPENING_LIST = 0x5b;
const SPACES = new Set([0x20, 0x09, 0x0a, 0x0d]);

/** An element of `items`: its JSON, or why it is none that a submission could be. */
export type ReadItem = { readonly json: JsonBody } | { readonly fault: ServiceError };

/** Part of a piece: a stretch of the frame or of an item, or the end of an item. */
type Part = { readonly frame: Buffer } | { readonly item: Buffer } | { readonly itemEnds: true };

/** Takes a body in pieces. It ends with `finish` or with `discard`. */
export class BatchBodyReader {
  readonly #newUpload: () => UploadWriter;
  readonly #onItem: (item: ReadItem, index: number) => Promise<void>;
  readonly #frame: Buffer[] = [];
  #frameBytes = 0;
  /** Where the frame leaves out how many bytes, for the places of faults. */
  readonly #gaps: { readonly at: number; readonly bytes: number }[] = [];
  #depth = 0;
  #isInText = false;
  #isEscaped = false;
  /** The last text of the root object, as written, while it is short enough to be a name. */
  #name: number[] = [];
  /** Deep in the list of items. */
  #isInItems = false;
  /** Something else than space has come of the item. */
  #hasItem = false;
  #item: JsonBodyReader | undefined;
  #itemFault: ServiceError | undefined;
  #itemBytes = 0;
  #items = 0;

  /** @param onItem given each item as soon as it is there, one after the other */
  constructor(newUpload: () => UploadWriter, onItem: (item: ReadItem, index: number) => Promise<void>) {
    this.#newUpload = newUpload;
    this.#onItem = onItem;
  }

  /** The next bytes; the call after waits for the promise. Throws `invalid_request`. */
  async write(piece: Buffer): Promise<void> {
    for (const part of this.#split(piece)) {
      if ('frame' in part) this.#keep(part.frame);
      else if ('item' in part) await this.#readItem(part.item);
      else await this.#endItem();
    }
  }

  /** Cuts a piece where the items begin and end. */
  #split(piece: Buffer): Part[] {
    const parts: Part[] = [];
    let start = 0;
    const cut = (end: number): void => {
      if (end > start)
        parts.push(this.#hasItem ? { item: piece.subarray(start, end) } : { frame: piece.subarray(start, end) });
      start = end;
    };
    for (let at = 0; at < piece.length; ) {
      if (this.#isInText) {
        at = this.#skipText(piece, at);
        continue;
      }
      const sign = piece[at] as number;
      const isAtItem = this.#isInItems && this.#depth === 2;
      if (isAtItem && this.#hasItem && (sign === COMMA || CLOSING.has(sign))) {
        cut(at);
        parts.push({ itemEnds: true });
        this.#hasItem = false;
      } else if (isAtItem && !this.#hasItem && sign !== COMMA && !CLOSING.has(sign) && !SPACES.has(sign)) {
        cut(at);
        this.#hasItem = true;
      }
      this.#follow(sign);
      at += 1;
    }
    cut(piece.length);
    return parts;
  }

  #follow(sign: number): void {
    if (sign === QUOTE) {
      this.#isInText = true;
      if (this.#depth === 1) this.#name = [QUOTE];
    } else if (OPENING.has(sign)) {
      if (this.#depth === 1 && sign === OPENING_LIST) this.#isInItems = this.#isNamedItems();
      this.#depth += 1;
    } else if (CLOSING.has(sign)) {
      this.#depth -= 1;
      if (this.#depth < 2) this.#isInItems = false;
    }
  }

  #isNamedItems(): boolean {
    return Buffer.from(this.#name).toString('latin1') === ITEMS_NAME;
  }

  /** Goes on to the end of the text, or of the piece. */
  #skipText(piece: Buffer, from: number): number {
    let at = from;
    for (; at < piece.length; at += 1) {
      const sign = piece[at] as number;
      if (this.#depth === 1 && this.#name.length < ITEMS_NAME.length) this.#name.push(sign);
      if (this.#isEscaped) {
        this.#isEscaped = false;
      } else if (sign === BACKSLASH) {
        this.#isEscaped = true;
      } else if (sign === QUOTE) {
        this.#isInText = false;
        return at + 1;
      } else if (this.#depth > 1) {
        at = nextSign(piece, at) - 1;
      }
    }
    return at;
  }

  #keep(part: Buffer): void {
    this.#frame.push(part);
    this.#frameBytes += part.length;
    if (this.#frameBytes <= LARGEST_FRAME_BYTES) return;
    throw invalid(`The body without its items is larger than ${LARGEST_FRAME_BYTES} bytes; only items is large`);
  }

  async #readItem(part: Buffer): Promise<void> {
    if (this.#items === MOST_ITEMS) throw invalid(`items: more than ${MOST_ITEMS} are not taken; send several batches`);
    this.#itemBytes += part.length;
    if (this.#itemFault) return;
    this.#item ??= new JsonBodyReader(this.#newUpload, BYTES_FIELD, undefined, `items[${this.#items}]`);
    try {
      await this.#item.write(part);
    } catch (error) {
      await this.#failItem(error);
    }
  }

  async #endItem(): Promise<void> {
    const index = this.#items;
    this.#items += 1;
    // Its number stands for it in the frame.
    this.#keep(Buffer.from(String(index)));
    this.#gaps.push({ at: this.#frameBytes, bytes: this.#itemBytes - String(index).length });
    const item = await this.#finishItem();
    this.#item = undefined;
    this.#itemFault = undefined;
    this.#itemBytes = 0;
    await this.#onItem(item, index);
  }

  async #finishItem(): Promise<ReadItem> {
    if (!this.#itemFault && this.#item) {
      try {
        return { json: await this.#item.finish() };
      } catch (error) {
        // What is no JSON at all makes the whole body none.
        if (error instanceof ServiceError && error.cause !== undefined) throw error;
        await this.#failItem(error);
      }
    }
    return { fault: this.#itemFault as ServiceError };
  }

  /** What is wrong with one item is no concern of the others. */
  async #failItem(error: unknown): Promise<void> {
    if (!(error instanceof ServiceError) || error.code !== 'invalid_request') throw error;
    this.#itemFault = error;
    await this.#item?.discard();
  }

  /**
   * All has come. Gives the body with the number of each item in its place. Throws `invalid_request` that names the place
   * of the first fault.
   */
  finish(): unknown {
    const text = Buffer.concat(this.#frame, this.#frameBytes);
    if (text.length === 0) throw invalid('The body is empty; a JSON object was expected');
    const removed = (offset: number): number =>
      this.#gaps.reduce((sum, { at, bytes }) => (at <= offset ? sum + bytes : sum), 0);
    return parseJsonText(decodeUtf8(text), 'The body', (offset) => offset + removed(offset));
  }

  async discard(): Promise<void> {
    await this.#item?.discard();
  }
}

/** The next quotation mark or backslash; the end of the piece where there is none. */
function nextSign(piece: Buffer, from: number): number {
  const quote = piece.indexOf(QUOTE, from);
  const end = quote < 0 ? piece.length : quote;
  const backslash = piece.subarray(from, end).indexOf(BACKSLASH);
  return backslash < 0 ? end : from + backslash;
}

function invalid(message: string): ServiceError {
  return new ServiceError('invalid_request', message);
}
