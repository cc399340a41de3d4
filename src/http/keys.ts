/** Configuration of the HTTP interface. */
import {
  bytes,
  type ConfigOf,
  type CrossCheck,
  checkListenAddress,
  type KeyGroup,
  secret,
  text,
} from '../config/key.js';

const MEBIBYTE = 1024 * 1024;

export const HTTP_KEYS = {
  listen: text({ default: ':9705', env: ['OFD_SERVER_LISTEN'], check: checkListenAddress }),
  api_key: secret({ isRequired: true, env: ['OFD_SERVER_API_KEY'] }),
  /** Of a request's whole body. */
  max_upload_bytes: bytes({ default: 64 * MEBIBYTE, env: ['OFD_SERVER_MAX_UPLOAD_BYTES'] }),
  max_stream_bytes: bytes({ default: 64 * MEBIBYTE }),
} satisfies KeyGroup;

export type HttpConfig = ConfigOf<typeof HTTP_KEYS>;

/** Shorter ones can be guessed. `openssl rand -hex 32` gives 64 characters. */
const SHORTEST_GOOD_KEY = 16;

export const checkHttp: CrossCheck<HttpConfig> = (config, findings) => {
  const length = config.apiKey?.reveal().length ?? SHORTEST_GOOD_KEY;
  if (length < SHORTEST_GOOD_KEY) {
    findings.warn(
      'api_key',
      `is only ${length} characters long and can be guessed; openssl rand -hex 32 makes a good one`,
    );
  }
};
