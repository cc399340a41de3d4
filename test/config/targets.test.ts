// Registered targets: their keys, defaults and the checks at start (contract C3), and a file of the Go program.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConfigError, loadConfig } from '../../src/app/settings.js';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'ofd-server-targets-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const FINGERPRINT = `SHA256:${'a'.repeat(43)}`;

function load(changes: Record<string, unknown>): ReturnType<typeof loadConfig> {
  const path = join(folder, 'config.json');
  const keys = { api_key: 'a-key-that-is-long-enough', db_path: '/d/jobs.db', output_dir: '/d/out', ...changes };
  writeFileSync(path, JSON.stringify(keys), { mode: 0o600 });
  return loadConfig(path, {});
}

function faults(changes: Record<string, unknown>): string {
  try {
    load(changes);
    return '';
  } catch (error) {
    return (error as ConfigError).faults.join('\n');
  }
}

it('a configuration file written for the Go program starts this one unchanged', () => {
  const { config, warnings } = load({
    listen: '0.0.0.0:9705',
    log_dir: '/var/log/ofd-server',
    log_to_stdout: true,
    job_timeout: '5m',
    max_job_attempts: 3,
    job_retry_backoff: '10s',
    retention: '720h0m0s',
    allow_input_url_hosts: ['files.example.com', '*.example.org', '10.0.0.0/8', '192.168.1.10', '0.0.0.0/0'],
    url_timeout: '1m30s',
    notify_targets: {
      erp: {
        url: 'https://erp.example.com/hook',
        secret: 's3cret',
        events: ['failed'],
        timeout_seconds: 5,
        max_attempts: 8,
      },
      local: { url: 'http://127.0.0.1:8080/hook', events: ['*'] },
    },
    ftp_targets: {
      archive: {
        addr: 'ftp.example.com:21',
        user: 'u',
        password: 'p',
        base_dir: '/results',
        insecure: false,
        implicit: false,
      },
      legacy: {
        addr: '10.0.0.5',
        user: 'u',
        password: 'p',
        insecure: true,
        disable_epsv: true,
        max_idle: 4,
        idle_ttl: '1m',
      },
    },
    allow_insecure_ftp: true,
    s3_targets: {
      minio: {
        endpoint: 'minio:9000',
        secure: false,
        region: 'us-east-1',
        access_key: 'AK',
        secret_key: 'SK',
        bucket: 'ofd',
        prefix: 'in/coming',
        path_style: true,
        timeout_seconds: 60,
        max_bytes: 0,
        overwrite: true,
      },
    },
    allow_insecure_s3: true,
    webdav_targets: { nas: { endpoint: 'https://nas.example.com/dav', user: 'u', password: 'p', base_dir: 'out' } },
    sftp_targets: {
      one: {
        addr: 'sftp.example.com:22',
        user: 'u',
        auth: { agent_socket: '/run/agent.sock' },
        host_key_sha256: FINGERPRINT,
      },
      two: {
        addr: '[fd00::1]:2222',
        user: 'u',
        auth: { private_key_file: '/etc/ofd-server/id_ed25519', private_key_passphrase: 'x' },
        base_dir: '/in',
        host_key_file: '/etc/ofd-server/known_hosts',
      },
      three: { addr: 'h', user: 'u', auth: { password: 'p' }, insecure_ignore_host_key: true },
    },
    soffice_path: '/usr/bin/soffice',
    chrome_no_sandbox: true,
  });
  expect(config.ftpTargets.get('archive')).toMatchObject({
    timeoutSeconds: 30,
    maxBytes: 64 * 1024 * 1024,
    overwrite: false,
    maxIdle: 2,
    idleTtlMs: 120_000,
  });
  expect(config.ftpTargets.get('legacy')).toMatchObject({ maxIdle: 4, idleTtlMs: 60_000, disableEpsv: true });
  expect(config.s3Targets.get('minio')).toMatchObject({ maxBytes: 64 * 1024 * 1024, pathStyle: true });
  expect(config.notifyTargets.get('erp')).toMatchObject({ timeoutSeconds: 5, maxAttempts: 8, events: ['failed'] });
  expect(config.notifyTargets.get('local')).toMatchObject({ timeoutSeconds: 10, maxAttempts: 5 });
  expect(config.sftpTargets.get('two')?.auth.privateKeyPassphrase?.reveal()).toBe('x');
  expect(warnings.map((line) => line.slice(0, line.indexOf(':')))).toEqual([
    'ftp_targets.legacy.insecure',
    's3_targets.minio.secure',
    'sftp_targets.three.insecure_ignore_host_key',
    'notify_targets.local.secret',
  ]);
});

it('a secret of a target may come from a file', () => {
  const file = join(folder, 'secret');
  writeFileSync(file, 'from-file\n');
  const { config } = load({ ftp_targets: { a: { addr: 'h', user: 'u', password_file: file } } });
  expect(config.ftpTargets.get('a')?.password?.reveal()).toBe('from-file');
  expect(faults({ ftp_targets: { a: { addr: 'h', password_file: '/nowhere' } } })).toMatch(
    /^ftp_targets\.a\.password_file: "\/nowhere" cannot be read/,
  );
});

const sftp = (keys: object): object => ({
  sftp_targets: { t: { addr: 'h', user: 'u', auth: { password: 'p' }, ...keys } },
});
const s3 = (keys: object): object => ({
  s3_targets: { t: { endpoint: 'h:9000', secure: true, bucket: 'bkt', ...keys } },
});

