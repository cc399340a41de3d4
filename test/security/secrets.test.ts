// Every secret that the service is given, through successes and failures of each kind, at the level debug: none of them is
// found in what it prints, logs, answers, counts or leaves on disk (contract C4).
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { copyOfBuild, Daemon } from '../support/daemon.js';
import { temporaryFolder } from '../support/jobs.js';
import { buildOfd } from '../support/ofd-builder.js';
import { type JobAnswer, json, until } from '../support/service.js';

/** By what they open. */
const SECRETS = {
  main: 'canary-main-key-01f2',
  named: 'canary-named-key-03f4',
  ftp: 'canary-ftp-05f6',
  s3: 'canary-s3-secret-07f8',
  s3Token: 'canary-s3-token-09fa',
  webdav: 'canary-webdav-0bfc',
  sftp: 'canary-sftp-0dfe',
  passphrase: 'canary-phrase-1f02',
  fromFile: 'canary-file-1304',
  notify: 'canary-notify-1506',
  notifyUrl: 'canary-hook-1708',
  document: 'canary-pdf-190a',
  wrong: 'canary-wrong-1b0c',
  inputUrl: 'canary-signed-1d0e',
  failedUrl: 'canary-signed-1f10',
} as const;

const folder = temporaryFolder('secrets');
const at = (name: string): string => join(folder.path, name);
let web: Server;
let tcp: TcpServer;
let daemon: Daemon;
let url = '';
/** Everything that was answered. */
const answers: string[] = [];

/** An answer that repeats what it was asked with: servers do that in their messages. */
function startWeb(): Promise<number> {
  web = createServer((request, response) => {
    const { authorization = '', ...others } = request.headers;
    const status = Number(/\/status-(\d+)/.exec(request.url ?? '')?.[1] ?? 403);
    request.resume();
    if (request.url?.startsWith('/document.ofd')) {
      response.end(OFD);
      return;
    }
    response.writeHead(status, `No ${request.method}`, { 'x-asked': JSON.stringify(others).slice(0, 2000) });
    response.end(`refused: ${request.url} ${authorization}`);
  });
  return listening(web);
}

/** Speaks FTP so far that a login is refused, with the password in the refusal. */
function startTcp(): Promise<number> {
  tcp = createTcpServer((socket) => {
    socket.on('error', () => undefined).write('220 ready\r\n');
    socket.on('data', (bytes) => {
      const line = bytes.toString().trim();
      socket.write(line.startsWith('USER') ? '331 go on\r\n' : `530 not with ${line}\r\n`);
    });
  });
  return listening(tcp);
}

function listening(server: Server | TcpServer): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}

function program(name: string, script: string): string {
  writeFileSync(at(name), `#!/bin/sh\n${script}\n`);
  chmodSync(at(name), 0o755);
  return at(name);
}

async function configuration(): Promise<object> {
  const [webPort, tcpPort] = [await startWeb(), await startTcp()];
  const web127 = `http://127.0.0.1:${webPort}`;
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', SECRETS.passphrase, '-f', at('id')]);
  writeFileSync(at('secret-file'), `${SECRETS.fromFile}\n`, { mode: 0o600 });
  const sftp = { user: 'u', insecure_ignore_host_key: true, timeout_seconds: 2 };
  const hook = (status: number): object => ({
    url: `${web127}/status-${status}?token=${SECRETS.notifyUrl}`,
    secret: SECRETS.notify,
    max_attempts: 2,
    timeout_seconds: 2,
  });
  return {
    listen: '127.0.0.1:0',
    api_key: SECRETS.main,
    api_keys: { reader: { key: SECRETS.named, scopes: ['read'] } },
    db_path: at('db/jobs.db'),
    temp_dir: at('tmp'),
    output_dir: at('out'),
    log_dir: at('log'),
    log_to_stdout: true,
    log_level: 'debug',
    shutdown_grace: '2s',
    notify_retry_backoff: '0s',
    notify_targets: {
      taken: hook(204),
      broken: hook(500),
      refused: hook(410),
      gone: { ...hook(204), url: 'http://127.0.0.1:1/' },
    },
    allow_input_url_hosts: ['127.0.0.0/8'],
    allow_insecure_ftp: true,
    allow_insecure_s3: true,
    ftp_targets: {
      refused: { addr: `127.0.0.1:${tcpPort}`, user: 'u', password: SECRETS.ftp, insecure: true, timeout_seconds: 2 },
      gone: { addr: '127.0.0.1:1', user: 'u', password_file: at('secret-file'), insecure: true, timeout_seconds: 2 },
    },
    s3_targets: {
      refused: {
        endpoint: `127.0.0.1:${webPort}`,
        secure: false,
        region: 'us-east-1',
        bucket: 'box',
        path_style: true,
        access_key: 'id',
        secret_key: SECRETS.s3,
        session_token: SECRETS.s3Token,
        timeout_seconds: 2,
      },
    },
    webdav_targets: {
      refused: { endpoint: `${web127}/status-401/`, user: 'u', password: SECRETS.webdav, timeout_seconds: 2 },
      broken: { endpoint: `${web127}/status-500/`, user: 'u', password: SECRETS.webdav, timeout_seconds: 2 },
    },
    sftp_targets: {
      gone: { ...sftp, addr: '127.0.0.1:1', auth: { password: SECRETS.sftp } },
      nonsense: {
        ...sftp,
        addr: `127.0.0.1:${tcpPort}`,
        auth: { private_key_file: at('id'), private_key_passphrase: SECRETS.passphrase },
      },
    },
    // Prints what it is given, and dies.
    soffice_path: program('office', 'echo "$@"; env; kill -SEGV $$'),
    chrome_path: program('browser', 'echo "$@" >&2; env >&2; kill -SEGV $$'),
  };
}

