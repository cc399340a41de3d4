/** What a route says of itself beside the schemas that validate its requests: the source of /openapi.json. */
import type { TSchema } from 'typebox';
import type { ErrorCode } from '../errors.js';
import type { Scope } from './keys.js';

export interface AnswerDescription {
  readonly description: string;
  /** Schema of a JSON answer. */
  readonly schema?: TSchema;
  /** Media types of any other answer. */
  readonly mediaTypes?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
}

export interface RouteDescription {
  readonly summary: string;
  readonly answers: Readonly<Record<number, AnswerDescription>>;
  /** Codes that this route answers with; those that any route may have are not repeated. */
  readonly errors?: readonly ErrorCode[];
  /** Headers that it reads, by name. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Parameters of the query that no schema declares. */
  readonly query?: readonly { readonly name: string; readonly schema: object; readonly description?: string }[];
  /** Media types and schemas of the body. */
  readonly body?: Readonly<Record<string, object>>;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Answers without a key. */
    readonly isOpen?: boolean;
    /** What a key must be allowed; `read` where absent. */
    readonly scope?: Scope;
    /** The handler reads the body by itself. */
    readonly readsBody?: boolean;
    readonly api?: RouteDescription;
  }
}

/** Schemas that have a name of their own in the description. */
export type Components = Readonly<Record<string, TSchema>>;
