// Names that mean something to JavaScript itself, wherever a name comes from outside: nothing is changed by them, and nobody
// reads what an object inherits for what was sent.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ConfigError, loadConfig } from '../../src/app.js';
import { temporaryFolder } from '../support/jobs.js';
import { json, KEY, OFD_BASE64, startTestService, type TestService } from '../support/service.js';

const NAMES = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf', '__defineGetter__'];
const before = Object.getOwnPropertyNames(Object.prototype).sort();

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(async () => {
  expect(Object.getOwnPropertyNames(Object.prototype).sort()).toEqual(before);
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  await service.close();
});

/** JSON with one more name at a place; written as text, because an object would swallow `__proto__`. */
const withName = (place: string, name: string, value = '{"polluted":"yes"}'): string => {
  const extra = (here: string): string => (here === place ? `,${JSON.stringify(name)}:${value}` : '');
  return (
    `{"input":{"file_name":"a.ofd","bytes":"${OFD_BASE64}"${extra('input')}},` +
    `"output":{"kind":"dir","format":"png","options":{"dpi":96${extra('options')}}${extra('output')}}${extra('body')}}`
  );
};

it.each(NAMES)('%s in a JSON body is an unknown field', async (name) => {
  for (const place of ['body', 'input', 'output', 'options']) {
    const refused = await service.convert(withName(place, name));
    expect(refused.status, place).toBe(400);
    const { code, message } = await json<{ code: string; message: string }>(refused);
    expect(code).toBe('invalid_request');
    expect(message).toContain(name);
  }
  const batch = await service.call('/v1/batches', { method: 'POST', body: `{"items":[${withName('output', name)}]}` });
  expect(await json(service.call(`/v1/batches/${(await json<{ id: string }>(batch)).id}`))).toMatchObject({
    failed: 1,
    items: [{ state: 'failed', error_code: 'invalid_request', error: expect.stringContaining(name) }],
  });
});

it.each(NAMES)('%s as a field of a form, and in a query', async (name) => {
  const body = Buffer.from(OFD_BASE64, 'base64');
  for (const field of [
    name,
    `output.${name}`,
    `output.options.${name}`,
    `${name}.polluted`,
    `output.${name}.polluted`,
  ]) {
    const form = new FormData();
    form.set('file', new Blob([body]), 'a.ofd');
    form.set('to', 'pdf');
    form.set(field, 'yes');
    expect((await service.convert(undefined, { body: form })).status, `form ${field}`).toBe(400);
    const query = `to=pdf&${encodeURIComponent(field)}=yes`;
    expect((await service.call(`/v1/convert?${query}`, { method: 'POST', body })).status, `query ${field}`).toBe(400);
    expect((await service.call(`/v1/jobs?${encodeURIComponent(field)}=yes`)).status, `list ${field}`).toBe(400);
  }
});

it.each(NAMES)('%s is no target, no format, no kind, no job', async (name) => {
  const change = (from: string, to: string): string => withName('none', name).replace(from, to);
  for (const [body, code] of [
    [change('"format":"png"', `"format":"${name}"`), 'invalid_request'],
    [change('"kind":"dir"', `"kind":"${name}"`), 'invalid_request'],
    [change('"kind":"dir"', `"kind":"s3","remote":{"target":"${name}"}`), 'unknown_remote_target'],
    [change('"dpi":96}}', `"dpi":96}},"notify":{"target":"${name}"}`), 'unknown_notify_target'],
    [change('"dpi":96', `"dpi":96,"fail_on":["${name}"]`), 'invalid_request'],
  ] as const) {
    const refused = await service.convert(body);
    expect([refused.status, (await json(refused)).code], body.slice(-150)).toEqual([400, code]);
  }
  for (const path of [
    `/v1/jobs/${name}`,
    `/v1/batches/${name}`,
    `/v1/notifications/${name}`,
    `/${name}`,
    `/v1/${name}`,
  ]) {
    expect((await service.call(path)).status, path).toBe(404);
  }
  const id = (await json<{ id: string }>(service.convert(withName('none', name)))).id;
  await service.ended(id);
  expect((await service.call(`/v1/jobs/${id}/content?name=${name}`)).status).toBe(404);
  const idempotent = await service.convert(withName('none', name), { headers: { 'idempotency-key': name } });
  expect([idempotent.status, idempotent.headers.get('idempotent-replay')]).toEqual([202, null]);
});

it.each(NAMES)('%s in a configuration is an unknown key, or a name like any other', (name) => {
  const folder = temporaryFolder('pollution');
  const path = join(folder.path, 'config.json');
  const load = (extra: string): ReturnType<typeof loadConfig> => {
    writeFileSync(path, `{"api_key":"${KEY}","db_path":"/x/y.db","output_dir":"/x/out"${extra}}`, { mode: 0o600 });
    return loadConfig(path, {});
  };
  const quoted = JSON.stringify(name);
  expect(() => load(`,${quoted}:{"polluted":"yes"}`)).toThrow(ConfigError);
  expect(() => load(`,"notify_targets":{"a":{"url":"https://h/",${quoted}:{"polluted":"yes"}}}`)).toThrow(ConfigError);
  const { config } = load(`,"notify_targets":{${quoted}:{"url":"https://h/","secret":"s"}}`);
  expect([...config.notifyTargets.keys()]).toEqual([name]);
  expect(config.notifyTargets.get(name)?.url).toBe('https://h/');
  folder.remove();
});
