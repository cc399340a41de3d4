/** Every key of the configuration, as declared by its owners, and the configuration that comes of them. */
import type { ConfigOf, CrossCheck, KeyGroup } from '../config/key.js';
import { type Environment, type Loaded, loadGroup, loadKeys } from '../config/load.js';
import { CONVERT_KEYS } from '../convert/keys.js';
import { checkHttp, HTTP_KEYS } from '../http/keys.js';
import { JOB_KEYS } from '../jobs/keys.js';
import { checkLog, LOG_KEYS } from '../log/keys.js';
import { checkNotify, NOTIFY_KEYS } from '../notify/keys.js';
import { checkTransfer, TRANSFER_KEYS } from '../transfer/targets.js';

export { ConfigError } from '../config/load.js';

export const ALL_KEYS = {
  ...HTTP_KEYS,
  ...JOB_KEYS,
  ...CONVERT_KEYS,
  ...TRANSFER_KEYS,
  ...NOTIFY_KEYS,
  ...LOG_KEYS,
} satisfies KeyGroup;

export type Config = ConfigOf<typeof ALL_KEYS>;

const CHECKS: readonly CrossCheck<Config>[] = [checkHttp, checkTransfer, checkNotify, checkLog, checkFolders];

/** The configuration in the file at `path`, overridden by the environment. Throws ConfigError with every fault. */
export function loadConfig(path: string, env: Environment): Loaded<Config> {
  return loadGroup(ALL_KEYS, CHECKS, path, env);
}

/** Where the service listens, of a configuration that needs to hold no more than that. Throws ConfigError. */
export function loadListen(path: string, env: Environment): string {
  return loadKeys({ listen: HTTP_KEYS.listen }, path, env).listen;
}

/**
 * Clients choose names below output_dir, so nothing of the service's own should lie there; with output_retention it would
 * be removed by its age as what they left is.
 */
function checkFolders(config: Config, findings: Parameters<CrossCheck<Config>>[1]): void {
  const isInside = (path: string): boolean => `${path}/`.startsWith(`${config.outputDir}/`);
  if (config.outputDir === '') return;
  for (const [key, path] of [
    ['db_path', config.dbPath],
    ['temp_dir', config.tempDir],
    ['log_dir', config.logDir],
  ] as const) {
    if (path === '' || !isInside(path)) continue;
    if (config.outputRetentionMs > 0) {
      findings.fault(
        key,
        `${path} lies inside output_dir, where output_retention removes what is old; move one of them`,
      );
    } else findings.warn(key, `${path} lies inside output_dir, where clients choose names`);
  }
}
