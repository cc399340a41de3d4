/** From an error to the one shape that every client sees: {code, message[, reason]} (contract A2). */
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { shown } from '../config/key.js';
import { optionFault } from '../convert/options.js';
import { ServiceError } from '../errors.js';
import type { ErrorAnswer, Written } from './answers.js';
import { fieldAdvice } from './fields.js';

/** Texts of the client stand in messages, and may be as long as a body; what is wrong with them stands at either end. */
const LONGEST_MESSAGE = 1000;
const KEPT_END = 300;

export function errorAnswer(error: ServiceError): Written<typeof ErrorAnswer> {
  const { code, message, reason } = error;
  return { code, message: cut(message), ...(reason !== undefined && { reason }) };
}

function cut(message: string): string {
  if (message.length <= LONGEST_MESSAGE) return message;
  return `${message.slice(0, LONGEST_MESSAGE - KEPT_END)} … ${message.slice(-KEPT_END)}`;
}

/** Any error as one that a client may see. What is no ServiceError and no fault of the request is internal. */
export function asServiceError(error: unknown, requestId: string): ServiceError {
  if (error instanceof ServiceError) return error;
  const { validation, validationContext, statusCode, message } = error as Partial<FastifyError>;
  if (validation?.[0]) return invalidBody(validation, validationContext);
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return new ServiceError('invalid_request', message ?? 'The request cannot be understood', { cause: error });
  }
  return new ServiceError('internal_error', `Internal error; the log names its cause under request ${requestId}`, {
    cause: error,
  });
}

/** What is told of the faults that a schema has found: the first. */
export function invalidBody(faults: readonly object[] | null | undefined, context?: string): ServiceError {
  return new ServiceError('invalid_request', validationMessage(faults?.[0] as SchemaFault, context));
}

/** Where the error itself does not say when to come again. */
const RETRY_AFTER_SECONDS = 5;

/** The error handler of the server: logs what is our fault, answers in the one shape. */
export function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const answer = asServiceError(error, request.id);
  if (answer.code === 'internal_error') request.log.error({ err: error }, 'request failed');
  // Fastify would close the connection, which resets it under a client that sends all of its body before it reads. The
  // rest of a body is read and thrown away instead.
  if (answer.code === 'payload_too_large') reply.removeHeader('connection');
  const retryAfterSeconds = answer.retryAfterSeconds ?? (answer.status === 503 ? RETRY_AFTER_SECONDS : undefined);
  if (retryAfterSeconds !== undefined) reply.header('retry-after', retryAfterSeconds);
  void reply.code(answer.status).send(errorAnswer(answer));
}

/** What Ajv tells of a fault, with `verbose` on. */
interface SchemaFault {
  readonly keyword: string;
  readonly instancePath: string;
  readonly params: Record<string, unknown>;
  readonly message?: string;
  readonly data?: unknown;
  readonly parentSchema?: { readonly properties?: object; readonly type?: string };
}

function validationMessage(fault: SchemaFault, context: string | undefined): string {
  const path = fault.instancePath.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~');
  const place = context === 'querystring' ? 'the query' : 'the body';
  const child = (name: unknown): string => shortened(path === '' ? String(name) : `${path}.${name}`);
  switch (fault.keyword) {
    case 'additionalProperties':
      return unknownField(child(fault.params.additionalProperty), place, fault);
    case 'required': {
      const missing = `${child(fault.params.missingProperty)} is required`;
      const stray = strayName(fault);
      return stray === undefined ? missing : `${unknownField(child(stray), place, fault)}; and ${missing}`;
    }
    case 'type':
      if (context === 'querystring' && Array.isArray(fault.data)) return `${path} is given twice; leave one out`;
      return `${path || place}: ${wrongType(path, fault)}`;
    case 'enum':
      return `${path}: ${shown(fault.data)} is not known; there are ${(fault.params.allowedValues as string[]).join(', ')}`;
    case 'maxLength':
      return `${path}: ${String(fault.data).length} characters are too many; at most ${fault.params.limit} are allowed`;
    default:
      return `${path || place}: ${shown(fault.data)} ${fault.message ?? 'is not allowed'}`;
  }
}

/** A name that stands where something is missing: likely what was meant for it. */
function strayName({ data, parentSchema }: SchemaFault): string | undefined {
  const known = parentSchema?.properties ?? {};
  return Object.keys(data as object).find((name) => !Object.hasOwn(known, name));
}

/** What stands in the place of each type. */
const WANTED: Readonly<Record<string, string>> = {
  string: 'a text in quotation marks',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'a list such as ["a", "b"]',
  object: 'an object such as {"name": "value"}',
};

const OPTIONS_PATH = 'output.options.';

function wrongType(path: string, { data, params }: SchemaFault): string {
  const option = path.startsWith(OPTIONS_PATH) ? optionFault(path.slice(OPTIONS_PATH.length), data) : undefined;
  const type = String(params.type).split(',', 1)[0] as string;
  return option ?? `${shown(data)} is not allowed; write ${WANTED[type] ?? type}`;
}

/** Names come from the client and can be of any length. */
export function shortened(name: string): string {
  return name.length > 100 ? `${name.slice(0, 100)}…` : name;
}

function unknownField(path: string, place: string, fault: SchemaFault): string {
  if (path === 'lane') return 'lane: the server decides the lane; leave the field out';
  const known = Object.keys(fault.parentSchema?.properties ?? {});
  const advice = fieldAdvice(path) ?? (known.length > 0 ? `there are ${known.join(', ')}` : `${place} has none here`);
  return `${path}: unknown field in ${place}; ${advice}`;
}
