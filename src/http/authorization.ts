/** Who may do what (contract A1): keys, checked before a body is read, in constant time, over digests of equal length. */
import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import type { Secret } from '../config/key.js';
import { ServiceError } from '../errors.js';
import type { HttpConfig, Scope } from './keys.js';
import { RateLimit } from './rate-limit.js';

/** The name of the one key without limits, in the log. */
const MAIN_KEY = 'api_key';

interface KnownKey {
  readonly name: string;
  readonly secret: Secret;
  /** Every scope where absent. */
  readonly scopes: ReadonlySet<Scope> | undefined;
  readonly requestsPerMinute: number;
  readonly limit: RateLimit | undefined;
}

/** Headers arrive as Latin-1 text whose characters are the bytes sent. */
function digest(text: string, encoding: 'utf8' | 'latin1'): Buffer {
  return hash('sha256', Buffer.from(text, encoding), 'buffer');
}

/** What a key must be allowed for a route: reading, where it says nothing else. What is no route is told to whoever reads. */
export function scopeOf({ scope }: { readonly scope?: Scope }): Scope {
  return scope ?? 'read';
}

export class KeyRing {
  readonly #main: readonly KnownKey[];
  #named: readonly KnownKey[];
  readonly #nowMs: () => number;

  /** @param nowMs a clock that never goes back */
  constructor(config: Pick<HttpConfig, 'apiKey' | 'apiKeys'>, nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
    const unlimited = { scopes: undefined, requestsPerMinute: 0, limit: undefined };
    this.#main = config.apiKey ? [{ name: MAIN_KEY, secret: config.apiKey, ...unlimited }] : [];
    this.#named = namedKeys(config.apiKeys, []);
  }

  /**
   * Takes `api_keys` of another reading of the configuration: a key that is no longer there is shut out. One that stays
   * keeps count of its requests.
   * @returns where they have changed, as the operator writes it: `api_keys.scanner.scopes`
   */
  take({ apiKeys }: Pick<HttpConfig, 'apiKeys'>): readonly string[] {
    const before = this.#named;
    this.#named = namedKeys(apiKeys, before);
    return changesOf(before, this.#named).map((change) => `api_keys.${change}`);
  }

  /**
   * The name of the key that one of the two headers carries.
   * @throws ServiceError `unauthorized`, `forbidden` where the key lacks the scope, `rate_limited`
   */
  require(headers: IncomingHttpHeaders, scope: Scope): string {
    const key = this.#find(headers);
    if (key.scopes && !key.scopes.has(scope) && !key.scopes.has('admin')) {
      throw new ServiceError(
        'forbidden',
        `The key "${key.name}" may not do this: it needs the scope "${scope}" and has ${[...key.scopes].join(', ')}`,
      );
    }
    const waitSeconds = key.limit?.take(this.#nowMs()) ?? 0;
    if (waitSeconds === 0) return key.name;
    throw new ServiceError('rate_limited', `The key "${key.name}" has made its requests of this minute`, {
      retryAfterSeconds: waitSeconds,
    });
  }

  #find(headers: IncomingHttpHeaders): KnownKey {
    const bearer = /^bearer +(.+)$/i.exec(headers.authorization ?? '')?.[1];
    const own = headers['x-ofd-api-key'];
    const candidates = [bearer, Array.isArray(own) ? own[0] : own].filter((candidate) => candidate !== undefined);
    // Each candidate is compared with every key, so that the time tells nothing of which one it is.
    const matches = candidates.flatMap((candidate) => {
      const sent = digest(candidate, 'latin1');
      return [...this.#main, ...this.#named].filter(({ secret }) =>
        timingSafeEqual(sent, digest(secret.reveal(), 'utf8')),
      );
    });
    const [match] = matches;
    if (match) return match;
    throw new ServiceError(
      'unauthorized',
      candidates.length > 0
        ? 'The key is not the right one'
        : 'A key is needed: send "Authorization: Bearer KEY" or "X-OFD-Api-Key: KEY"',
    );
  }
}

function namedKeys(apiKeys: HttpConfig['apiKeys'], before: readonly KnownKey[]): readonly KnownKey[] {
  return [...apiKeys].flatMap(([name, { key, scopes, requestsPerMinute }]): KnownKey[] => {
    if (!key) return [];
    const same = before.find((known) => known.name === name && known.requestsPerMinute === requestsPerMinute);
    const limit = same ? same.limit : requestsPerMinute > 0 ? new RateLimit(requestsPerMinute) : undefined;
    return [{ name, secret: key, scopes: new Set(scopes as readonly Scope[]), requestsPerMinute, limit }];
  });
}

function changesOf(before: readonly KnownKey[], after: readonly KnownKey[]): string[] {
  const names = new Set([...before, ...after].map(({ name }) => name));
  return [...names].flatMap((name) => {
    const [old, fresh] = [before, after].map((keys) => keys.find((key) => key.name === name));
    if (!old || !fresh) return [name];
    return [
      ...(old.secret.reveal() === fresh.secret.reveal() ? [] : [`${name}.key`]),
      ...(isDeepStrictEqual(old.scopes, fresh.scopes) ? [] : [`${name}.scopes`]),
      ...(old.requestsPerMinute === fresh.requestsPerMinute ? [] : [`${name}.requests_per_minute`]),
    ];
  });
}
