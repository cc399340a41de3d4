// /openapi.json (contract A12): valid, complete, and true of what the service answers.
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ERROR_CODES, ServiceError } from '../../src/errors.js';
import { json, OFD_BASE64, startTestService, submission, type TestService, until } from '../support/service.js';

interface Operation {
  readonly operationId: string;
  readonly security?: readonly object[];
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly description?: string }[];
  readonly requestBody?: { readonly content: Record<string, { readonly schema: unknown }> };
  readonly responses: Record<string, { readonly content?: Record<string, { readonly schema?: object }> }>;
}

interface Document {
  readonly openapi: string;
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { readonly schemas: Record<string, { readonly properties: Record<string, object> }> };
}

let service: TestService;
let document: Document;
let ajv: Ajv2020;

beforeAll(async () => {
  service = await startTestService({
    fast_workers: 1,
    notify_targets: { erp: { url: 'http://127.0.0.1:9/x' } },
  });
  document = await json<Document>(fetch(`${service.url}/openapi.json`));
  ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema(document, 'openapi');
});
afterAll(() => service.close());

const operations = (): { name: string; operation: Operation }[] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, operation })),
  );

/** Where a part of the document stands, for a reference. */
const pointer = (...names: string[]): string =>
  `openapi#/${names.map((name) => encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`;

/** Checks an answer by the schema that the document gives for its route and status. */
async function check(method: string, route: string, response: Response): Promise<unknown> {
  const answer = await response.json();
  const validate = ajv.compile({
    $ref: pointer(
      'paths',
      route,
      method,
      'responses',
      String(response.status),
      'content',
      'application/json',
      'schema',
    ),
  });
  expect(validate(answer), `${route}: ${JSON.stringify(answer)}\n${ajv.errorsText(validate.errors)}`).toBe(true);
  return answer;
}

it('is valid OpenAPI 3.1, and needs no key', async () => {
  expect(document.openapi).toBe('3.1.0');
  const result = await new Validator().validate(structuredClone(document) as unknown as Record<string, unknown>);
  expect(result.errors).toBeUndefined();
  expect(result.valid).toBe(true);
});

/** What answers before it is done. */
const TAKEN = ['POST /v1/jobs/{id}/retry', 'POST /v1/batches', 'POST /v1/notifications/{id}/redeliver'];

it('gives every operation a name of its own, a summary and its answers', () => {
  const names = operations().map(({ operation }) => operation.operationId);
  expect(new Set(names).size).toBe(names.length);
  for (const { name, operation } of operations()) {
    expect(operation, name).toMatchObject({ summary: expect.stringMatching(/\w{3}/) });
    expect(Object.keys(operation.responses), name).toContain(TAKEN.includes(name) ? '202' : '200');
    for (const { description, ...parameter } of operation.parameters ?? []) {
      expect(description, `${name} ${parameter.name}`).toMatch(/\w{3}/);
    }
  }
});

it('names every error code', () => {
  const { code } = document.components.schemas.Error!.properties as { code: { enum: string[] } };
  expect(code.enum).toEqual(Object.keys(ERROR_CODES));
});

it('describes every field of a request, each way to send it', () => {
  const { requestBody, parameters } = document.paths['/v1/convert']!.post!;
  expect(Object.keys(requestBody!.content)).toEqual([
    'application/json',
    'multipart/form-data',
    'application/octet-stream',
  ]);
  const form = requestBody!.content['multipart/form-data']!.schema as { properties: Record<string, object> };
  const query = parameters!.filter((parameter) => parameter.in === 'query').map(({ name }) => name);
  expect(Object.keys(form.properties)).toEqual(['file', 'request', ...query]);
  expect(query).toEqual(expect.arrayContaining(['to', 'kind', 'from', 'file_name', 'dpi', 'notify.target']));
});

it('takes the requests that the service takes, and refuses what it refuses for its shape', () => {
  const validate = ajv.compile({ $ref: pointer('components', 'schemas', 'ConvertRequest') });
  const nothing = { dir: null, file_name: '', remote: null, options: null };
  expect(validate(submission({ output: nothing, notify: null, high_priority: null }))).toBe(true);
  expect(validate(submission({ output: { options: { dpi: 96, fail_on: ['x'], annotations: false } } }))).toBe(true);
  const wrong = [{ lane: 'fast' }, { output: { format: 5 } }, { output: { options: { dpi: '96' } } }];
  for (const changes of wrong as Parameters<typeof submission>[0][]) {
    expect(validate(submission(changes))).toBe(false);
  }
});

