/**
 * A JSON body as it comes. A text that is long, the base64 of an upload, is cut out and decoded on its way to an
 * UploadWriter; the rest, which is small, goes through JSON.parse. So a document of any size costs little memory and no
 * long stop of the event loop, and everything that JSON.parse refuses is refused.
 */
import { randomBytes } from 'node:crypto';
import { findJsonFault, findRepeatedName } from '../config/json-fault.js';
import { ServiceError } from '../errors.js';
import { Base64Decoder } from './base64.js';
import { LongTextDecoder } from './long-text.js';
import type { Upload, UploadWriter } from './upload.js';

/** Texts from this length on are cut out. */
const LONG_TEXT_BYTES = 64 * 1024;
/** Everything beside the long text, which is read in one go: several times what any request needs. */
const LARGEST_REST_BYTES = 128 * 1024;

const SHOWN_CHARACTERS = 40;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** A parsed body. */
export interface JsonBody {
  readonly value: unknown;
  /** The long text, if there was one: it stands in `value` as a placeholder that no client can guess. */
  readonly longText: LongText | undefined;
}

export interface LongText {
  readonly placeholder: string;
  /** How it begins, for messages. */
  readonly start: string;
  /** What it decodes to, or why it does not; which of both counts is known once its place is. */
  readonly upload: Upload | undefined;
  readonly fault: ServiceError | undefined;
}

/** What is known of a long text while it comes. */
interface Cut {
  readonly placeholder: string;
  readonly start: string;
  readonly writer: UploadWriter;
  readonly decoder: LongTextDecoder;
  /** Bytes before it, in the body. */
  readonly startBytes: number;
  /** Where its placeholder ends in the rest. */
  readonly restEnd: number;
  sizeBytes: number;
  fault: ServiceError | undefined;
}

/** Takes a body in pieces. It ends with `finish` or with `discard`. */
export class JsonBodyReader {
  readonly #newUpload: () => UploadWriter;
  readonly #field: string;
  readonly #isSmall: boolean;
  #rest: Buffer[] = [];
  #restBytes = 0;
  #cut: Cut | undefined;
  /** Where the text that is being read starts in the rest; undefined outside of texts. */
  #textStart: number | undefined;
  /** The bytes of the text being read go to the cut. */
  #isCutting = false;
  /** The last byte was a backslash that makes the next one part of the text. */
  #isEscaped = false;
  readonly #subject: string;

  /**
   * @param field name of the field whose text may be long, for messages
   * @param declaredBytes size of the body, where it is known: a small one has no long text
   * @param subject what it is, for messages
   */
  constructor(
    newUpload: () => UploadWriter,
    field: string,
    declaredBytes = Number.POSITIVE_INFINITY,
    subject = 'The body',
  ) {
    this.#newUpload = newUpload;
    this.#field = field;
    this.#isSmall = declaredBytes <= LONG_TEXT_BYTES;
    this.#subject = subject;
  }

  /** The next bytes; the call after waits for the promise, where there is one. Throws `invalid_request`. */
  write(piece: Buffer): Promise<void> | undefined {
    if (this.#isSmall) {
      this.#keep(piece);
      return undefined;
    }
    const cutParts: Buffer[] = [];
    for (let at = 0; at < piece.length; ) {
      if (this.#textStart === undefined) at = this.#readOutside(piece, at);
      else at = this.#readText(piece, at, cutParts);
    }
    return cutParts.length === 0 ? undefined : this.#decode(cutParts);
  }

  #readOutside(piece: Buffer, at: number): number {
    const quote = piece.indexOf(QUOTE, at);
    const end = quote < 0 ? piece.length : quote + 1;
    this.#keep(piece.subarray(at, end));
    if (quote >= 0) this.#textStart = this.#restBytes;
    return end;
  }

