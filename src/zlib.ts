/** zlib for code that runs in worker threads: a thread is not ended in the middle of a call (thread-guard.ts). */
import * as zlib from 'node:zlib';
import { uninterrupted } from './thread-guard.js';

export { constants, crc32 } from 'node:zlib';

function guarded<Values extends unknown[], Result>(call: (...values: Values) => Result): typeof call {
  return (...values) => uninterrupted(() => call(...values));
}

export const createDeflate = guarded((options?: zlib.ZlibOptions) => zlib.createDeflate(options));
export const createInflate = guarded((options?: zlib.ZlibOptions) => zlib.createInflate(options));
export const deflateRawSync = guarded((bytes: zlib.InputType, options?: zlib.ZlibOptions) =>
  zlib.deflateRawSync(bytes, options),
);
export const deflateSync = guarded((bytes: zlib.InputType, options?: zlib.ZlibOptions) =>
  zlib.deflateSync(bytes, options),
);
export const gunzipSync = guarded((bytes: zlib.InputType, options?: zlib.ZlibOptions) =>
  zlib.gunzipSync(bytes, options),
);
export const gzipSync = guarded((bytes: zlib.InputType, options?: zlib.ZlibOptions) => zlib.gzipSync(bytes, options));
export const inflateRawSync = guarded((bytes: zlib.InputType, options?: zlib.ZlibOptions) =>
  zlib.inflateRawSync(bytes, options),
);
export const inflateSync = guarded((bytes: zlib.InputType, options?: zlib.ZlibOptions) =>
  zlib.inflateSync(bytes, options),
);
