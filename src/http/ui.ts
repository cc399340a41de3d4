/** The page at `/` and what belongs to it (off unless `ui` is true): files of the build, under a strict policy. */
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyReply } from 'fastify';
import { NoQuery } from './schemas.js';
import type { HttpServer } from './services.js';

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
};

const HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    'img-src blob: data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-cache',
};

interface Asset {
  readonly mediaType: string;
  readonly bytes: Buffer;
}

/** What the build made, read once: nothing that a request says reaches the file system. */
function assets(): ReadonlyMap<string, Asset> {
  const folder = fileURLToPath(new URL(import.meta.url.endsWith('.ts') ? '../../dist/ui' : '../ui', import.meta.url));
  return new Map(
    readdirSync(folder).flatMap((name): [string, Asset][] => {
      const mediaType = MEDIA_TYPES[extname(name)];
      return mediaType ? [[name, { mediaType, bytes: readFileSync(join(folder, name)) }]] : [];
    }),
  );
}

export function uiRoutes(server: HttpServer): void {
  for (const [name, { mediaType, bytes }] of assets()) {
    const send = async (_request: unknown, reply: FastifyReply): Promise<FastifyReply> =>
      reply.headers(HEADERS).type(mediaType).send(bytes);
    server.get(
      name === 'index.html' ? '/' : `/ui/${name}`,
      { schema: { querystring: NoQuery }, config: { isOpen: true } },
      send,
    );
  }
}
