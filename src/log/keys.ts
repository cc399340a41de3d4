/** Configuration of the log (contract C4). */
import {
  type ConfigOf,
  type CrossCheck,
  choice,
  flag,
  type KeyGroup,
  optionalFlag,
  path,
  text,
  wholeNumber,
} from '../config/key.js';

export const LOG_KEYS = {
  log_level: choice(['debug', 'info', 'warn', 'error'], { default: 'info', env: ['OFD_SERVER_LOG_LEVEL'] }),
  /** "" writes no file. */
  log_dir: path(),
  log_file: text({ default: 'ofd-server.log', check: checkFileName }),
  log_max_size_mb: wholeNumber({ default: 100, max: 1_000_000, zero: 'default' }),
  log_max_backups: wholeNumber({ default: 10, max: 100_000, zero: 'default' }),
  log_max_age_days: wholeNumber({ default: 30, max: 36_500, zero: 'default' }),
  log_compress: flag({ default: false }),
  log_to_stdout: optionalFlag('true without log_dir, else false'),
} satisfies KeyGroup;

export type LogConfig = ConfigOf<typeof LOG_KEYS>;

export const checkLog: CrossCheck<LogConfig> = (config, findings) => {
  if (config.logToStdout === false && config.logDir === '') {
    findings.fault('log_to_stdout', 'false without log_dir leaves the log no outlet; set log_dir, or leave this out');
  }
};

function checkFileName(value: string): string | undefined {
  if (value === '.' || value === '..' || value.includes('/')) return 'write a file name; log_dir names the folder';
  return /[<>:"|?*\\]/.test(value) ? 'a log file name has none of < > : " | ? * \\' : undefined;
}
