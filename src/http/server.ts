/**
 * The HTTP server: key before body, limits, strict validation, one shape for every error, 405 with Allow. What the routes
 * do stands in their own files.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import Fastify, { type FastifyReply, type FastifyRequest, LogController } from 'fastify';
import { ServiceError } from '../errors.js';
import { attemptLogRoutes } from './attempt-log.js';
import { scopeOf } from './authorization.js';
import { batchRoutes } from './batches.js';
import { limitsOf, skipBody } from './body-reader.js';
import { contentRoutes } from './content.js';
import { convertRoutes } from './convert.js';
import { answerError, errorAnswer, shortened } from './errors.js';
import { eventRoutes } from './events.js';
import { jobListRoutes } from './job-list.js';
import { jobRoutes } from './jobs.js';
import { notificationRoutes } from './notifications.js';
import { openApiRoutes } from './openapi.js';
import { RouteTable } from './route-table.js';
import type { TypeBoxProvider } from './schemas.js';
import type { HttpServer, HttpServices } from './services.js';
import { statusRoutes } from './status.js';
import { uiRoutes } from './ui.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Content-Type as the client sent it. */
    bodyType: string;
    /** Of the key that it came with; undefined where it needs none or has no right one. */
    keyName: string | undefined;
  }
}

/** A whole request, body included, may take so long to arrive: 64 MiB at 1 Mbit/s. */
const REQUEST_TIMEOUT_MS = 600_000;
/** As long as a path can be at all: an id that is none is no such job, whatever its length. */
const LONGEST_PARAMETER = 16 * 1024;
/** Requests without a document. */
const SMALL_BODY_BYTES = 64 * 1024;
/** A client that reads nothing more, and does not go away either, would hold a socket and a file for ever. */
const STALLED_ANSWER_MS = 120_000;

/**
 * The server with all its routes, not listening yet. `close()` it.
 * @param stalledAnswerMs after so long a client that takes nothing of its answer is cut off
 */
export function createServer(services: HttpServices, stalledAnswerMs = STALLED_ANSWER_MS): HttpServer {
  const server: HttpServer = Fastify({
    loggerInstance: services.logger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request' }),
    genReqId: requestIds(services.startedAtMs),
    requestTimeout: REQUEST_TIMEOUT_MS,
    return503OnClosing: false,
    // Node would answer a request without Host by itself, in a shape of its own.
    http: { requireHostHeader: false },
    routerOptions: { maxParamLength: LONGEST_PARAMETER },
    ajv: { customOptions: { removeAdditional: false, coerceTypes: false, useDefaults: false, verbose: true } },
    frameworkErrors: answerUnroutable,
    clientErrorHandler: (error, socket) => {
      answerBrokenRequest(error, socket);
      // Where a request has begun, it has its line.
      if (inRequest.has(socket) || error.code === 'ECONNRESET') return;
      services.logger.info(
        { status: 400, from: socket instanceof Socket ? socket.remoteAddress : undefined },
        'request',
      );
    },
  }).withTypeProvider<TypeBoxProvider>();
  const routes = new RouteTable(server);
  const { keys } = services;
  /** Connections with a request that has not ended. */
  const inRequest = new WeakSet<Duplex>();

  function logAtEnd(request: FastifyRequest, reply: FastifyReply): void {
    const { socket } = request.raw;
    // The address of a connection that is cut is no longer known at its end.
    const from = request.ip;
    inRequest.add(socket);
    // Also where the client has gone away, which no hook is told of.
    reply.raw.once('close', () => {
      inRequest.delete(socket);
      logRequest(request, reply, from);
    });
  }

  /** What no route can be found for by its text, such as %zz: no hook has seen it. */
  function answerUnroutable(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    logAtEnd(request, reply);
    try {
      if (isKeyNeeded(request)) keys.require(request.headers, scopeOf(request.routeOptions.config));
    } catch (refusal) {
      answerError(refusal, request, reply);
      return;
    }
    answerError(error, request, reply);
  }

  server.server.on('checkExpectation', refuseExpectation).on('connect', refuseTunnel);
  server.decorateRequest('bodyType', '');
  server.decorateRequest('keyName', undefined);
  server.addHook('onRequest', async (request, reply) => {
    logAtEnd(request, reply);
    if (isKeyNeeded(request)) request.keyName = keys.require(request.headers, scopeOf(request.routeOptions.config));
    requireHost(request);
    // Fastify refuses a malformed Content-Type with a status of its own; here the body is what counts.
    request.bodyType = request.headers['content-type'] ?? '';
    request.headers['content-type'] = 'application/octet-stream';
  });
  server.addHook('onSend', async ({ raw }) => {
    // Node sets it back when the answer is out. A request made in process has no such socket.
    if (raw.socket instanceof Socket) raw.socket.setTimeout(stalledAnswerMs);
  });
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', async (request: FastifyRequest, payload: IncomingMessage) => {
    // Read by its handler, as it comes.
    if (request.routeOptions.config.readsBody) return;
    // Refused whatever the body is.
    if (request.is404) return;
    await skipBody(payload, limitsOf(request.headers, SMALL_BODY_BYTES, 'this request needs none'));
  });
  server.setErrorHandler(answerError);
  server.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0] as string;
    const allowed = routes.methodsOf(path);
    if (allowed.length === 0)
      throw new ServiceError('not_found', `There is no route ${request.method} ${shortened(path)}`);
    reply.header('allow', allowed.join(', '));
    throw new ServiceError(
      'method_not_allowed',
      `${shortened(path)} takes ${allowed.join(', ')}, not ${request.method}`,
    );
  });

  convertRoutes(server, services);
  batchRoutes(server, services);
  jobListRoutes(server, services);
  jobRoutes(server, services);
  eventRoutes(server, services);
  contentRoutes(server, services);
  attemptLogRoutes(server, services);
  notificationRoutes(server, services);
  statusRoutes(server, services);
  openApiRoutes(server, routes);
  if (services.config.ui) uiRoutes(server);
  return server;
}