describe('what it says of answers is true:', () => {
  const get = (path: string): Promise<Response> => service.call(path);
  const post = (path: string): Promise<Response> => service.call(path, { method: 'POST' });
  const submit = async (output: object = {}): Promise<string> => {
    const response = await service.convert(submission({ output: { kind: 'dir', ...output } }));
    return ((await check('post', '/v1/convert', response)) as { id: string }).id;
  };

  it('jobs in every state', async () => {
    service.converter.warnings = [
      { code: 'font_substituted', message: 'x', page: 1, part: 'a.xml', objectId: '7', characters: '票' },
    ];
    const ended = await submit({ format: 'png' });
    await service.ended(ended);
    await check('get', '/v1/jobs/{id}', await get(`/v1/jobs/${ended}`));
    service.converter.failure = new ServiceError('engine_crashed', 'gone', { reason: 'internal' });
    const failed = await submit();
    await service.ended(failed);
    await check('get', '/v1/jobs/{id}', await get(`/v1/jobs/${failed}`));
    await check('get', '/v1/dead-letters', await get('/v1/dead-letters'));
    service.converter.failure = undefined;
    service.converter.hold();
    const running = await submit();
    await until(
      () => json<{ progress?: object }>(get(`/v1/jobs/${running}`)),
      ({ progress }) => progress !== undefined,
    );
    const queued = await submit();
    await check('post', '/v1/jobs/{id}/retry', await post(`/v1/jobs/${failed}/retry`));
    for (const id of [running, queued]) await check('get', '/v1/jobs/{id}', await get(`/v1/jobs/${id}`));
    const list = await check('get', '/v1/jobs', await get('/v1/jobs?limit=3'));
    expect(list).toMatchObject({ jobs: [{}, {}, {}], next_cursor: expect.any(String) });
    await check('post', '/v1/jobs/{id}/cancel', await post(`/v1/jobs/${queued}/cancel`));
    await check('post', '/v1/jobs/{id}/cancel', await post(`/v1/jobs/${running}/cancel?force=true`));
    service.converter.release();
    await service.ended(failed);
    service.converter.warnings = [];
  });

  it('batches and notifications', async () => {
    const items = [submission({ output: { kind: 'dir' }, notify: { target: 'erp' } }), {}];
    const notify = { target: 'erp', events: ['batch_completed'] };
    const body = JSON.stringify({ items, notify });
    const accepted = await service.call('/v1/batches', { method: 'POST', body });
    const { id } = (await check('post', '/v1/batches', accepted)) as { id: string };
    await check('get', '/v1/batches/{id}', await get(`/v1/batches/${id}`));
    await check('post', '/v1/batches/{id}/cancel', await post(`/v1/batches/${id}/cancel?force=true`));
    const delivery = `${id}:batch_completed`;
    await until(
      () => json<{ notifications: { id: string }[] }>(get('/v1/notifications')),
      ({ notifications }) => notifications.some((notification) => notification.id === delivery),
    );
    await check('get', '/v1/notifications', await get('/v1/notifications?limit=1'));
    await check('post', '/v1/notifications/{id}/redeliver', await post(`/v1/notifications/${delivery}/redeliver`));
  });

  it('numbers and probes', async () => {
    await check('get', '/v1/stats', await get('/v1/stats'));
    await check('get', '/healthz', await get('/healthz'));
    await check('get', '/readyz', await get('/readyz'));
  });

  it.each([
    ['get', '/v1/jobs/{id}', '/v1/jobs/x'],
    ['get', '/v1/jobs/{id}', '/v1/jobs/x?y=1'],
    ['post', '/v1/jobs/{id}/cancel', '/v1/jobs/x/cancel'],
    ['post', '/v1/jobs/{id}/retry', '/v1/jobs/x/retry'],
    ['get', '/v1/jobs/{id}/content', '/v1/jobs/x/content'],
    ['get', '/v1/jobs/{id}/events', '/v1/jobs/x/events'],
    ['post', '/v1/convert', '/v1/convert'],
    ['get', '/v1/jobs', '/v1/jobs?limit=0'],
    ['post', '/v1/batches', '/v1/batches'],
    ['get', '/v1/batches/{id}', '/v1/batches/x'],
    ['post', '/v1/batches/{id}/cancel', '/v1/batches/x/cancel'],
    ['get', '/v1/notifications', '/v1/notifications?cursor=x'],
    ['post', '/v1/notifications/{id}/redeliver', '/v1/notifications/x/redeliver'],
  ])('errors of %s %s', async (method, route, path) => {
    await check(method, route, await service.call(path, { method: method.toUpperCase() }));
  });

  it('errors of conversions', async () => {
    service.converter.failure = new ServiceError('conversion_failed', 'cut', { reason: 'corrupt' });
    await check('post', '/v1/convert', await service.convert(submission({ input: { bytes: OFD_BASE64 } })));
    service.converter.failure = undefined;
  });

  it('the key', async () => {
    for (const { name, operation } of operations()) {
      const [method, path] = name.split(' ') as [string, string];
      const { status } = await fetch(service.url + path.replace('{id}', 'x'), { method });
      expect(status === 401, name).toBe(operation.security === undefined);
    }
  });
});
