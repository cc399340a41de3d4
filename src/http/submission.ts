/**
 * What POST /v1/convert is sent, whichever way: JSON with the file in base64, a form, or the file itself with the rest in
 * the query (contract A3). All three become the same body and the same upload.
 */
import type { FastifyRequest } from 'fastify';
import { detectFormat } from '../convert/detect.js';
import { readSigns } from '../convert/signs.js';
import { ServiceError } from '../errors.js';
import { decodeBase64 } from './base64.js';
import { type BodyLimits, readBody } from './body-reader.js';
import { fileNameOf } from './disposition.js';
import { bodyOfFields, type GivenField, inShortNames } from './fields.js';
import { JsonBodyReader, type LongText } from './json-body.js';
import { readForm } from './multipart.js';
import type { ConvertBody } from './schemas.js';
import { type Upload, UploadWriter, uploadOf } from './upload.js';

/** A submission as it came, of the right shape. `discard()` what it holds in the end. */
export interface Received {
  readonly body: ConvertBody;
  readonly upload: Upload | undefined;
  /** An error about it, in the names of fields that its client has used. */
  renamed(error: unknown): unknown;
  discard(): Promise<void>;
}

export interface Receiving {
  readonly limits: BodyLimits;
  /** Where large uploads become files. */
  readonly folder: string;
  /** The media type as the client sent it. */
  readonly contentType: string;
  /** Throws `invalid_request` for what is no ConvertBody. */
  readonly validate: (body: unknown) => ConvertBody;
}

interface Completed {
  readonly body: ConvertBody;
  readonly upload: Upload | undefined;
}

/** What a transport has read, not validated. */
interface Parts {
  readonly body: unknown;
  readonly upload: Upload | undefined;
  /** It came as fields of a query or a form. */
  readonly isFlat?: boolean;
  /** Stands in the body for a text that is too long to be shown. */
  readonly longText?: LongText | undefined;
  /** Puts what came beside the body (the file's name, the place of its bytes) into it once its shape is known. */
  readonly complete?: (body: ConvertBody) => Completed | Promise<Completed>;
}

export const BYTES_FIELD = 'input.bytes';

/** Reads the whole request. Where it rejects, nothing is left of what had come. */
export async function receive(request: FastifyRequest, receiving: Receiving): Promise<Received> {
  const parts = await partsOf(request, receiving);
  const discard = async (): Promise<void> => parts.upload?.discard();
  const renamed = (error: unknown): unknown => (parts.isFlat ? inShortNames(error) : error);
  try {
    const body = receiving.validate(parts.body);
    return { ...((await parts.complete?.(body)) ?? { body, upload: parts.upload }), renamed, discard };
  } catch (error) {
    await discard();
    throw parts.longText ? withoutPlaceholder(error, parts.longText) : renamed(error);
  }
}

/** A message shows how the client's own text begins, not what stands for it. */
export function withoutPlaceholder(error: unknown, { placeholder, start }: LongText): unknown {
  if (!(error instanceof ServiceError) || !error.message.includes(placeholder)) return error;
  return new ServiceError(error.code, error.message.replaceAll(placeholder, `${start}…`), { cause: error });
}

function partsOf(request: FastifyRequest, receiving: Receiving): Promise<Parts> {
  const query = request.query as Readonly<Record<string, string | readonly string[]>>;
  const type = receiving.contentType.trim().toLowerCase();
  const isForm = type.startsWith('multipart/');
  const isJson = /^[\w.+-]+\/(?:[\w.+-]+\+)?json\s*(?:;|$)/.test(type);
  if ('to' in query && !isForm && !isJson) return readRaw(request, query, receiving);
  refuseQuery(query, isForm ? 'the form' : 'the body', isJson);
  return isForm ? readFormParts(request, receiving) : readJson(request, receiving);
}

function refuseQuery(query: object, place: string, isJson: boolean): void {
  const name = Object.keys(query)[0];
  if (name === undefined) return;
  const shown = name.length > 100 ? `${name.slice(0, 100)}…` : name;
  const advice = `the fields stand in ${place}`;
  if (name === 'to' || isJson || place === 'the form') throw invalid(`${shown}: unknown field in the query; ${advice}`);
  throw invalid(
    `${shown}: unknown field in the query; ${advice}, or to=FORMAT stands beside it and the body is the file`,
  );
}

