// SIGHUP: the log level and secrets change in the running service, a faulty file changes nothing.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { takeSecrets } from '../../src/app/reload.js';
import { Secret } from '../../src/config/key.js';
import { copyOfBuild, Daemon } from '../support/daemon.js';
import { HangingFolder } from '../support/hanging-folder.js';
import { temporaryFolder } from '../support/jobs.js';
import { until } from '../support/service.js';

let folder: ReturnType<typeof temporaryFolder>;
let daemon: Daemon | undefined;
beforeEach(() => {
  folder = temporaryFolder('reload');
});
afterEach(async () => {
  await daemon?.kill();
  daemon = undefined;
  folder.remove();
});

it('secrets are taken where both readings have one, and named where they changed', () => {
  const make = (secretKey: string, password: string): object => ({
    apiKey: new Secret('same'),
    s3Targets: new Map([['archive', { bucket: 'b', secretKey: new Secret(secretKey) }]]),
    sftpTargets: new Map([['box', { auth: { password: new Secret(password) } }]]),
    logDir: undefined,
    fontDirs: ['a'],
  });
  const current = make('old', 'p') as { s3Targets: Map<string, { secretKey: Secret }> };
  expect(takeSecrets(current, make('new', 'p'))).toEqual({
    changed: ['s3_targets.archive.secret_key'],
    needsRestart: [],
  });
  expect(current.s3Targets.get('archive')?.secretKey.reveal()).toBe('new');
  expect(takeSecrets(current, { ...make('new', 'p'), s3Targets: new Map() })).toEqual({
    changed: [],
    needsRestart: ['s3_targets.archive'],
  });
  expect(current.s3Targets.get('archive')?.secretKey.reveal()).toBe('new');
});

it('a target that is another one now keeps its secrets until a restart: none is sent to the old address', () => {
  const make = (endpoint: string, password: string): Map<string, { endpoint: string; password: Secret }> =>
    new Map([['archive', { endpoint, password: new Secret(password) }]]);
  const webdavTargets = make('https://old', 'old');
  expect(takeSecrets({ webdavTargets }, { webdavTargets: make('https://new', 'new') })).toEqual({
    changed: [],
    needsRestart: ['webdav_targets.archive'],
  });
  expect(webdavTargets.get('archive')?.password.reveal()).toBe('old');
});

it('what only a restart takes is named', () => {
  const make = (changes: object): object => ({
    apiKey: new Secret('a'),
    logLevel: 'info',
    fastWorkers: 1,
    fontDirs: ['a'],
    apiKeys: new Map(),
    s3Targets: new Map([['archive', { bucket: 'b', secretKey: new Secret('s') }]]),
    ...changes,
  });
  const needsRestart = (changes: object): readonly string[] => takeSecrets(make({}), make(changes)).needsRestart;
  const archive = { bucket: 'b', secretKey: new Secret('t') };
  const same = { apiKey: new Secret('b'), logLevel: 'debug', apiKeys: new Map([['new', {}]]) };
  expect(needsRestart({ ...same, s3Targets: new Map([['archive', archive]]) })).toEqual([]);
  const s3Targets = new Map<string, object>([
    ['archive', { ...archive, bucket: 'c' }],
    ['other', archive],
  ]);
  expect(needsRestart({ fastWorkers: 2, fontDirs: ['a', 'b'], s3Targets })).toEqual([
    'fast_workers',
    'font_dirs',
    's3_targets.archive',
    's3_targets.other',
  ]);
});

it('a secret that comes or goes is taken by a restart, and named', () => {
  const make = (password?: Secret): object => ({ webdavTargets: new Map([['archive', { url: 'u', password }]]) });
  const taken = { changed: [], needsRestart: ['webdav_targets.archive'] };
  expect(takeSecrets(make(), make(new Secret('new')))).toEqual(taken);
  expect(takeSecrets(make(new Secret('old')), make())).toEqual(taken);
});

it('a secret that was taken is read again from where it stands now', () => {
  const [before, now] = ['before', 'now'].map((name) => join(folder.path, name)) as [string, string];
  writeFileSync(before, 'old');
  writeFileSync(now, 'new');
  const current = { apiKey: new Secret('old', before) };
  expect(takeSecrets(current, { apiKey: new Secret('new', now) }).changed).toEqual(['api_key']);
  expect(current.apiKey.reload()).toBe(false);
  expect(current.apiKey.reveal()).toBe('new');
  writeFileSync(now, 'newer');
  expect(current.apiKey.reload()).toBe(true);
  expect(current.apiKey.reveal()).toBe('newer');
  takeSecrets(current, { apiKey: new Secret('in the configuration itself') });
  expect(current.apiKey.reload()).toBe(false);
  expect(current.apiKey.reveal()).toBe('in the configuration itself');
});

