// The configuration file, its keys, the environment and secrets in files (contract C1, C2, C3).
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ALL_KEYS, type Config, ConfigError, loadConfig, loadListen } from '../../src/app/settings.js';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ofd-server-config-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const REQUIRED = { api_key: 'a-key-that-is-long-enough', db_path: '/d/jobs.db', output_dir: '/d/out' };
type Env = Record<string, string | undefined>;

function write(content: unknown): string {
  const path = join(folder, 'config.json');
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content), { mode: 0o600 });
  return path;
}

function load(changes: Record<string, unknown> = {}, env: Env = {}): Config {
  return loadConfig(write({ ...REQUIRED, ...changes }), env).config;
}

function faults(content: unknown, env: Env = {}): readonly string[] {
  try {
    loadConfig(write(content), env);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
  return [];
}

const faultsOf = (changes: Record<string, unknown>, env: Env = {}): readonly string[] =>
  faults({ ...REQUIRED, ...changes }, env);

const warnings = (changes: Record<string, unknown>): readonly string[] =>
  loadConfig(write({ ...REQUIRED, ...changes }), {}).warnings;

describe('defaults', () => {
  it('are those of the seed', () => {
    expect(load({}, { TMPDIR: '/t' })).toMatchObject({
      listen: ':9705',
      tempDir: '/t/ofd-server',
      logLevel: 'info',
      logDir: '',
      logFile: 'ofd-server.log',
      logMaxSizeMb: 100,
      logMaxBackups: 10,
      logMaxAgeDays: 30,
      logCompress: false,
      logToStdout: undefined,
      maxUploadBytes: 64 * 1024 * 1024,
      maxStreamBytes: 64 * 1024 * 1024,
      fastWorkers: 4,
      heavyWorkers: 1,
      notifyWorkers: 4,
      jobTimeoutMs: 0,
      maxJobAttempts: 0,
      jobRetryBackoffMs: 5000,
      retentionMs: 168 * 3_600_000,
      shutdownGraceMs: 30_000,
      allowInputUrlHosts: [],
      urlTimeoutMs: 30_000,
      allowInsecureFtp: false,
      allowInsecureS3: false,
      fontDirs: [],
      sofficePath: '',
      chromePath: '',
      chromeNoSandbox: false,
    });
  });

  it('hold for keys that are null or empty', () => {
    const unset = Object.fromEntries(Object.keys(ALL_KEYS).map((key, index) => [key, index % 2 === 0 ? null : '']));
    expect(load({ ...unset, ...REQUIRED })).toEqual(load());
  });

  it('hold for 0 where the contract says so', () => {
    const zeros = [
      ...['fast_workers', 'heavy_workers', 'notify_workers', 'max_upload_bytes', 'max_stream_bytes'],
      ...['log_max_size_mb', 'log_max_backups', 'log_max_age_days', 'url_timeout', 'retention'],
    ];
    expect(load(Object.fromEntries(zeros.map((key) => [key, 0])))).toEqual(load());
  });

  it('do not hold for 0 where it means something', () => {
    expect(load({ job_timeout: 0, max_job_attempts: 0, shutdown_grace: '0s' })).toMatchObject({
      jobTimeoutMs: 0,
      maxJobAttempts: 0,
      shutdownGraceMs: 0,
    });
  });
});

it.each([
  ['168h', 604_800_000],
  ['1h30m', 5_400_000],
  ['1.5s', 1500],
  ['250ms', 250],
  ['1m0.5s', 60_500],
  ['16.1s', 16_100],
  ['1500us', 2],
  ['1ns', 1],
  ['+5s', 5000],
])('a duration as Go writes it: %s', (text, wanted) => {
  expect(load({ url_timeout: text }).urlTimeoutMs).toBe(wanted);
});

it.each([
  ['"fast_workers": 1, "db_path": "/a", "fast_workers": 2', 'fast_workers'],
  ['"notify_targets": {"a": {"url": "https://a", "secret": "x", "url": "https://b"}}', 'notify_targets.a.url'],
])('a key that stands twice is a fault beside the others: %s', (keys, path) => {
  const file = write({});
  writeFileSync(file, `{"output_dir": "/o", "api_key": 5, ${keys}}`);
  const told = (): unknown => loadConfig(file, {});
  expect(told).toThrow(`${path}: the key is given twice; leave one out`);
  expect(told).toThrow('api_key: is not a text');
});

it('every fault is told at once, one line each, with path, value and what would be right', () => {
  const found = faults({
    listen: '9705',
    api_key: 17,
    max_uplaod_bytes: 3,
    job_timeout: 30,
    retention: '7d',
    url_timeout: '-5s',
    fast_workers: -1,
    heavy_workers: 1.5,
    notify_workers: '4',
    log_level: 'trace',
    log_file: 'a/b',
    log_compress: 'yes',
    log_to_stdout: false,
    temp_dir: ['x'],
    allow_input_url_hosts: ['*.com', '*.co.uk', '10.0.0.0/33', 'https://a', 'a b', '', 5],
    font_dirs: '/fonts',
    ftp_targets: [],
    s3_targets: { m: 'x' },
  });
  expect(found).toEqual([
    'max_uplaod_bytes: unknown key; max_upload_bytes may be meant',
    'listen: "9705": write :9705, 127.0.0.1:9705 or [::1]:9705',
    'api_key: is not a text; write it in quotation marks',
    'db_path: is required; set it here or by OFD_SERVER_DB_PATH or OFD_SERVER_DB',
    'fast_workers: -1 is out of range; 1 to 256 is allowed',
    'heavy_workers: 1.5 is not a whole number; write it without quotation marks, unit or point',
    'job_timeout: 30 is not a duration; write it as "30s", "5m" or "168h"',
    'retention: "7d" is not a duration; write it as "30s", "5m" or "168h"',
    'temp_dir: a list is not a text; write it in quotation marks',
    'font_dirs: "/fonts" is not a list; write it as ["…", "…"]',
    'output_dir: is required; set it here or by OFD_SERVER_OUTPUT_DIR',
    'allow_input_url_hosts[0]: "*.com": is too wide; name a domain below it, as in *.example.com',
    'allow_input_url_hosts[1]: "*.co.uk": is too wide; name a domain below it, as in *.example.com',
    'allow_input_url_hosts[2]: "10.0.0.0/33": write a CIDR as 10.0.0.0/8 or fd00::/8',
    'allow_input_url_hosts[3]: "https://a": write a CIDR as 10.0.0.0/8 or fd00::/8',
    'allow_input_url_hosts[4]: "a b": write a host name without scheme and port, *.example.com, a CIDR or an IP address',
    'allow_input_url_hosts[5]: "" is empty; leave it out',
    'allow_input_url_hosts[6]: 5 is not a text; write it in quotation marks',
    'url_timeout: "-5s" is out of range; from "0s" to "500h" is allowed',
    'ftp_targets: [] is not an object; write it as {"name": {…}}',
    's3_targets.m: a text is not an object; write it as {"key": value}',
    's3_targets.m.endpoint: is required; set it here',
    's3_targets.m.bucket: is required; set it here',
    'notify_workers: "4" is not a whole number; write it without quotation marks, unit or point',
    'log_level: "trace" is none of debug, info, warn, error',
    'log_file: "a/b": write a file name; log_dir names the folder',
    'log_compress: "yes" is neither true nor false',
    'log_to_stdout: false without log_dir leaves the log no outlet; set log_dir, or leave this out',
  ]);
});

it('what is the service’s own lies nowhere that output_retention cleans', () => {
  const inside = { db_path: '/d/out/db/jobs.db', temp_dir: '/d/out', log_dir: '/d/out/log' };
  expect(loadConfig(write({ ...REQUIRED, ...inside }), {}).warnings).toHaveLength(3);
  expect(faultsOf({ ...inside, output_retention: '24h' })).toEqual([
    'db_path: /d/out/db/jobs.db lies inside output_dir, where output_retention removes what is old; move one of them',
    'temp_dir: /d/out lies inside output_dir, where output_retention removes what is old; move one of them',
    'log_dir: /d/out/log lies inside output_dir, where output_retention removes what is old; move one of them',
  ]);
  expect(faultsOf({ db_path: '/d/output/jobs.db', output_retention: '24h' })).toEqual([]);
});

describe('a file that cannot be read', () => {
  it.each([
    ['a list', '[]', /\[\] is not an object/],
    ['no JSON', '{"listen": ":9705",}', /line 1, column 20.*a name in double quotation marks was expected/],
    ['a comment', '{\n  // port\n  "listen": ":1"}', /line 2, column 3/],
    ['nothing', '', /line 1, column 1.*a value was expected/],
  ])('is told: %s', (_what, content, says) => expect(faults(content).join()).toMatch(says));

  it('shows nothing of what stands around the fault', () => {
    expect(faults('{"api_key": "hunter2hunter2" "x": 1}').join()).not.toContain('hunter2');
  });

  it('is told when it is missing', () => {
    expect(() => loadConfig(join(folder, 'no.json'), {})).toThrow(
      /no\.json: the configuration file cannot be read \(ENOENT\)/,
    );
  });
});

describe('the environment', () => {
  it('overrides the file', () => {
    expect(
      load(
        { listen: ':1', log_level: 'error' },
        {
          OFD_SERVER_LISTEN: ':2',
          OFD_SERVER_DB_PATH: '/e/jobs.db',
          OFD_SERVER_TEMP_DIR: '/e/tmp',
          OFD_SERVER_OUTPUT_DIR: '/e/out',
          OFD_SERVER_LOG_LEVEL: 'DEBUG',
          OFD_SERVER_MAX_UPLOAD_BYTES: '1024',
        },
      ),
    ).toMatchObject({
      listen: ':2',
      dbPath: '/e/jobs.db',
      tempDir: '/e/tmp',
      outputDir: '/e/out',
      logLevel: 'debug',
      maxUploadBytes: 1024,
    });
  });

  it('counts as not set where it is empty, and OFD_SERVER_DB stands behind OFD_SERVER_DB_PATH', () => {
    expect(load({}, { OFD_SERVER_LISTEN: '', OFD_SERVER_DB: '/e/a.db' })).toMatchObject({
      listen: ':9705',
      dbPath: '/e/a.db',
    });
    expect(load({}, { OFD_SERVER_DB_PATH: '/e/b.db', OFD_SERVER_DB: '/e/a.db' }).dbPath).toBe('/e/b.db');
  });

  it("has faults under its own names, and is read for the seed's keys alone", () => {
    expect(
      faultsOf({}, { OFD_SERVER_MAX_UPLOAD_BYTES: '1k', OFD_SERVER_LISTEN: 'x', OFD_SERVER_FAST_WORKERS: 'x' }),
    ).toEqual([
      'OFD_SERVER_LISTEN: "x": write :9705, 127.0.0.1:9705 or [::1]:9705',
      'OFD_SERVER_MAX_UPLOAD_BYTES: "1k" is not a whole number; write it without quotation marks, unit or point',
    ]);
  });
});

describe('the key', () => {
  const file = (content: string): string => {
    const path = join(folder, 'key');
    writeFileSync(path, content);
    return path;
  };

  it('comes from a file, without the line end, or from the environment, which holds before all', () => {
    const path = file('from-a-file-long-enough\n');
    const reveal = (changes: object, env: Env): string | undefined =>
      loadConfig(write({ db_path: '/d', output_dir: '/o', ...changes }), env).config.apiKey?.reveal();
    expect(reveal({ api_key_file: path }, {})).toBe('from-a-file-long-enough');
    expect(reveal({ api_key: '', api_key_file: path }, {})).toBe('from-a-file-long-enough');
    expect(reveal({ api_key: 'in-the-file-itself' }, { OFD_SERVER_API_KEY_FILE: path })).toBe(
      'from-a-file-long-enough',
    );
    expect(reveal({ api_key_file: '/nowhere' }, { OFD_SERVER_API_KEY: 'from-the-environment' })).toBe(
      'from-the-environment',
    );
  });

  it('is required', () => {
    expect(faults({ ...REQUIRED, api_key: '' })).toEqual([
      'api_key: is required; set it here or by api_key_file or OFD_SERVER_API_KEY or OFD_SERVER_API_KEY_FILE',
    ]);
  });

  it.each([
    ['both places', { api_key: 'x'.repeat(20), api_key_file: '/k' }, /api_key_file: stands beside api_key/],
    [
      'a missing file',
      { api_key: null, api_key_file: '/nowhere/key' },
      /api_key_file: "\/nowhere\/key" cannot be read \(ENOENT\)/,
    ],
    ['white space', { api_key: ' padded-key-padded ' }, /api_key: starts or ends with white space/],
    ['control characters', { api_key: 'a\tbbbbbbbbbbbbbbbbbb' }, /api_key: contains control characters/],
  ])('is refused in %s', (_what, changes, says) => expect(faultsOf(changes).join('\n')).toMatch(says));

  it('is refused in an empty file', () => {
    expect(faultsOf({ api_key: null, api_key_file: file('\n') }).join()).toMatch(/is empty/);
  });

  it('shows up in no text form of the configuration', () => {
    const config = load();
    for (const text of [JSON.stringify(config), inspect(config, { depth: 9 }), `${config.apiKey}`]) {
      expect(text).not.toContain(REQUIRED.api_key);
    }
  });
});

it('what is insecure but allowed is a warning', () => {
  expect(warnings({ api_key: 'short' })).toEqual([expect.stringMatching(/^api_key: is only 5 characters/)]);
  expect(warnings({ temp_dir: '/d/out/tmp' })).toEqual([expect.stringMatching(/^temp_dir: .*inside output_dir/)]);
  const path = write({ ...REQUIRED, ftp_targets: { a: { addr: 'h', password: 'p' } } });
  chmodSync(path, 0o644);
  expect(loadConfig(path, {}).warnings).toEqual([
    expect.stringMatching(/^api_key: this secret is written in .*api_key_file/),
    expect.stringMatching(/^ftp_targets\.a\.password: this secret/),
  ]);
});

describe('where the service listens', () => {
  it('is told of a configuration that lacks or mistakes all else', () => {
    const path = write({ listen: '127.0.0.1:1234', unknown: 1, ui: 'perhaps' });
    expect(loadListen(path, {})).toBe('127.0.0.1:1234');
    expect(loadListen(path, { OFD_SERVER_LISTEN: ':99' })).toBe(':99');
    expect(loadListen(write({}), {})).toBe(':9705');
  });

  it('is a fault by itself', () => {
    expect(() => loadListen(write({ listen: 9705 }), {})).toThrow(/^The configuration has a fault:\nlisten: 9705 /);
    expect(() => loadListen(join(folder, 'absent.json'), {})).toThrow(/absent\.json: the configuration file cannot/);
  });
});

describe('the files in the tree', () => {
  const env = { OFD_SERVER_API_KEY: 'a-key-that-is-long-enough' };

  it('example-config.json names every key with its default', () => {
    const example = JSON.parse(readFileSync('example-config.json', 'utf8')) as Record<string, unknown>;
    expect(Object.keys(example).sort()).toEqual([...Object.keys(ALL_KEYS), 'api_key_file'].sort());
    const paths = { db_path: example.db_path, temp_dir: example.temp_dir, output_dir: example.output_dir };
    expect(loadConfig('example-config.json', env).config).toEqual(loadConfig(write(paths), env).config);
  });

  it('docker-config.json holds no key and does not start without one', () => {
    expect(() => loadConfig('docker-config.json', {})).toThrow(/api_key: is required/);
    expect(loadConfig('docker-config.json', env).config).toMatchObject({ logToStdout: true, chromeNoSandbox: true });
  });
});