beforeAll(async () => {
  const keys = await configuration();
  writeFileSync(at('config.json'), JSON.stringify(keys), { mode: 0o600 });
  mkdirSync(at('documents'));
  const pdf = at('documents/plain.pdf');
  daemon = new Daemon(at('config.json'), copyOfBuild(at('program')));
  url = (await daemon.ready) ?? '';
  expect(url, daemon.output).not.toBe('');
  writeFileSync(pdf, Buffer.from(await (await call('/v1/convert?to=pdf', OFD)).arrayBuffer()));
  execFileSync('qpdf', ['--encrypt', SECRETS.document, SECRETS.document, '256', '--', pdf, at('documents/locked.pdf')]);
});
afterAll(async () => {
  await daemon.kill();
  web.close();
  tcp.close();
  folder.remove();
});

const OFD = buildOfd({ pages: [''] });

async function call(path: string, body?: string | Uint8Array, key: string = SECRETS.main): Promise<Response> {
  const init = body === undefined ? {} : { method: 'POST', body };
  const response = await fetch(url + path, { ...init, headers: { authorization: `Bearer ${key}` } } as RequestInit);
  answers.push(
    `${path.split('?')[0]} ${response.status} ${JSON.stringify([...response.headers])} ${await response.clone().text()}`,
  );
  return response;
}

async function run(output: object, bytes: Uint8Array, fileName: string, notify?: string): Promise<JobAnswer> {
  const input = { file_name: fileName, bytes: Buffer.from(bytes).toString('base64') };
  const body = JSON.stringify({ input, output, ...(notify && { notify: { target: notify } }) });
  const { id } = await json<{ id: string }>(call('/v1/convert', body));
  return until(
    () => json<JobAnswer>(call(`/v1/jobs/${id}?wait=2s`)),
    ({ state }) => state !== 'queued' && state !== 'running',
  );
}

/** Files below a folder, and what they hold. */
function contents(path: string): [string, string][] {
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .map((name) => join(path, name))
    .filter((name) => statSync(name).isFile())
    .map((name) => [name, readFileSync(name, 'latin1')]);
}

function expectNone(place: string, text: string): void {
  for (const [name, secret] of Object.entries(SECRETS)) {
    const forms = [
      secret,
      encodeURIComponent(secret),
      Buffer.from(secret).toString('base64').slice(0, -4),
      Buffer.from(`u:${secret}`).toString('base64').slice(0, -4),
    ];
    for (const form of forms) {
      const found = text.indexOf(form);
      expect(found < 0 ? '' : `${name} in ${place}: …${text.slice(Math.max(0, found - 200), found + 60)}…`).toBe('');
    }
  }
}

