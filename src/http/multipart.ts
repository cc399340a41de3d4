/**
 * POST /v1/convert as a form (multipart/form-data): the file in the part `file`, and beside it either the request as JSON
 * in the part `request`, or flat fields. The file goes to an UploadWriter as it comes.
 */
import type { Readable } from 'node:stream';
import { Dicer } from '@fastify/busboy';
import { ServiceError } from '../errors.js';
import type { BodyLimits } from './body-reader.js';
import { readBody } from './body-reader.js';
import { type Disposition, dispositionOf, parametersOf } from './disposition.js';
import { bodyOfFields, type GivenField } from './fields.js';
import { parseJsonText } from './json-body.js';
import type { Upload, UploadWriter } from './upload.js';

const FILE_PART = 'file';
const REQUEST_PART = 'request';
const MOST_PARTS = 100;
const LARGEST_FIELD_BYTES = 64 * 1024;
const LIMITS = { maxHeaderPairs: 50, maxHeaderSize: 16 * 1024 };

const PLAIN_ENCODINGS = new Set(['7bit', '8bit', 'binary']);

/** What a form says. */
export interface Form {
  /** The body that it stands for, to be validated. */
  readonly body: unknown;
  /** The body is made of flat fields, and not written as JSON. */
  readonly isFlat: boolean;
  readonly upload: Upload | undefined;
  /** Name of the file, as the part gives it. */
  readonly fileName: string | undefined;
}

/**
 * Reads a form to its end. Throws `invalid_request` for what is no form, has a part twice, or has one that cannot be read.
 * @param contentType of the request, with its boundary
 */
export async function readForm(
  body: Readable,
  contentType: string,
  limits: BodyLimits,
  newUpload: () => UploadWriter,
): Promise<Form> {
  const form = new FormReader(parserOf(contentType), newUpload);
  try {
    await readBody(body, limits, (piece) => form.write(piece));
    await form.end();
    return await form.finish();
  } catch (error) {
    await form.discard();
    throw error;
  }
}

function parserOf(contentType: string): Dicer {
  if (!/^\s*multipart\/form-data/i.test(contentType)) {
    const type = contentType.split(';', 1)[0]?.trim() ?? '';
    throw invalid(`Content-Type: ${shown(type)} is not taken; a form is multipart/form-data`);
  }
  try {
    const boundary = parametersOf(contentType).get('boundary');
    if (boundary) return new Dicer({ boundary, ...LIMITS });
  } catch (error) {
    throw new ServiceError('invalid_request', NO_BOUNDARY, { cause: error });
  }
  throw invalid(NO_BOUNDARY);
}

const NO_BOUNDARY =
  'Content-Type: multipart/form-data has no boundary; leave the header to the program that makes the form';

type PartHeaders = Readonly<Record<string, readonly string[] | undefined>>;

/** Takes the parts as the parser finds them. Each one is read to its end or the form fails: none can hold up the rest. */
class FormReader {
  /** Rejects with the first fault. */
  readonly #failed: Promise<never>;
  /** Resolves behind the last boundary. What comes then is of no meaning. */
  readonly #finished: Promise<void>;
  readonly #parser: Dicer;
  readonly #newUpload: () => UploadWriter;
  readonly #fields: GivenField[] = [];
  #isFinished = false;
  #partCount = 0;
  /** Parts whose headers have come. */
  #headCount = 0;
  #writer: UploadWriter | undefined;
  #file: Readable | undefined;
  #writing: Promise<void> = Promise.resolve();
  #fileName: string | undefined;
  #fail: (error: unknown) => void = () => undefined;

