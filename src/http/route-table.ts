/** The routes of the server: so that a wrong method can be answered with the right ones, and all can be described. */
import type { FastifyContextConfig } from 'fastify';
import type { TSchema } from 'typebox';
import type { HttpServer } from './services.js';

export interface Route {
  readonly method: string;
  /** With segments such as `:id`. */
  readonly path: string;
  readonly schema: { readonly params?: TSchema; readonly querystring?: TSchema };
  readonly config: FastifyContextConfig;
}

export class RouteTable {
  readonly #routes: (Route & { readonly pattern: RegExp })[] = [];

  /** Notes every route that is added to `server` from now on. */
  constructor(server: HttpServer) {
    server.addHook('onRoute', ({ url, method, schema, config }) => {
      for (const name of [method].flat()) {
        this.#routes.push({
          method: name,
          path: url,
          pattern: patternOf(url),
          schema: (schema ?? {}) as Route['schema'],
          config: config ?? {},
        });
      }
    });
  }

  /** Every route, in the order of registration; HEAD, which goes with GET, apart. */
  get rows(): readonly Route[] {
    return this.#routes.filter(({ method }) => method !== 'HEAD');
  }

  /** Methods that a path takes, sorted; none where it is no route. */
  methodsOf(path: string): readonly string[] {
    const found = this.#routes.filter(({ pattern }) => pattern.test(path));
    return [...new Set(found.map(({ method }) => method))].sort();
  }
}

/** Segments such as `:id` stand for anything without a slash. */
function patternOf(url: string): RegExp {
  const segments = url
    .split('/')
    .map((segment) => (segment.startsWith(':') ? '[^/]+' : segment.replace(/[^\w-]/g, '\\$&')));
  return new RegExp(`^${segments.join('/')}$`);
}