it('no secret is found anywhere', async () => {
  const locked = readFileSync(at('documents/locked.pdf'));
  const ended: Record<string, string | undefined> = {};
  for (const [kind, target] of [
    ['ftp', 'refused'],
    ['ftp', 'gone'],
    ['s3', 'refused'],
    ['webdav', 'refused'],
    ['webdav', 'broken'],
    ['sftp', 'gone'],
    ['sftp', 'nonsense'],
  ] as const) {
    const job = await run({ kind, format: 'pdf', remote: { target } }, OFD, 'a.ofd', 'broken');
    ended[`${kind} ${target}`] = job.error_code;
  }
  expect(
    Object.values(ended).every((code) => code === 'sink_unreachable' || code === 'sink_refused'),
    JSON.stringify(ended),
  ).toBe(true);
  for (const hook of ['taken', 'broken', 'refused', 'gone'])
    await run({ kind: 'dir', format: 'txt' }, OFD, 'a.ofd', hook);

  const withPassword = (password: string): object => ({ kind: 'dir', format: 'png', options: { password } });
  const right = await run(withPassword(SECRETS.document), locked, 'a.pdf');
  expect(right).toMatchObject({ state: 'succeeded' });
  const wrong = await run(withPassword(SECRETS.wrong), locked, 'a.pdf');
  expect(wrong).toMatchObject({ state: 'failed', reason: 'encrypted' });
  for (const password of [SECRETS.document, SECRETS.wrong]) {
    await call(`/v1/convert?to=txt&password=${password}`, locked);
    await call(`/v1/convert?to=txt&output.options.password=${password}`, locked);
  }
  // Addresses whose query lets anybody in.
  const { port } = web.address() as AddressInfo;
  const fetched = async (kind: string, path: string): Promise<Response> => {
    const input = { kind: 'url', url: `http://127.0.0.1:${port}${path}` };
    return call('/v1/convert', JSON.stringify({ input, output: { kind, format: 'txt' } }));
  };
  for (const kind of ['stream', 'dir']) {
    expect((await fetched(kind, `/document.ofd?sig=${SECRETS.inputUrl}`)).ok).toBe(true);
    await fetched(kind, `/status-403?sig=${SECRETS.failedUrl}`);
  }
  // The engines die with all that they were given printed.
  await run({ kind: 'dir', format: 'pdf' }, Buffer.from('plain text'), 'a.txt');
  await run({ kind: 'dir', format: 'pdf' }, Buffer.from('<html><p>text</p></html>'), 'a.html');
  await run({ kind: 'dir', format: 'pdf' }, locked.subarray(0, 500), 'a.ofd');

  // Keys: right, wrong, without the scope, in the wrong place.
  await call('/v1/stats', undefined, SECRETS.named);
  expect((await call('/v1/convert?to=pdf', OFD, SECRETS.named)).status).toBe(403);
  expect((await call('/v1/stats', undefined, SECRETS.wrong)).status).toBe(401);

  await until(
    async () => daemon.output,
    (text) => /"state":"abandoned"/.test(text) && /"state":"dead"/.test(text) && /"state":"delivered"/.test(text),
  );
  daemon.signal('SIGHUP');
  const { jobs } = await json<{ jobs: JobAnswer[] }>(call('/v1/jobs?limit=100'));
  for (const { id } of jobs)
    for (const what of ['', '/log', '/events', '/content']) await call(`/v1/jobs/${id}${what}`);
  for (const path of ['/v1/stats', '/v1/dead-letters', '/v1/notifications', '/metrics', '/readyz', '/openapi.json'])
    await call(path);

  expectNone('the answers', answers.join('\n'));
  expect(daemon.output).toMatch(/"level":"debug"/);
  // A failed job can be run again, for which its document and what opens it are kept.
  const whileKept = contents(at('db'))
    .map(([, text]) => text)
    .join('');
  expect(whileKept).toContain(SECRETS.wrong);
  daemon.signal('SIGTERM');
  expect(await daemon.exited).toEqual({ code: 0, signal: null });
  expectNone('its output', daemon.output);
  for (const place of ['log', 'out', 'tmp', 'db']) {
    for (const [path, text] of contents(at(place))) {
      const known = place === 'db' ? text.replaceAll(SECRETS.wrong, '').replaceAll(SECRETS.failedUrl, '') : text;
      expectNone(path, known);
    }
  }
});

it('what opens the document of a failed job goes with its record', async () => {
  const keys = JSON.parse(readFileSync(at('config.json'), 'utf8')) as object;
  writeFileSync(at('config.json'), JSON.stringify({ ...keys, retention: '1ms' }), { mode: 0o600 });
  daemon = new Daemon(at('config.json'), at('program/dist/main.js'));
  url = (await daemon.ready) ?? '';
  await until(
    () => json<{ jobs: unknown[] }>(call('/v1/jobs')),
    ({ jobs }) => jobs.length === 0,
  );
  daemon.signal('SIGTERM');
  await daemon.exited;
  for (const [path, text] of contents(at('db'))) expectNone(path, text);
});