async function readJson(request: FastifyRequest, { limits, folder }: Receiving): Promise<Parts> {
  const reader = new JsonBodyReader(() => new UploadWriter(folder), BYTES_FIELD, limits.declaredBytes);
  try {
    let isFirst = true;
    await readBody(request.raw, limits, (piece) => {
      if (isFirst) refuseNoJson(piece);
      isFirst = false;
      return reader.write(piece);
    });
    const { value, longText } = await reader.finish();
    return {
      body: value,
      upload: longText?.upload,
      longText,
      complete: (body) => ({ body, upload: uploadIn(body, longText) }),
    };
  } catch (error) {
    await reader.discard();
    throw error;
  }
}

/**
 * The upload that a JSON body holds. Throws `invalid_request`.
 * @param longText what was cut out of the body
 */
export function uploadIn({ input }: ConvertBody, longText: LongText | undefined): Upload | undefined {
  const { bytes } = input;
  if (longText && bytes !== longText.placeholder) {
    throw invalid(`A long text stands outside of ${BYTES_FIELD}; no other field takes one`);
  }
  if (longText?.fault) throw longText.fault;
  return longText?.upload ?? (bytes ? uploadOf(decodeBase64(bytes, BYTES_FIELD)) : undefined);
}

const LOOKED_AT_BYTES = 512;
/** ZIP, which an OFD package is, and PDF. */
const FILE_STARTS = ['PK\x03\x04', '%PDF'];

/** What is no JSON at the first glance is refused with what it should have been sent as. */
export function refuseNoJson(piece: Buffer): void {
  const start = piece.subarray(0, LOOKED_AT_BYTES);
  const text = start.toString('latin1');
  const file = FILE_STARTS.find((sign) => text.startsWith(sign));
  if (file !== undefined || !isUtf8(start)) {
    throw invalid(
      `The body looks like a file${file ? ` (${file.slice(0, 2)}…)` : ', for it is not valid UTF-8'}, and JSON was expected; ` +
        'send the file with ?to=FORMAT, as the part "file" of a form, or as input.bytes in base64',
    );
  }
  if (/^\s*[\w.%+-]{1,100}=/.test(text)) {
    throw invalid(
      'The body looks like a urlencoded form, and JSON was expected; send a form as multipart/form-data with the part ' +
        '"file" (curl -F), or the bare file with ?to=FORMAT',
    );
  }
}

/** Also where a character is cut at the end. */
function isUtf8(bytes: Buffer): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}

async function readFormParts(request: FastifyRequest, { limits, folder, contentType }: Receiving): Promise<Parts> {
  const form = await readForm(request.raw, contentType, limits, () => new UploadWriter(folder));
  return {
    body: form.body,
    upload: form.upload,
    isFlat: form.isFlat,
    complete: async (body) => {
      if (body.input.bytes)
        throw invalid(`${BYTES_FIELD}: the file of a form stands in its part "file"; leave the field out`);
      const complete = named(body, form.fileName);
      if (form.upload) await refuseText(complete, form.upload);
      return { body: complete, upload: form.upload };
    },
  };
}

/** Whoever forgets curl's @ sends the name of the file in place of the file. */
async function refuseText({ input }: ConvertBody, upload: Upload): Promise<void> {
  if (input.file_name || input.format) return;
  try {
    detectFormat({}, await upload.read(readSigns));
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw invalid(`The part "file" has no file name; with curl write file=@invoice.ofd. ${error.message}`);
  }
}

/** The body is the file. */
async function readRaw(
  request: FastifyRequest,
  query: Readonly<Record<string, string | readonly string[]>>,
  { limits, folder }: Receiving,
): Promise<Parts> {
  const given = Object.entries(query).flatMap(([name, values]) =>
    [values].flat().map((value): GivenField => [name, value]),
  );
  const body = bodyOfFields(given, 'the query');
  const disposition = request.headers['content-disposition'];
  const fileName = disposition === undefined ? undefined : fileNameOf(disposition);
  const writer = new UploadWriter(folder);
  try {
    await readBody(request.raw, limits, (piece) => writer.write(piece));
    const upload = await writer.finish();
    return {
      body,
      upload,
      isFlat: true,
      complete: (checked) => {
        if (upload.sizeBytes === 0)
          throw invalid('The body is empty; it should be the file, as to=… in the query says');
        return { body: named(checked, fileName), upload };
      },
    };
  } catch (error) {
    await writer.discard();
    throw error;
  }
}

/** A name among the fields counts before the one that came with the file. */
function named(body: ConvertBody, fileName: string | undefined): ConvertBody {
  return body.input.file_name || fileName === undefined
    ? body
    : { ...body, input: { ...body.input, file_name: fileName } };
}

function invalid(message: string): ServiceError {
  return new ServiceError('invalid_request', message);
}
