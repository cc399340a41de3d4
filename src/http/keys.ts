/** Configuration of the HTTP interface. */
import {
  bytes,
  type ConfigOf,
  type CrossCheck,
  checkListenAddress,
  type Findings,
  flag,
  type KeyGroup,
  type Secret,
  secret,
  targets,
  text,
  texts,
  wholeNumber,
} from '../config/key.js';

const MEBIBYTE = 1024 * 1024;

/** What a key may do: submit documents; see jobs and products, counters; everything. */
export const SCOPES = ['convert', 'read', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

/** Of a key beside api_key. */
const API_KEY_KEYS = {
  key: secret({ isRequired: true }),
  scopes: texts({ check: checkScope }),
  requests_per_minute: wholeNumber({ default: 0, max: 1_000_000, zero: 'itself' }),
} satisfies KeyGroup;

function checkScope(value: string): string | undefined {
  return (SCOPES as readonly string[]).includes(value) ? undefined : `is none of ${SCOPES.join(', ')}`;
}

export const HTTP_KEYS = {
  listen: text({ default: ':9705', env: ['OFD_SERVER_LISTEN'], check: checkListenAddress }),
  api_key: secret({ isRequired: true, env: ['OFD_SERVER_API_KEY'] }),
  /** Answers `/` with a page for people. */
  ui: flag({ default: false }),
  /** By the name that the log shows. */
  api_keys: targets(API_KEY_KEYS),
  /** Of a request's whole body. */
  max_upload_bytes: bytes({ default: 64 * MEBIBYTE, env: ['OFD_SERVER_MAX_UPLOAD_BYTES'] }),
  max_stream_bytes: bytes({ default: 64 * MEBIBYTE }),
} satisfies KeyGroup;

export type HttpConfig = ConfigOf<typeof HTTP_KEYS>;

/** Shorter ones can be guessed. `openssl rand -hex 32` gives 64 characters. */
const SHORTEST_GOOD_KEY = 16;

export const checkHttp: CrossCheck<HttpConfig> = (config, findings) => {
  warnOfShort(config.apiKey, 'api_key', findings);
  const known = new Map(config.apiKey ? [[config.apiKey.reveal(), 'api_key']] : []);
  for (const [name, { key, scopes }] of config.apiKeys) {
    const at = `api_keys.${name}`;
    if (scopes.length === 0) findings.fault(`${at}.scopes`, `is required; a list of ${SCOPES.join(', ')}`);
    warnOfShort(key, `${at}.key`, findings);
    const other = key && known.get(key.reveal());
    if (other !== undefined) findings.fault(`${at}.key`, `is the same as ${other}; each needs one of its own`);
    if (key) known.set(key.reveal(), `${at}.key`);
  }
};

function warnOfShort(key: Secret | undefined, at: string, findings: Findings): void {
  const length = key?.reveal().length ?? SHORTEST_GOOD_KEY;
  if (length >= SHORTEST_GOOD_KEY) return;
  findings.warn(at, `is only ${length} characters long and can be guessed; openssl rand -hex 32 makes a good one`);
}
