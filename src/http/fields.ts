/**
 * The body of POST /v1/convert written as flat fields: in the query beside raw bytes, or as parts of a form. A field has
 * the dotted name that it has in the JSON body, and some have a short one. What they say is put together into the same
 * body, and checked by the same schema.
 */
import type { TSchema } from 'typebox';
import { withFieldNames } from '../convert/field-names.js';
import { ServiceError } from '../errors.js';
import { ConvertBody } from './schemas.js';

type FieldType = 'string' | 'integer' | 'boolean' | 'list';

export interface Field {
  /** Dotted, as in the JSON body. */
  readonly path: string;
  /** The short name, where it has one. */
  readonly short: string | undefined;
  readonly type: FieldType;
  readonly description: string | undefined;
}

const SHORT_NAMES: Readonly<Record<string, string>> = {
  'output.format': 'to',
  'output.kind': 'kind',
  'input.format': 'from',
  'input.file_name': 'file_name',
};
const OPTIONS = 'output.options.';
/** Comes as bytes. */
const WITHOUT_FIELD = new Set(['input.bytes', 'input.kind', 'input.url']);

interface SchemaNode {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly description?: string;
}

/** Every field there is. */
export const FIELDS: readonly Field[] = fieldsOf(ConvertBody, '');

function fieldsOf(schema: TSchema, path: string): Field[] {
  const { type, properties, description } = schema as SchemaNode;
  if (properties) {
    return Object.entries(properties).flatMap(([name, child]) =>
      fieldsOf(child as TSchema, path === '' ? name : `${path}.${name}`),
    );
  }
  if (WITHOUT_FIELD.has(path)) return [];
  const short = path.startsWith(OPTIONS) ? path.slice(OPTIONS.length) : SHORT_NAMES[path];
  return [{ path, short, type: type === 'array' ? 'list' : (type as FieldType), description }];
}

/** A text that a client wrote for a field. */
export type GivenField = readonly [name: string, text: string];

/**
 * The body that the fields stand for, to be validated. Throws `invalid_request` for a name that is no field's, and for a
 * field that is given twice.
 * @param place "the query" or "the form", for messages
 */
export function bodyOfFields(given: readonly GivenField[], place: string): unknown {
  const body: Record<string, unknown> = { input: {}, output: {} };
  const seen = new Map<string, string>();
  for (const [name, text] of given) {
    const field = FIELDS.find(({ path, short }) => path === name || short === name);
    if (!field) throw unknownField(name, place);
    const before = seen.get(field.path);
    if (before !== undefined && (field.type !== 'list' || before !== name)) {
      const also = before === name ? '' : `, also as ${before}`;
      throw invalid(`${name}: the field is given twice in ${place}${also}; leave one out`);
    }
    seen.set(field.path, name);
    put(body, field, text);
  }
  return body;
}

const SHORT_BY_PATH: Readonly<Record<string, string>> = Object.fromEntries(
  FIELDS.flatMap(({ path, short }) => (short === undefined ? [] : [[path, short]])),
);

/** For a request that came as flat fields: an error names each as it is written there, `from` for `input.format`. */
export function inShortNames(error: unknown): unknown {
  if (!(error instanceof ServiceError)) return error;
  const message = withFieldNames(error.message, SHORT_BY_PATH);
  if (message === error.message) return error;
  const { code, reason, retryAfterSeconds } = error;
  return new ServiceError(code, message, {
    cause: error,
    ...(reason !== undefined && { reason }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  });
}

/** Names that clients try, and the field that they mean. */
const MEANT: Readonly<Record<string, string>> = {
  format: 'output.format',
  file: 'input.bytes',
  filename: 'input.file_name',
};

/** For a body in JSON: where a field that stands in the wrong place belongs; undefined where nobody can tell. */
export function fieldAdvice(unknown: string): string | undefined {
  const name = unknown.slice(unknown.lastIndexOf('.') + 1);
  const path = Object.hasOwn(MEANT, name) ? MEANT[name] : FIELDS.find(({ short }) => short === name)?.path;
  return path === undefined || path === unknown ? undefined : `write ${path}`;
}

function unknownField(name: string, place: string): ServiceError {
  const parts = place === 'the form' ? 'file, request, ' : '';
  const known = parts + FIELDS.map(({ path, short }) => short ?? path).join(', ');
  const meant = Object.hasOwn(MEANT, name) && FIELDS.find(({ path }) => path === MEANT[name])?.short;
  if (meant) return invalid(`${name}: unknown field in ${place}; write ${meant}`);
  if (name === 'lane') return invalid('lane: the server decides the lane; leave the field out');
  const shown = name.length > 100 ? `${name.slice(0, 100)}…` : name;
  return invalid(`${shown}: unknown field in ${place}; there are ${known}`);
}

function put(body: Record<string, unknown>, { path, type }: Field, text: string): void {
  const names = path.split('.');
  const last = names.pop() as string;
  let node = body;
  for (const name of names) {
    node[name] ??= {};
    node = node[name] as Record<string, unknown>;
  }
  const value = typedValue(text, type);
  node[last] = type === 'list' && Array.isArray(node[last]) ? [...node[last], ...(value as string[])] : value;
}

/** A text that cannot be what its field wants stays a text: the schema refuses it by name. */
function typedValue(text: string, type: FieldType): unknown {
  if (type === 'string') return text;
  if (text.trim() === '') return null;
  if (type === 'list') return text.split(',').map((part) => part.trim());
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text;
  return /^-?\d{1,9}(?:\.\d{1,9})?$/.test(text) ? Number(text) : text;
}

function invalid(message: string): ServiceError {
  return new ServiceError('invalid_request', message);
}