  constructor(parser: Dicer, newUpload: () => UploadWriter) {
    this.#parser = parser;
    this.#newUpload = newUpload;
    this.#failed = new Promise((_resolve, reject) => {
      this.#fail = reject;
    });
    this.#failed.catch(() => undefined);
    this.#finished = new Promise((resolve) => {
      parser.once('finish', () => {
        this.#isFinished = true;
        resolve();
      });
    });
    parser.on('part', (part) => this.#takePart(part)).on('error', (error) => this.#fail(broken(error)));
  }

  /** Resolves when the parser has taken the piece; rejects with the fault that it meets meanwhile. */
  write(piece: Buffer): Promise<void> | undefined {
    if (this.#isFinished) return undefined;
    const taken = new Promise<void>((resolve) => this.#parser.write(piece, () => resolve()));
    // The parser does not call back for a piece that holds the end.
    return Promise.race([taken, this.#finished, this.#failed]);
  }

  #takePart(part: Readable): void {
    part.on('error', (error) => this.#fail(broken(error)));
    if (this.#headCount !== this.#partCount) this.#fail(broken());
    this.#partCount += 1;
    if (this.#partCount > MOST_PARTS) this.#fail(invalid(`The form has more than ${MOST_PARTS} parts`));
    part.once('header', (headers: PartHeaders) => {
      this.#headCount += 1;
      try {
        this.#takeHeaders(headers, part);
      } catch (error) {
        part.resume();
        this.#fail(error);
      }
    });
  }

  #takeHeaders(headers: PartHeaders, part: Readable): void {
    const { name, fileName } = partDisposition(headers['content-disposition']?.[0]);
    const encoding = headers['content-transfer-encoding']?.[0]?.trim().toLowerCase() ?? '7bit';
    if (!PLAIN_ENCODINGS.has(encoding)) {
      throw invalid(
        `${shown(name)}: Content-Transfer-Encoding ${shown(encoding)} is not taken; send the bytes themselves`,
      );
    }
    if (name === FILE_PART) this.#takeFile(part, fileName);
    else this.#takeField(part, name);
  }

  #takeFile(part: Readable, fileName: string | undefined): void {
    if (this.#writer) throw invalid(`The form has two parts "${FILE_PART}"; a request converts one file`);
    this.#fileName = fileName || undefined;
    this.#file = part;
    this.#writer = this.#newUpload();
    this.#writing = writeAll(part, this.#writer);
    this.#writing.catch((error) => this.#fail(error));
  }

  #takeField(part: Readable, name: string): void {
    const pieces: Buffer[] = [];
    let sizeBytes = 0;
    part.on('data', (piece: Buffer) => {
      sizeBytes += piece.length;
      if (sizeBytes <= LARGEST_FIELD_BYTES) pieces.push(piece);
      else this.#fail(invalid(`${shown(name)}: the part has more than ${LARGEST_FIELD_BYTES} bytes`));
    });
    part.once('end', () => this.#fields.push([name, Buffer.concat(pieces).toString('utf8')]));
  }

  /** All has come: resolves when everything is taken. */
  async end(): Promise<void> {
    this.#parser.end();
    await Promise.race([this.#finished, this.#failed]);
    if (this.#headCount !== this.#partCount) throw broken();
    await Promise.race([this.#writing, this.#failed]);
  }

  async finish(): Promise<Form> {
    const body = this.#body();
    const upload = await this.#writer?.finish();
    const isFlat = !this.#fields.some(([name]) => name === REQUEST_PART);
    return { body, isFlat, upload, fileName: this.#fileName };
  }

  #body(): unknown {
    const requests = this.#fields.filter(([name]) => name === REQUEST_PART);
    if (requests.length === 0) return bodyOfFields(this.#fields, 'the form');
    const other = this.#fields.find(([name]) => name !== REQUEST_PART)?.[0];
    if (other !== undefined) {
      throw invalid(
        `${shown(other)}: beside a part "${REQUEST_PART}" there is "${FILE_PART}" alone; write it in there`,
      );
    }
    if (requests.length > 1) throw invalid(`${REQUEST_PART}: the field is given twice in the form; leave one out`);
    return withInput(parseJsonText(requests[0]?.[1] ?? '', `The part "${REQUEST_PART}"`));
  }

  async discard(): Promise<void> {
    this.#parser.destroy();
    this.#file?.destroy();
    await this.#writing.catch(() => undefined);
    await this.#writer?.discard();
  }
}

/** The file is the input: a request that has nothing to say of it may leave it out. */
function withInput(request: unknown): unknown {
  const isOpen = typeof request === 'object' && request !== null && !Array.isArray(request);
  return isOpen && !Object.hasOwn(request, 'input') ? { ...request, input: {} } : request;
}

async function writeAll(file: Readable, writer: UploadWriter): Promise<void> {
  for await (const piece of file) await writer.write(piece as Buffer);
}

function shown(name: string): string {
  return name.length > 100 ? `${name.slice(0, 100)}…` : name;
}

/** Of a part: every one says that it is a field of a form, and of which name. */
function partDisposition(header: string | undefined): Disposition & { readonly name: string } {
  if (header === undefined) {
    throw invalid('A part of the form has no Content-Disposition; it should be form-data with a name');
  }
  const disposition = dispositionOf(header);
  const { type, name } = disposition;
  if (type !== 'form-data') {
    throw invalid(`A part of the form has the Content-Disposition ${shown(type)}; it should be form-data with a name`);
  }
  if (!name) throw invalid('A part of the form has no name');
  return { ...disposition, name };
}

function broken(cause?: unknown): ServiceError {
  return new ServiceError(
    'invalid_request',
    'The body is no whole multipart/form-data: its parts and its end are told by the boundary of the Content-Type',
    { cause },
  );
}

function invalid(message: string): ServiceError {
  return new ServiceError('invalid_request', message);
}
