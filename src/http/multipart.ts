/**
 * POST /v1/convert as a form (multipart/form-data): the file in the part `file`, and beside it either the request as JSON
 * in the part `request`, or flat fields. The file goes to an UploadWriter as it comes.
 */
import type { Readable } from 'node:stream';
import { Busboy, type BusboyInstance } from '@fastify/busboy';
import { ServiceError } from '../errors.js';
import type { BodyLimits } from './body-reader.js';
import { readBody } from './body-reader.js';
import { bodyOfFields, type GivenField } from './fields.js';
import { parseJsonText } from './json-body.js';
import type { Upload, UploadWriter } from './upload.js';

const FILE_PART = 'file';
const REQUEST_PART = 'request';
const LIMITS = { fields: 100, fieldSize: 256 * 1024, headerPairs: 50, headerSize: 16 * 1024 };

const PLAIN_ENCODINGS = new Set(['7bit', '8bit', 'binary']);

/** What a form says. */
export interface Form {
  /** The body that it stands for, to be validated. */
  readonly body: unknown;
  readonly upload: Upload | undefined;
  /** Name of the file, as the part gives it. */
  readonly fileName: string | undefined;
}

/**
 * Reads a form to its end. Throws `invalid_request` for what is no form, or has a part twice.
 * @param contentType of the request, with its boundary
 */
export async function readForm(
  body: Readable,
  contentType: string,
  limits: BodyLimits,
  newUpload: () => UploadWriter,
): Promise<Form> {
  const parser = parserOf(contentType);
  const form = new FormReader(parser, newUpload);
  try {
    await readBody(body, limits, (piece) => write(parser, form, piece));
    await form.end();
    return await form.finish();
  } catch (error) {
    await form.discard();
    throw error;
  }
}

function parserOf(contentType: string): BusboyInstance {
  if (!/^\s*multipart\/form-data/i.test(contentType)) {
    const type = contentType.split(';', 1)[0]?.trim() ?? '';
    throw invalid(`Content-Type: ${shown(type)} is not taken; a form is multipart/form-data`);
  }
  try {
    return new Busboy({
      headers: { 'content-type': contentType },
      preservePath: true,
      isPartAFile: (name) => name === FILE_PART,
      limits: LIMITS,
    });
  } catch (error) {
    throw new ServiceError(
      'invalid_request',
      'Content-Type: multipart/form-data has no boundary; leave the header to the program that makes the form',
      { cause: error },
    );
  }
}

/** Resolves when the parser has taken the piece; rejects with the fault that it meets meanwhile. */
function write(parser: BusboyInstance, form: FormReader, piece: Buffer): Promise<void> {
  const taken = new Promise<void>((resolve) => parser.write(piece, () => resolve()));
  return Promise.race([taken, form.failed]);
}

class FormReader {
  /** Rejects with the first fault. */
  readonly failed: Promise<never>;
  readonly #parser: BusboyInstance;
  readonly #newUpload: () => UploadWriter;
  readonly #fields: GivenField[] = [];
  #writer: UploadWriter | undefined;
  #file: Readable | undefined;
  #writing: Promise<void> = Promise.resolve();
  #fileName: string | undefined;
  #fail: (error: unknown) => void = () => undefined;

  constructor(parser: BusboyInstance, newUpload: () => UploadWriter) {
    this.#parser = parser;
    this.#newUpload = newUpload;
    this.failed = new Promise((_resolve, reject) => {
      this.#fail = reject;
    });
    this.failed.catch(() => undefined);
    parser
      .on('file', (_name, stream, fileName, encoding) => this.#takeFile(stream, fileName, encoding))
      .on('field', (name, text, _isNameCut, isCut) => this.#takeField(name, text, isCut))
      .on('fieldsLimit', () => this.#fail(invalid(`The form has more than ${LIMITS.fields} parts`)))
      .on('error', (error) => this.#fail(broken(error)));
  }

  #takeFile(stream: Readable, fileName: string | undefined, encoding: string): void {
    const fault = this.#writer
      ? `The form has two parts "${FILE_PART}"; a request converts one file`
      : PLAIN_ENCODINGS.has(encoding)
        ? undefined
        : `${FILE_PART}: Content-Transfer-Encoding ${shown(encoding)} is not taken; send the bytes themselves`;
    if (fault !== undefined) {
      stream.on('error', () => undefined).resume();
      this.#fail(invalid(fault));
      return;
    }
    this.#fileName = fileName || undefined;
    this.#file = stream.on('error', (error) => this.#fail(broken(error)));
    this.#writer = this.#newUpload();
    this.#writing = writeAll(stream, this.#writer);
    this.#writing.catch((error) => this.#fail(error));
  }

  #takeField(name: string | undefined, text: string, isCut: boolean): void {
    if (name === undefined) this.#fail(invalid('A part of the form has no name'));
    else if (isCut) this.#fail(invalid(`${shown(name)}: the part has more than ${LIMITS.fieldSize} bytes`));
    else this.#fields.push([name, text]);
  }

  /** All has come: resolves when everything is taken. */
  async end(): Promise<void> {
    const finished = new Promise<void>((resolve) => this.#parser.once('finish', () => resolve()));
    this.#parser.end();
    await Promise.race([finished, this.failed]);
    await this.#writing;
  }

  async finish(): Promise<Form> {
    const body = this.#body();
    const upload = await this.#writer?.finish();
    return { body, upload, fileName: this.#fileName };
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
    return parseJsonText(requests[0]?.[1] ?? '', `The part "${REQUEST_PART}"`);
  }

  async discard(): Promise<void> {
    this.#parser.destroy();
    this.#file?.destroy();
    await this.#writing.catch(() => undefined);
    await this.#writer?.discard();
  }
}

async function writeAll(file: Readable, writer: UploadWriter): Promise<void> {
  for await (const piece of file) await writer.write(piece as Buffer);
}

function shown(name: string): string {
  return name.length > 100 ? `${name.slice(0, 100)}…` : name;
}

function broken(cause: unknown): ServiceError {
  return new ServiceError(
    'invalid_request',
    'The body is no whole multipart/form-data: its parts and its end are told by the boundary of the Content-Type',
    { cause },
  );
}

function invalid(message: string): ServiceError {
  return new ServiceError('invalid_request', message);
}