describe('the start is refused for', () => {
  it.each([
    ['a bad name', { ftp_targets: { 'a/b': { addr: 'h' } } }, /ftp_targets\.a\/b: a target name/],
    ['an unknown key', { ftp_targets: { a: { addr: 'h', pasv: true } } }, /ftp_targets\.a\.pasv: unknown key/],
    ['no address', { ftp_targets: { a: {} } }, /ftp_targets\.a\.addr: is required/],
    ['a bad port', { ftp_targets: { a: { addr: 'h:70000' } } }, /addr: "h:70000"/],
    ['FTP without TLS', { ftp_targets: { a: { addr: 'h', insecure: true } } }, /insecure: true.*allow_insecure_ftp/],
    [
      'implicit TLS and none',
      { allow_insecure_ftp: true, ftp_targets: { a: { addr: 'h', insecure: true, implicit: true } } },
      /implicit/,
    ],
    ['a base_dir with ..', { ftp_targets: { a: { addr: 'h', base_dir: '/a/../b' } } }, /base_dir.*\.\./],
    ['S3 over http', s3({ secure: false }), /secure: false.*allow_insecure_s3/],
    ['S3 with two schemes', s3({ endpoint: 'http://h:9000' }), /endpoint: http contradicts secure: true/],
    ['S3 without a bucket', s3({ bucket: '' }), /bucket: is required/],
    ['S3 with half a login', s3({ access_key: 'a' }), /access_key and secret_key belong together/],
    ['WebDAV over http', { webdav_targets: { a: { endpoint: 'http://nas/dav' } } }, /endpoint.*only https/],
    [
      'WebDAV with a login in the URL',
      { webdav_targets: { a: { endpoint: 'https://u:p@nas/' } } },
      /no place in a URL/,
    ],
    ['SFTP without a host key', sftp({}), /host key would not be checked.*host_key_sha256/],
    ['SFTP with a bad fingerprint', sftp({ host_key_sha256: 'MD5:aa' }), /host_key_sha256: "MD5:aa"/],
    ['SFTP without a login', sftp({ auth: {}, insecure_ignore_host_key: true }), /auth: has no way to log in/],
    [
      'SFTP with a passphrase alone',
      sftp({ auth: { password: 'p', private_key_passphrase: 'x' } }),
      /private_key_passphrase/,
    ],
    ['SFTP with an unknown auth', sftp({ auth: { passwd: 'p' } }), /auth\.passwd: unknown key; password may be meant/],
    ['a notification over http', { notify_targets: { a: { url: 'http://erp/hook' } } }, /url.*only https/],
    ['an unknown event', { notify_targets: { a: { url: 'https://erp/', events: ['done'] } } }, /events\[0\]: "done"/],
    ['a notification without URL', { notify_targets: { a: {} } }, /url: is required/],
  ] as [string, Record<string, unknown>, RegExp][])('%s', (_what, changes, says) =>
    expect(faults(changes)).toMatch(says),
  );
});

it('http to this machine is allowed', () => {
  for (const host of ['localhost', '127.0.0.1', '127.8.9.1', '[::1]']) {
    expect(faults({ webdav_targets: { a: { endpoint: `http://${host}:8080/dav` } } })).toBe('');
  }
});

it('a fault shows where a value is wrong and no secret that stands in it', () => {
  const secret = 'hunter2hunter2';
  const s3 = { bucket: 'box', access_key: 'id', secret_key: 'k', secure: true };
  const sftp = { user: 'u', insecure_ignore_host_key: true };
  const text = faults({
    api_keys: { direct: secret, listed: [secret], inside: { key: { value: secret }, scopes: ['read'] } },
    notify_targets: {
      login: { url: `https://u:${secret}@host/hook` },
      path: { url: `http://hooks.example/${secret}?token=${secret}` },
      fragment: { url: `https://host?sig=${secret}#x` },
      none: secret,
    },
    ftp_targets: { scheme: { addr: `ftp://u:p@${secret}@host` }, nested: { addr: { host: 'h', password: secret } } },
    webdav_targets: { login: { endpoint: `https://u:${secret}@host/dav` }, outside: [{ password: secret }] },
    s3_targets: { login: { ...s3, endpoint: `https://id:${secret}@host` } },
    sftp_targets: { login: { ...sftp, addr: `u:${secret}@host` }, direct: { ...sftp, addr: 'host', auth: secret } },
    allow_input_url_hosts: [`https://u:${secret}@host/`],
  });
  expect(text).not.toContain('hunter2');
  for (const line of [
    'api_keys.direct: a text is not an object; write it as {"key": value}',
    'api_keys.listed: a list is not an object; write it as {"key": value}',
    'notify_targets.login.url: "https://…@host/…": user and password have no place in a URL',
    'notify_targets.path.url: "http://hooks.example/…": only https, or http to this machine, is allowed',
    'ftp_targets.scheme.addr: "ftp://…@host": write host or host:port, an IPv6 address as [::1]:port',
    'ftp_targets.nested.addr: an object is not a text; write it in quotation marks',
    'sftp_targets.direct.auth: a text is not an object; write it as {"key": value}',
  ]) {
    expect(text.split('\n')).toContain(line);
  }
  for (const whole of [{ api_keys: secret }, { notify_targets: [{ secret }] }]) {
    expect(faults(whole)).toMatch(/is not an object/);
    expect(faults(whole)).not.toContain('hunter2');
  }
});