/** Everything needs the key but the probes, and what is no route and lies outside of /v1. */
function isKeyNeeded(request: FastifyRequest): boolean {
  if (request.routeOptions.config.isOpen) return false;
  return !request.is404 || /^(?:https?:\/\/[^/]*)?\/+(?:v1|metrics)(?:[/?#]|$)/i.test(request.url);
}

function requireHost({ raw, headers }: FastifyRequest): void {
  if (headers.host !== undefined || raw.httpVersion === '1.0') return;
  throw new ServiceError('invalid_request', 'Host: the header is missing; HTTP/1.1 needs it');
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

/**
 * One line a request, for the audit: who, from where, which route, how it ended; never the query or the body. Probes are of
 * interest only when one is looking for them.
 */
function logRequest(request: FastifyRequest, reply: FastifyReply, from: string): void {
  const { url: route, config } = request.routeOptions;
  const isProbe = config.isOpen || route === '/metrics';
  const { headersSent, writableFinished } = reply.raw;
  request.log[isProbe ? 'debug' : 'info'](
    {
      method: request.method,
      route,
      status: headersSent ? reply.statusCode : undefined,
      isCutOff: writableFinished ? undefined : true,
      tookMs: Math.round(reply.elapsedTime),
      key: request.keyName,
      from,
    },
    'request',
  );
}

/** What is not even HTTP, or too slow, never reaches a route; it gets the same shape. */
function answerBrokenRequest(error: Error & { code?: string }, socket: Duplex): void {
  if (socket.writable && error.code !== 'ECONNRESET') writeRefusal(socket, BROKEN[error.code ?? ''] ?? NO_HTTP);
  endSoon(socket);
}

const NO_HTTP = 'This is no valid HTTP request';
const BROKEN: Readonly<Record<string, string>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'The request took too long to arrive',
  HPE_HEADER_OVERFLOW: 'The path and the headers of the request are longer than 16 KiB; shorten them',
};

/** A proxy would answer it; this is none. */
function refuseTunnel(_request: IncomingMessage, socket: Duplex): void {
  writeRefusal(socket, 'CONNECT is not taken: this is no proxy');
  endSoon(socket);
}

function writeRefusal(socket: Duplex, message: string): void {
  const body = JSON.stringify(errorAnswer(new ServiceError('invalid_request', message)));
  const head = ['HTTP/1.1 400 Bad Request', 'Content-Type: application/json; charset=utf-8', 'Connection: close'];
  socket.write(`${head.join('\r\n')}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}

/** When what was written is out. */
function endSoon(socket: Duplex): void {
  socket.on('error', () => undefined).end(() => socket.destroy());
}

/** 100-continue is answered by Node; there is no other. */
function refuseExpectation({ headers }: IncomingMessage, response: ServerResponse): void {
  const text = `Expect: ${shortened(headers.expect ?? '')} is not taken; there is 100-continue`;
  const body = JSON.stringify(errorAnswer(new ServiceError('invalid_request', text)));
  response.writeHead(400, { 'content-type': 'application/json; charset=utf-8', connection: 'close' }).end(body);
}
