/**
 * The HTTP server: key before body, limits, strict validation, one shape for every error, 405 with Allow. What the routes
 * do stands in their own files.
 */

import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import Fastify, { type FastifyRequest, LogController } from 'fastify';
import { ServiceError } from '../errors.js';
import { KeyCheck } from './authorization.js';
import { limitsOf, skipBody } from './body-reader.js';
import { contentRoutes } from './content.js';
import { convertRoutes } from './convert.js';
import { answerError, errorAnswer } from './errors.js';
import { eventRoutes } from './events.js';
import { jobListRoutes } from './job-list.js';
import { jobRoutes } from './jobs.js';
import { openApiRoutes } from './openapi.js';
import { RouteTable } from './route-table.js';
import type { TypeBoxProvider } from './schemas.js';
import type { HttpServer, HttpServices } from './services.js';
import { statusRoutes } from './status.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Content-Type as the client sent it. */
    bodyType: string;
  }
}

/** A whole request, body included, may take so long to arrive: 64 MiB at 1 Mbit/s. */
const REQUEST_TIMEOUT_MS = 600_000;
const LONGEST_PARAMETER = 2048;
/** Requests without a document. */
const SMALL_BODY_BYTES = 64 * 1024;

/** The server with all its routes, not listening yet. `close()` it. */
export function createServer(services: HttpServices): HttpServer {
  const server: HttpServer = Fastify({
    loggerInstance: services.logger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request' }),
    genReqId: requestIds(services.startedAtMs),
    requestTimeout: REQUEST_TIMEOUT_MS,
    return503OnClosing: false,
    routerOptions: { maxParamLength: LONGEST_PARAMETER },
    ajv: { customOptions: { removeAdditional: false, coerceTypes: false, useDefaults: false, verbose: true } },
    frameworkErrors: answerError,
    clientErrorHandler: answerBrokenRequest,
  }).withTypeProvider<TypeBoxProvider>();
  const routes = new RouteTable(server);
  const keyCheck = services.config.apiKey && new KeyCheck(services.config.apiKey);

  server.decorateRequest('bodyType', '');
  server.addHook('onRequest', async (request) => {
    if (isKeyNeeded(request)) keyCheck?.require(request.headers);
    // Fastify refuses a malformed Content-Type with a status of its own; here the body is what counts.
    request.bodyType = request.headers['content-type'] ?? '';
    request.headers['content-type'] = 'application/octet-stream';
  });
  server.addHook('onResponse', async (request, reply) => logRequest(request, reply.statusCode, reply.elapsedTime));
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', async (request: FastifyRequest, payload: IncomingMessage) => {
    // Read by its handler, as it comes.
    if (request.routeOptions.config.readsBody) return;
    await skipBody(payload, limitsOf(request.headers, SMALL_BODY_BYTES, 'this request needs none'));
  });
  server.setErrorHandler(answerError);
  server.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0] as string;
    const allowed = routes.methodsOf(path);
    if (allowed.length === 0) throw new ServiceError('not_found', `There is no route ${request.method} ${path}`);
    reply.header('allow', allowed.join(', '));
    throw new ServiceError('method_not_allowed', `${path} takes ${allowed.join(', ')}, not ${request.method}`);
  });

  convertRoutes(server, services);
  jobListRoutes(server, services);
  jobRoutes(server, services);
  eventRoutes(server, services);
  contentRoutes(server, services);
  statusRoutes(server, services);
  openApiRoutes(server, routes);
  return server;
}

/** Everything needs the key but the probes, and what is no route and lies outside of /v1. */
function isKeyNeeded(request: FastifyRequest): boolean {
  if (request.routeOptions.config.isOpen) return false;
  return !request.is404 || /^\/+(?:v1|metrics)(?:[/?#]|$)/.test(request.url);
}

/** Ids that do not repeat after a restart. */
function requestIds(startedAtMs: number): () => string {
  const run = startedAtMs.toString(36);
  let count = 0;
  return () => {
    count += 1;
    return `${run}-${count.toString(36)}`;
  };
}

/** One line a request: the route, never the query or the body. Probes are of interest only when one is looking for them. */
function logRequest(request: FastifyRequest, status: number, elapsedMs: number): void {
  const { url: route, config } = request.routeOptions;
  const isProbe = config.isOpen || route === '/metrics';
  request.log[isProbe ? 'debug' : 'info'](
    { method: request.method, route, status, tookMs: Math.round(elapsedMs) },
    'request',
  );
}

/** What is not even HTTP, or too slow, never reaches a route; it gets the same shape. */
function answerBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  if (socket.writable && error.code !== 'ECONNRESET') {
    const message =
      error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? 'The request took too long to arrive'
        : 'This is no valid HTTP request';
    const body = JSON.stringify(errorAnswer(new ServiceError('invalid_request', message)));
    const head = ['HTTP/1.1 400 Bad Request', 'Content-Type: application/json; charset=utf-8', 'Connection: close'];
    socket.write(`${head.join('\r\n')}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  }
  socket.destroySoon();
}
