/** Configuration of conversions: temporary files, fonts, programs that are driven. */
import { join } from 'node:path';
import { type ConfigOf, flag, type KeyGroup, path, paths, wholeNumber } from '../config/key.js';

export const CONVERT_KEYS = {
  temp_dir: path({
    env: ['OFD_SERVER_TEMP_DIR'],
    defaultText: '"$TMPDIR/ofd-server"',
    whenUnset: (env) => join(env.TMPDIR || '/tmp', 'ofd-server'),
  }),
  /** Resident memory of the process above which the largest conversion is ended (contract R2); 0 is a share of what there is. */
  max_memory_bytes: wholeNumber({ default: 0, min: 256 * 1024 * 1024, max: 2 ** 50, zero: 'itself', type: 'bytes' }),
  /** Folders with fonts, beside those where the system keeps its own. */
  font_dirs: paths(),
  /** "" looks for it in PATH. */
  soffice_path: path(),
  chrome_path: path(),
  chrome_no_sandbox: flag({ default: false }),
  /** Engines are started before work is taken, so that the first conversions need not wait for them. */
  warm_engines: flag({ default: false }),
} satisfies KeyGroup;

export type ConvertConfig = ConfigOf<typeof CONVERT_KEYS>;
