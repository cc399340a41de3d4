/**
 * GET /openapi.json: the interface as OpenAPI 3.1 (contract A12), made of the routes as they are registered, the schemas
 * that validate their requests, and the schemas that type their answers.
 */
import { type TSchema, Type } from 'typebox';
import { ERROR_CODES, type ErrorCode } from '../errors.js';
import { VERSION } from '../version.js';
import {
  AcceptedAnswer,
  BatchAcceptedAnswer,
  BatchAnswer,
  ErrorAnswer,
  JobAnswer,
  JobListAnswer,
  JobSummary,
  NotificationAnswer,
  NotificationListAnswer,
  NotReadyAnswer,
  ProgressAnswer,
  StatisticsAnswer,
} from './answers.js';
import type { AnswerDescription, RouteDescription } from './api.js';
import { scopeOf } from './authorization.js';
import type { Route, RouteTable } from './route-table.js';
import { BatchBody, ConvertBody, NoQuery } from './schemas.js';
import type { HttpServer } from './services.js';

/** Schemas that stand under a name of their own. */
const COMPONENTS: Readonly<Record<string, TSchema>> = {
  ConvertRequest: ConvertBody,
  Accepted: AcceptedAnswer,
  BatchRequest: BatchBody,
  BatchAccepted: BatchAcceptedAnswer,
  Batch: BatchAnswer,
  Job: JobAnswer,
  JobSummary,
  JobList: JobListAnswer,
  Notification: NotificationAnswer,
  NotificationList: NotificationListAnswer,
  Progress: ProgressAnswer,
  Statistics: StatisticsAnswer,
  Error: ErrorAnswer,
  NotReady: NotReadyAnswer,
};
const NAMES = new Map(Object.entries(COMPONENTS).map(([name, schema]) => [schema, name]));

/** Any route that needs the key may answer with these. */
const COMMON_ERRORS: readonly ErrorCode[] = [
  'invalid_request',
  'unauthorized',
  'forbidden',
  'rate_limited',
  'internal_error',
];

type Json = Readonly<Record<string, unknown>>;

export function openApiRoutes(server: HttpServer, routes: RouteTable): void {
  let document: Json | undefined;
  server.get(
    '/openapi.json',
    {
      schema: { querystring: NoQuery },
      config: {
        isOpen: true,
        api: {
          summary: 'This description',
          answers: { 200: { description: 'OpenAPI 3.1', schema: Type.Object({}) } },
          errors: ['invalid_request'],
        },
      },
    },
    async () => {
      document ??= openApiDocument(routes.rows);
      return document;
    },
  );
}

export function openApiDocument(routes: readonly Route[]): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes) {
    // Files of the page are no part of the interface.
    if (!route.config.api) continue;
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, route.config.api) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'ofd-server',
      version: VERSION,
      description: 'Conversion of OFD documents. docs/http.md explains what the schemas cannot.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ bearer: [] }, { apiKey: [] }],
    paths,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        apiKey: { type: 'apiKey', in: 'header', name: 'X-OFD-Api-Key' },
      },
      schemas: Object.fromEntries(
        Object.entries(COMPONENTS).map(([name, schema]) => [name, published(schema, schema)]),
      ),
    },
  };
}

function operation({ method, path, schema, config }: Route, api: RouteDescription): Json {
  const parameters = [
    ...parametersIn('path', schema.params),
    ...parametersIn('query', schema.querystring),
    ...(api.query ?? []).map((parameter) => ({ in: 'query', ...parameter })),
    ...Object.entries(api.headers ?? {}).map(([name, description]) => ({
      in: 'header',
      name,
      description,
      schema: { type: 'string' },
    })),
  ];
  return {
    operationId: operationId(method, path),
    summary: api.summary,
    ...(config.isOpen ? { security: [] } : { description: `Needs a key with the scope ${scopeOf(config)}.` }),
    ...(parameters.length > 0 && { parameters }),
    ...(api.body && { requestBody: requestBody(api.body) }),
    responses: { ...answers(api), ...errors(api, config.isOpen === true) },
  };
}

/** POST /v1/jobs/:id/cancel → postJobsCancel */
function operationId(method: string, path: string): string {
  const words = path.split(/[/.]/).filter((word) => /^[\w-]+$/.test(word) && word !== 'v1');
  const name = words.flatMap((word) => word.split('-')).map((word) => word[0]?.toUpperCase() + word.slice(1));
  const one = /:\w+$/.test(path) ? 'One' : '';
  return `${method.toLowerCase()}${name.join('')}${one}`;
}

function parametersIn(place: 'path' | 'query', schema: TSchema | undefined): Json[] {
  const { properties = {}, required = [] } = (schema ?? {}) as {
    properties?: Readonly<Record<string, TSchema & { readonly description?: string }>>;
    required?: readonly string[];
  };
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...rest } = property;
    return {
      in: place,
      name,
      ...(description !== undefined && { description }),
      required: required.includes(name),
      schema: published(rest),
    };
  });
}

function requestBody(body: NonNullable<RouteDescription['body']>): Json {
  const content = Object.entries(body).map(([mediaType, schema]) => [mediaType, { schema: published(schema) }]);
  return { required: true, content: Object.fromEntries(content) };
}

function answers(api: RouteDescription): Json {
  return Object.fromEntries(Object.entries(api.answers).map(([status, answer]) => [status, answerOf(answer)]));
}

function answerOf({ description, schema, mediaTypes, headers }: AnswerDescription): Json {
  const types = schema
    ? { 'application/json': { schema: published(schema) } }
    : Object.fromEntries((mediaTypes ?? []).map((mediaType) => [mediaType, {}]));
  return {
    description,
    ...(headers && {
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, text]) => [name, { description: text, schema: { type: 'string' } }]),
      ),
    }),
    ...(Object.keys(types).length > 0 && { content: types }),
  };
}

/** Errors by status, each with the codes that it stands for. */
function errors(api: RouteDescription, isOpen: boolean): Json {
  const codes = [...new Set([...(isOpen ? [] : COMMON_ERRORS), ...(api.errors ?? [])])];
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codes) {
    const { status } = ERROR_CODES[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const content = { 'application/json': { schema: published(ErrorAnswer) } };
  return Object.fromEntries(
    [...byStatus]
      .filter(([status]) => !(status in api.answers))
      .map(([status, names]) => [status, { description: names.join(', '), content }]),
  );
}

/** A schema as OpenAPI 3.1 writes it; `whole` is the one that is not to be replaced by its name. */
function published(schema: unknown, whole?: unknown): unknown {
  if (Array.isArray(schema)) return schema.map((item) => published(item));
  if (typeof schema !== 'object' || schema === null) return schema;
  const name = NAMES.get(schema as TSchema);
  if (name !== undefined && schema !== whole) return { $ref: `#/components/schemas/${name}` };
  const { nullable, ...rest } = schema as { nullable?: boolean; type?: string };
  const parts = Object.entries(rest).map(([key, value]) => [key, published(value)]);
  return { ...Object.fromEntries(parts), ...(nullable && rest.type && { type: [rest.type, 'null'] }) };
}
