// Whatever goes through the service, its log holds no secret, nothing of a body, no text of a document (contract C4).
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ServiceError } from '../../src/errors.js';
import { buildOfd, textXml } from '../support/ofd-builder.js';
import { type JobAnswer, json, startTestService, submission, type TestService, until } from '../support/service.js';

/** Stands in everything that must not be logged. */
const CANARY = 'Canary-7f3a';
const canaries = [CANARY, CANARY.toLowerCase(), Buffer.from(CANARY).toString('base64').slice(0, 12), '机密发票'];

let receiver: Server;
let hooks = 0;
let real: TestService;
let fake: TestService;

const config = (): Record<string, unknown> => ({
  api_key: `key-${CANARY}`,
  log_level: 'debug',
  max_upload_bytes: 500_000,
  notify_retry_backoff: '0s',
  notify_targets: {
    erp: {
      url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook?token=${CANARY}`,
      secret: `secret-${CANARY}`,
      max_attempts: 2,
    },
    gone: { url: `http://127.0.0.1:1/${CANARY}`, secret: CANARY, max_attempts: 1 },
  },
});

beforeAll(async () => {
  receiver = createServer((_request, response) => {
    hooks += 1;
    response.writeHead(hooks === 1 ? 500 : 200, { 'x-canary': CANARY }).end(CANARY);
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  real = await startTestService(config(), 'real');
  fake = await startTestService(config());
});
afterAll(async () => {
  await Promise.all([real.close(), fake.close()]);
  receiver.close();
});

const key = { 'x-ofd-api-key': `key-${CANARY}` };
const document = Buffer.from(
  buildOfd({
    docInfo: `<ofd:Title>${CANARY}</ofd:Title>`,
    publicRes: `<ofd:Fonts><ofd:Font ID="1" FontName="${CANARY}"/></ofd:Fonts>`,
    pages: [textXml(`机密发票 ${CANARY} \u{f0000}`), `<ofd:ImageObject ID="9" ResourceID="404" Boundary="0 0 9 9"/>`],
  }),
);

function send(service: TestService, path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(service.url + path, { method: 'POST', ...init, headers: { ...key, ...init.headers } });
}

const raw = (service: TestService, text: string): Promise<void> =>
  new Promise((resolve) => {
    const socket = connect(service.service.port, '127.0.0.1', () => socket.write(text));
    socket.on('close', () => resolve()).on('error', () => resolve());
    socket.setTimeout(500, () => socket.destroy());
    socket.resume();
  });

/** The document in every way, as it should be and as it should not. */
async function exercise(service: TestService): Promise<void> {
  const bytes = document.toString('base64');
  const whole = (changes: Parameters<typeof submission>[0]): string =>
    JSON.stringify(submission({ ...changes, input: { bytes, file_name: `${CANARY}.ofd`, ...changes?.input } }));
  const jobs: string[] = [];
  for (const target of ['erp', 'gone']) {
    const body = whole({
      output: { kind: 'dir', format: 'png', dir: CANARY },
      notify: { target },
      idempotency_key: `${target}-${CANARY}`,
    });
    jobs.push((await json<JobAnswer>(send(service, '/v1/convert', { body }))).id);
  }
  for (const body of [
    whole({}),
    whole({ output: { file_name: `${CANARY}/x` } }),
    whole({ input: { bytes: `${bytes.slice(0, 99)}-${CANARY}` } }),
    whole({ output: { [CANARY]: 1 } }),
    whole({ notify: { target: CANARY } }),
    `{"${CANARY}": "${CANARY}`,
    `{"x": "${CANARY.repeat(10_000)}"}`,
    `{"x": "${CANARY.repeat(60_000)}"}`,
    Buffer.from([0xb7, 0xa2]).toString('latin1') + CANARY,
  ]) {
    await (await send(service, '/v1/convert', { body })).arrayBuffer();
  }
  const form = new FormData();
  form.set('file', new Blob([new Uint8Array(document)]), `${CANARY}.ofd`);
  form.set('to', 'pdf');
  await (await send(service, '/v1/convert', { body: form })).arrayBuffer();
  form.set(CANARY, CANARY);
  await send(service, '/v1/convert', { body: form });
  const query = `to=txt&file_name=${CANARY}.ofd&kind=dir&idempotency_key=${CANARY}`;
  jobs.push((await json<JobAnswer>(send(service, `/v1/convert?${query}`, { body: new Uint8Array(document) }))).id);
  await send(service, `/v1/convert?to=${CANARY}&${CANARY}=1`, { body: new Uint8Array(document) });
  const garbage = new Uint8Array(document.subarray(0, 700));
  const header = { 'content-disposition': `attachment; filename="${CANARY}.ofd"`, cookie: CANARY, 'x-canary': CANARY };
  await send(service, '/v1/convert?to=txt', { body: garbage, headers: header });
  for (const path of [
    `/v1/jobs/${CANARY}`,
    `/v1/${CANARY}`,
    `/${CANARY}`,
    `/v1/jobs?cursor=${CANARY}`,
    `/v1/%${CANARY}`,
  ]) {
    await send(service, path, { method: 'GET' });
  }
  await fetch(`${service.url}/v1/jobs`, { headers: { authorization: `Bearer ${CANARY}` } });
  await raw(service, `${CANARY}\r\n\r\n`);
  await raw(
    service,
    `POST /v1/convert?to=${CANARY} HTTP/1.1\r\nHost: a\r\nX-OFD-Api-Key: key-${CANARY}\r\nContent-Length: 99\r\n\r\n${CANARY}`,
  );
  for (const id of jobs) {
    await until(
      () => json<JobAnswer>(send(service, `/v1/jobs/${id}?wait=5s`, { method: 'GET' })),
      ({ state }) => !['queued', 'running'].includes(state),
    );
    await (await send(service, `/v1/jobs/${id}/events`, { method: 'GET' })).text();
    await (await send(service, `/v1/jobs/${id}/content?name=${CANARY}`, { method: 'GET' })).text();
  }
}

function logOf(service: TestService): string {
  const folder = join(service.folder, 'log');
  return readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('');
}

it('with the real engine and with one that fails in its own ways', async () => {
  await exercise(real);
  fake.converter.warnings = [{ code: 'glyph_missing', message: `${CANARY}`, page: 1, characters: '机密发票' }];
  await exercise(fake);
  for (const failure of [
    new TypeError('nobody foresaw this', { cause: new Error('nor this') }),
    new ServiceError('conversion_failed', `${CANARY} is cut`, { reason: 'corrupt' }),
  ]) {
    fake.converter.failure = failure as ServiceError;
    await (await send(fake, '/v1/convert?to=txt', { body: new Uint8Array(document) })).text();
  }
  await until(
    async () => [logOf(real), logOf(fake)],
    (logs) => logs.every((log) => /"state":"delivered"/.test(log) && /"state":"abandoned"/.test(log)),
  );
  for (const log of [logOf(real), logOf(fake)]) {
    const lines = log.trim().split('\n');
    expect(lines.length).toBeGreaterThan(50);
    for (const line of lines) {
      expect(() => JSON.parse(line)).not.toThrow();
      for (const canary of canaries) expect(line).not.toContain(canary);
    }
  }
  expect(logOf(fake)).toMatch(/nobody foresaw this/);
});
