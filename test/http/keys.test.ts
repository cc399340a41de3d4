// Keys with names, scopes and limits (contract A1): who may do what, and what the log says of it.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { RateLimit } from '../../src/http/rate-limit.js';
import { json, KEY, OFD_BASE64, startTestService, type TestService } from '../support/service.js';

let service: TestService | undefined;
afterEach(async () => {
  await service?.close();
  service = undefined;
});

const KEYS = {
  scanner: { key: 'key-of-the-scanner-0123', scopes: ['convert'] },
  prometheus: { key: 'key-of-prometheus-4567', scopes: ['read'] },
  operator: { key: 'key-of-an-operator-8901', scopes: ['admin'] },
};

async function statuses(key: string): Promise<Record<string, number>> {
  const ask = async (method: string, path: string, body?: string): Promise<number> => {
    const headers = { authorization: `Bearer ${key}` };
    return (await fetch(service?.url + path, { method, headers, ...(body && { body }) })).status;
  };
  const body = JSON.stringify({ input: { file_name: 'a.ofd', bytes: OFD_BASE64 }, output: { format: 'pdf' } });
  return {
    convert: await ask('POST', '/v1/convert', body),
    cancel: await ask('POST', '/v1/jobs/nothing/cancel'),
    stats: await ask('GET', '/v1/stats'),
    metrics: await ask('GET', '/metrics'),
    job: await ask('GET', '/v1/jobs/nothing'),
    retry: await ask('POST', '/v1/jobs/nothing/retry'),
    openapi: await ask('GET', '/openapi.json'),
  };
}

it('may do what their scopes name, an admin and the main key everything', async () => {
  service = await startTestService({ api_keys: KEYS });
  const all = { convert: 200, cancel: 404, stats: 200, metrics: 200, job: 404, retry: 404, openapi: 200 };
  expect(await statuses(KEY)).toEqual(all);
  expect(await statuses(KEYS.operator.key)).toEqual(all);
  expect(await statuses(KEYS.scanner.key)).toEqual({ ...all, stats: 403, metrics: 403, job: 403, retry: 403 });
  expect(await statuses(KEYS.prometheus.key)).toEqual({ ...all, convert: 403, cancel: 403, retry: 403 });
  expect((await statuses('key-of-the-scanner-012')).convert).toBe(401);
});

it('every route that changes something says which scope it needs', () => {
  const folder = new URL('../../src/http/', import.meta.url).pathname;
  for (const file of readdirSync(folder)) {
    const text = readFileSync(join(folder, file), 'utf8');
    const posts = text.match(/server\.post\(/g)?.length ?? 0;
    expect([file, text.match(/scope: '/g)?.length ?? 0]).toEqual([file, posts]);
  }
});

it('a key over its limit is told when to come again, and the others are not concerned', async () => {
  service = await startTestService({
    api_keys: { ...KEYS, prometheus: { ...KEYS.prometheus, requests_per_minute: 3 } },
  });
  const ask = (key: string): Promise<Response> =>
    fetch(`${service?.url}/v1/stats`, { headers: { 'x-ofd-api-key': key } });
  const answers: number[] = [];
  for (let request = 0; request < 5; request++) answers.push((await ask(KEYS.prometheus.key)).status);
  expect(answers).toEqual([200, 200, 200, 429, 429]);
  const refused = await ask(KEYS.prometheus.key);
  expect(await json(refused)).toMatchObject({ code: 'rate_limited' });
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(15);
  expect((await ask(KEY)).status).toBe(200);
});

it('a limit fills up evenly, and not beyond one minute', () => {
  const limit = new RateLimit(60);
  expect(Array.from({ length: 61 }, () => limit.take(0))).toEqual([...Array(60).fill(0), 1]);
  expect(limit.take(999)).toBe(1);
  expect([limit.take(2000), limit.take(2000), limit.take(2000)]).toEqual([0, 0, 1]);
  expect(Array.from({ length: 61 }, () => limit.take(1e9)).filter((wait) => wait === 0)).toHaveLength(60);
});