it('a daemon takes another key and another level at SIGHUP', async () => {
  const keyFile = join(folder.path, 'key');
  const configPath = join(folder.path, 'config.json');
  const logDir = join(folder.path, 'log');
  mkdirSync(logDir);
  const write = (changes: Record<string, unknown> = {}): void =>
    writeFileSync(
      configPath,
      JSON.stringify({
        listen: '127.0.0.1:0',
        api_key_file: keyFile,
        db_path: join(folder.path, 'data/jobs.db'),
        temp_dir: join(folder.path, 'tmp'),
        output_dir: join(folder.path, 'out'),
        ...changes,
      }),
    );
  writeFileSync(keyFile, 'the-first-key-of-many\n', { mode: 0o600 });
  write();
  daemon = new Daemon(configPath, copyOfBuild(join(folder.path, 'program')));
  const url = await daemon.ready;
  const status = async (key: string): Promise<number> =>
    (await fetch(`${url}/v1/stats`, { headers: { 'x-ofd-api-key': key } })).status;
  expect([await status('the-first-key-of-many'), await status('the-second-key-of-many')]).toEqual([200, 401]);

  writeFileSync(keyFile, 'the-second-key-of-many\n');
  write({ log_level: 'debug' });
  daemon.signal('SIGHUP');
  await until(
    () => status('the-second-key-of-many'),
    (code) => code === 200,
  );
  expect(await status('the-first-key-of-many')).toBe(401);
  await fetch(`${url}/healthz`);
  await until(
    async () => daemon?.output ?? '',
    (text) => text.includes('"route":"/healthz"'),
  );
  const line = daemon.output.split('\n').find((text) => text.includes('configuration read again')) ?? '';
  expect(JSON.parse(line)).toMatchObject({ level: 'info', logLevel: 'debug', changed: ['api_key'] });
  expect(line.match(/"level":/g)).toHaveLength(1);
  expect(daemon.output).not.toContain(readFileSync(keyFile, 'utf8').trim());

  write({ log_level: 'shout' });
  daemon.signal('SIGHUP');
  await until(
    async () => daemon?.output ?? '',
    (text) => text.includes('was not read again'),
  );
  const refused = daemon.output.split('\n').find((text) => text.includes('was not read again')) ?? '';
  expect(JSON.parse(refused)).toMatchObject({
    level: 'error',
    faults: [expect.stringMatching(/^log_level: "shout" /)],
  });
  expect(await status('the-second-key-of-many')).toBe(200);
});

it('a daemon takes keys that come, change and go at SIGHUP, and says what it does not take', async () => {
  const configPath = join(folder.path, 'config.json');
  const write = (changes: Record<string, unknown>): void =>
    writeFileSync(
      configPath,
      JSON.stringify({
        listen: '127.0.0.1:0',
        api_key: 'a-key-that-is-long-enough',
        log_to_stdout: true,
        db_path: join(folder.path, 'data/jobs.db'),
        temp_dir: join(folder.path, 'tmp'),
        output_dir: join(folder.path, 'out'),
        ...changes,
      }),
      { mode: 0o600 },
    );
  const [erp, prometheus, scanner] = ['key-of-the-erp-0123', 'key-of-prometheus-4567', 'key-of-the-scanner-8901'];
  const limited = { key: prometheus, scopes: ['read'], requests_per_minute: 3 };
  write({ api_keys: { erp: { key: erp, scopes: ['admin'] }, prometheus: limited }, fast_workers: 1 });
  daemon = new Daemon(configPath, copyOfBuild(join(folder.path, 'program')));
  const url = await daemon.ready;
  const status = async (key: string): Promise<number> =>
    (await fetch(`${url}/v1/stats`, { headers: { 'x-ofd-api-key': key } })).status;
  const statuses = (): Promise<number[]> => Promise.all([erp, prometheus, scanner].map(status));
  const until200 = (key: string): Promise<number> =>
    until(
      () => status(key),
      (code) => code === 200,
    );
  expect(await statuses()).toEqual([200, 200, 401]);

  write({ api_keys: { scanner: { key: scanner, scopes: ['read'] }, prometheus: limited }, fast_workers: 2 });
  daemon.signal('SIGHUP');
  await until200(scanner);
  expect(await statuses()).toEqual([401, 200, 200]);
  const lines = (): readonly { readonly msg: string }[] =>
    (daemon?.output ?? '').split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []));
  const told = (msg: string): unknown => lines().findLast((line) => line.msg === msg);
  expect(told('configuration read again')).toMatchObject({ changed: ['api_keys.erp', 'api_keys.scanner'] });
  expect(told('these keys are taken by a restart alone')).toMatchObject({ level: 'warn', keys: ['fast_workers'] });

  const scopes = ['convert'];
  write({ api_keys: { scanner: { key: scanner, scopes }, prometheus: limited, erp: { key: erp, scopes } } });
  daemon.signal('SIGHUP');
  await until(
    () => status(scanner),
    (code) => code === 403,
  );
  // The limit goes on counting: two of its three requests were made.
  expect([await status(prometheus), await status(prometheus), await status(erp)]).toEqual([200, 429, 403]);
  expect(told('configuration read again')).toMatchObject({ changed: ['api_keys.scanner.scopes', 'api_keys.erp'] });
});

it('a SIGHUP that comes while the service starts is heard when it has', async () => {
  const volume = await HangingFolder.mount(folder.path);
  try {
    const configPath = join(folder.path, 'config.json');
    const keys = { listen: '127.0.0.1:0', api_key: 'a-key-that-is-long-enough', log_to_stdout: true };
    const paths = {
      db_path: join(folder.path, 'db/jobs.db'),
      output_dir: join(folder.path, 'out'),
      temp_dir: volume.path,
    };
    writeFileSync(configPath, JSON.stringify({ ...keys, ...paths }), { mode: 0o600 });
    volume.hang();
    daemon = new Daemon(configPath, copyOfBuild(join(folder.path, 'program')));
    const { pid } = daemon;
    // The lowest bit of the signals that it catches is SIGHUP's.
    await until(async () => /^SigCgt:.*[13579bdf]$/m.test(readFileSync(`/proc/${pid}/status`, 'utf8')), Boolean);
    daemon.signal('SIGHUP');
    volume.goOn();
    expect(await daemon.ready, daemon.output).toBeDefined();
    await until(
      async () => daemon?.output ?? '',
      (text) => text.includes('configuration read again'),
    );
  } finally {
    await volume.close();
  }
});