  #readText(piece: Buffer, at: number, cutParts: Buffer[]): number {
    const close = this.#closingQuote(piece, at);
    const part = piece.subarray(at, close ?? piece.length);
    const start = this.#textStart as number;
    if (this.#isCutting) {
      this.#addToCut(part, cutParts);
    } else if (this.#restBytes - start + part.length > LONG_TEXT_BYTES) {
      this.#beginCut(start, cutParts);
      this.#addToCut(part, cutParts);
    } else {
      this.#keep(part);
    }
    if (close === undefined) return piece.length;
    this.#textStart = undefined;
    this.#isCutting = false;
    // The quotation mark itself.
    this.#keep(piece.subarray(close, close + 1));
    return close + 1;
  }

  /** Where the text ends in this piece. */
  #closingQuote(piece: Buffer, from: number): number | undefined {
    let at = from;
    if (this.#isEscaped) {
      this.#isEscaped = false;
      at += 1;
    }
    let backslash = piece.indexOf(BACKSLASH, at);
    for (;;) {
      const quote = piece.indexOf(QUOTE, at);
      while (backslash >= 0 && backslash < at) backslash = piece.indexOf(BACKSLASH, at);
      if (backslash < 0 || (quote >= 0 && quote < backslash)) return quote < 0 ? undefined : quote;
      at = backslash + 2;
      if (at > piece.length) {
        this.#isEscaped = true;
        return undefined;
      }
    }
  }

  #keep(part: Buffer): void {
    if (part.length === 0) return;
    this.#rest.push(part);
    this.#restBytes += part.length;
    if (this.#restBytes > LARGEST_REST_BYTES) {
      throw invalid(
        `${this.#subject} without its long text is larger than ${LARGEST_REST_BYTES} bytes; only ${this.#field} is large`,
      );
    }
  }

  /** The text that starts at `start` in the rest turns out to be long. */
  #beginCut(start: number, cutParts: Buffer[]): void {
    if (this.#cut) throw invalid(`A second long text stands in the body; only ${this.#field} is large`);
    const rest = Buffer.concat(this.#rest, this.#restBytes);
    const placeholder = randomBytes(16).toString('hex');
    this.#rest = [rest.subarray(0, start), Buffer.from(placeholder)];
    this.#restBytes = start + placeholder.length;
    this.#cut = {
      placeholder,
      start: rest.toString('latin1', start, start + SHOWN_CHARACTERS).replace(/[^\x20-\x7e]/g, '?'),
      writer: this.#newUpload(),
      decoder: new LongTextDecoder(new Base64Decoder(this.#field)),
      startBytes: start - 1,
      restEnd: this.#restBytes,
      sizeBytes: 0,
      fault: undefined,
    };
    this.#isCutting = true;
    this.#addToCut(rest.subarray(start), cutParts);
  }

  #addToCut(part: Buffer, cutParts: Buffer[]): void {
    const cut = this.#cut as Cut;
    cut.sizeBytes += part.length;
    if (part.length > 0) cutParts.push(part);
  }

  async #decode(parts: readonly Buffer[]): Promise<void> {
    const cut = this.#cut as Cut;
    for (const part of parts) await this.#store(cut, () => cut.decoder.push(part));
  }

  /** Decoded bytes go to the upload. A fault is kept: the text's place decides whether it matters. */
  async #store(cut: Cut, decode: () => Buffer): Promise<void> {
    if (cut.fault) return;
    try {
      const bytes = decode();
      if (bytes.length > 0) await cut.writer.write(bytes);
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'invalid_request') throw error;
      cut.fault = error;
      await cut.writer.discard();
    }
  }

  /** All has come. Throws `invalid_request` that names the place of the first fault. */
  async finish(): Promise<JsonBody> {
    const cut = this.#cut;
    if (this.#isCutting && cut) {
      const start = `the text that starts at character ${cut.startBytes}`;
      throw invalid(`${this.#subject} is no valid JSON: ${start} has no end; is the body cut?`);
    }
    if (cut) await this.#store(cut, () => cut.decoder.end());
    const value = this.#parse();
    if (!cut) return { value, longText: undefined };
    const { placeholder, start, fault } = cut;
    return { value, longText: { placeholder, start, fault, upload: fault ? undefined : await cut.writer.finish() } };
  }

  async discard(): Promise<void> {
    this.#rest = [];
    await this.#cut?.writer.discard();
  }

  #parse(): unknown {
    const rest = Buffer.concat(this.#rest, this.#restBytes);
    this.#rest = [];
    if (rest.length === 0) throw invalid(`${this.#subject} is empty; a JSON object was expected`);
    const cut = this.#cut;
    const removed = (offset: number): number =>
      cut && cut.restEnd <= offset ? cut.sizeBytes - cut.placeholder.length : 0;
    return parseJsonText(decodeUtf8(rest), this.#subject, (offset) => offset + removed(offset));
  }
}

/**
 * The value of a JSON text. Throws `invalid_request` that names the place of the first fault (its cause is the fault of the
 * syntax), or a name given twice.
 * @param subject what the text is, for the message
 * @param placeOf the place, in what the client sent, of an offset in the text
 */
export function parseJsonText(text: string, subject: string, placeOf = (offset: number): number => offset): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    const { offset, wanted } = findJsonFault(text);
    const end = offset >= text.length ? ', where it ends' : '';
    const message = `${subject} is no valid JSON at character ${placeOf(offset)}${end}: ${wanted} was expected`;
    throw new ServiceError('invalid_request', message, { cause });
  }
  const repeated = findRepeatedName(text, value);
  if (repeated !== undefined) throw invalid(`${shortened(repeated)}: the field is given twice; leave one out`);
  return value;
}

function shortened(name: string): string {
  return name.length > 100 ? `${name.slice(0, 100)}…` : name;
}

/** Throws `invalid_request`. */
export function decodeUtf8(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new ServiceError('invalid_request', 'The body is not valid UTF-8; JSON is sent in UTF-8', { cause: error });
  }
}

function invalid(message: string): ServiceError {
  return new ServiceError('invalid_request', message);
}
