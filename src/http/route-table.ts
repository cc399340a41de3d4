/** The routes of the server by path, so that a wrong method can be answered with the right ones. */
import type { HttpServer } from './services.js';

interface Row {
  readonly pattern: RegExp;
  readonly methods: Set<string>;
}

export class RouteTable {
  readonly #rows = new Map<string, Row>();

  /** Notes every route that is added to `server` from now on. */
  constructor(server: HttpServer) {
    server.addHook('onRoute', ({ url, method }) => {
      const row = this.#rows.get(url) ?? { pattern: patternOf(url), methods: new Set() };
      for (const name of [method].flat()) row.methods.add(name);
      this.#rows.set(url, row);
    });
  }

  /** Methods that a path takes, sorted; none where it is no route. */
  methodsOf(path: string): readonly string[] {
    const rows = [...this.#rows.values()].filter(({ pattern }) => pattern.test(path));
    return [...new Set(rows.flatMap(({ methods }) => [...methods]))].sort();
  }
}

/** Segments such as `:id` stand for anything without a slash. */
function patternOf(url: string): RegExp {
  const segments = url
    .split('/')
    .map((segment) => (segment.startsWith(':') ? '[^/]+' : segment.replace(/[^\w-]/g, '\\$&')));
  return new RegExp(`^${segments.join('/')}$`);
}
