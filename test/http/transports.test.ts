// The three ways to send a document (contract A3): JSON, a form, the bare file. The same job behind all of them.
import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { textDocx } from '../support/office.js';
import { json, KEY, OFD_BASE64, startTestService, submission, type TestService, until } from '../support/service.js';

const LIMIT = 4_000_000;
let service: TestService;

beforeAll(async () => {
  service = await startTestService({
    max_upload_bytes: LIMIT,
    notify_targets: { erp: { url: 'http://127.0.0.1:9/hook', secret: 'x' } },
  });
});
afterAll(() => service.close());

const OFD = Buffer.from(OFD_BASE64, 'base64');
/** Three million bytes that are an OFD package to the service's eye. */
const LARGE = Buffer.concat([OFD, randomBytes(2_500_000)]);

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const uploads = (): string[] =>
  readdirSync(service.tempDir, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('upload-'));

type Fields = Record<string, string | readonly string[]>;

function formOf(fields: Fields, file: Uint8Array | null, name = 'a.ofd'): FormData {
  const form = new FormData();
  for (const [field, values] of Object.entries(fields)) for (const value of [values].flat()) form.append(field, value);
  if (file) form.append('file', new Blob([new Uint8Array(file)]), name);
  return form;
}

const sendForm = (fields: Fields, file: Uint8Array | null = OFD, name?: string): Promise<Response> =>
  service.call('/v1/convert', { method: 'POST', body: formOf(fields, file, name) });

function sendRaw(fields: Fields, file: Uint8Array = OFD, headers: Record<string, string> = {}): Promise<Response> {
  const query = new URLSearchParams();
  for (const [field, values] of Object.entries(fields)) for (const value of [values].flat()) query.append(field, value);
  return service.call(`/v1/convert?${query}`, { method: 'POST', body: new Uint8Array(file), headers });
}

const sendJson = (body: object, file: Uint8Array = OFD, name: string | null = 'a.ofd'): Promise<Response> =>
  service.convert({ input: { bytes: Buffer.from(file).toString('base64'), file_name: name }, ...body });

/** The same request in three forms. */
const SAME = {
  json: (key: string, file = OFD) =>
    sendJson(
      {
        output: {
          kind: 'dir',
          format: 'png',
          dir: '同/x',
          file_name: 'INV 1',
          options: { dpi: 96, pages: '1-3', annotations: false, fail_on: ['font_substituted', 'glyph_missing'] },
        },
        notify: { target: 'erp', events: ['failed', 'succeeded'] },
        high_priority: true,
        idempotency_key: key,
      },
      file,
      '发票.ofd',
    ),
  form: (key: string, file = OFD) =>
    sendForm(
      {
        to: 'png',
        kind: 'dir',
        'output.dir': '同/x',
        'output.file_name': 'INV 1',
        dpi: '96',
        'output.options.pages': '1-3',
        annotations: 'false',
        fail_on: 'font_substituted, glyph_missing',
        'notify.target': 'erp',
        'notify.events': ['failed', 'succeeded'],
        high_priority: 'true',
        idempotency_key: key,
      },
      file,
      '发票.ofd',
    ),
  raw: (key: string, file = OFD) =>
    sendRaw(
      {
        to: 'png',
        kind: 'dir',
        'output.dir': '同/x',
        'output.file_name': 'INV 1',
        dpi: '96',
        pages: '1-3',
        annotations: 'false',
        fail_on: ['font_substituted', 'glyph_missing'],
        'notify.target': 'erp',
        'notify.events': 'failed,succeeded',
        high_priority: 'true',
      },
      file,
      {
        'content-disposition': "attachment; filename*=UTF-8''%E5%8F%91%E7%A5%A8.ofd",
        'idempotency-key': key,
      },
    ),
};

describe('the same request in three forms', () => {
  it.each([
    ['small', OFD],
    ['large', LARGE],
  ])('is one job, with a %s file', async (size, file) => {
    const answers: { id: string; state: string }[] = [];
    for (const send of [SAME.json, SAME.form, SAME.raw]) {
      const response = await send(`same-${size}`, file);
      const text = await response.text();
      expect(response.status, text).toBe(202);
      expect(response.headers.get('idempotent-replay')).toBe(answers.length === 0 ? null : 'true');
      answers.push(JSON.parse(text));
    }
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
    const other = await SAME.raw(`same-${size}`, Buffer.concat([file, Buffer.from('x')]));
    expect([other.status, (await json(other)).code]).toEqual([409, 'conflict']);
    await service.ended(answers[0]?.id as string);
    expect(uploads()).toEqual([]);
  });

  it.each(['json', 'form', 'raw'] as const)('reaches the converter whole: %s', async (way) => {
    const before = service.converter.tasks.length;
    const { id } = await json<{ id: string }>(SAME[way](`whole-${way}`, LARGE));
    const job = await service.ended(id);
    expect(job).toMatchObject({ input_bytes: LARGE.length, from: 'ofd', to: 'png' });
    expect(service.converter.tasks[before]?.options).toEqual({
      dpi: 96,
      pages: '1-3',
      annotations: false,
      failOn: ['font_substituted', 'glyph_missing'],
    });
    expect(service.converter.inputs[before]).toBe(sha256(LARGE));
  });

  it.each([
    ['form', (): Promise<Response> => sendForm({ to: 'pdf' }, LARGE)],
    ['raw', (): Promise<Response> => sendRaw({ to: 'pdf' }, LARGE)],
    ['json', (): Promise<Response> => sendJson({ output: { format: 'pdf' } }, LARGE)],
  ])('gives a stream: %s', async (_way, send) => {
    const response = await send();
    expect([response.status, await response.text()]).toEqual([200, 'product']);
    await until(
      async () => uploads(),
      (names) => names.length === 0,
    );
  });
});

interface Refusal {
  readonly what: string;
  readonly send: () => Promise<Response>;
  readonly says: RegExp;
  readonly code?: string;
}

const post = (path: string, type: string, body: string | Uint8Array): Promise<Response> =>
  service.call(path, { method: 'POST', headers: { 'content-type': type }, body: body as string });
const form = (lines: readonly string[]): Promise<Response> =>
  post('/v1/convert', 'multipart/form-data; boundary=b', lines.join('\r\n'));
const part = (header: string, ...lines: string[]): string[] => ['--b', `Content-Disposition: ${header}`, '', ...lines];

const REFUSALS: readonly Refusal[] = [
  {
    what: 'a form without a file',
    send: () => sendForm({ to: 'pdf' }, null),
    says: /input\.bytes is required.*part "file"/,
  },
  {
    what: 'a form with an empty file',
    send: () => sendForm({ to: 'pdf' }, Buffer.alloc(0)),
    says: /input\.bytes is empty/,
  },
  {
    what: 'the name of a file in place of the file',
    send: () =>
      form([...part('form-data; name="to"', 'pdf'), ...part('form-data; name="file"', 'invoice.ofd'), '--b--']),
    says: /^The part "file" has no file name; with curl write file=@invoice\.ofd\. from is missing, there is no file_name and .*; write from, for example "ofd"$/,
  },
  { what: 'a form without a format', send: () => sendForm({}), says: /^to is required/ },
  {
    what: 'an unknown field in a form',
    send: () => sendForm({ to: 'pdf', density: '3' }),
    says: /density: unknown field in the form; there are file, request, .*to.*dpi/,
  },
  {
    what: 'format in a form',
    send: () => sendForm({ format: 'pdf' }),
    says: /format: unknown field in the form; write to$/,
  },
  { what: 'lane in a form', send: () => sendForm({ to: 'pdf', lane: 'fast' }), says: /lane: the server decides/ },
  {
    what: 'a field given twice',
    send: () => sendForm({ to: ['pdf', 'txt'] }),
    says: /to: the field is given twice in the form; leave/,
  },
  {
    what: 'a field under two names',
    send: () => sendForm({ to: 'pdf', 'output.format': 'pdf' }),
    says: /output\.format: the field is given twice in the form, also as to/,
  },
  {
    what: 'input.bytes as a field',
    send: () => sendForm({ to: 'pdf', 'input.bytes': OFD_BASE64 }),
    says: /input\.bytes: unknown field in the form/,
  },
  {
    what: 'a number that is none',
    send: () => sendForm({ to: 'png', kind: 'dir', dpi: '96x' }),
    says: /^dpi: "96x" is not allowed; write a whole number from 36 to 600/,
  },
  {
    what: 'a number out of range',
    send: () => sendForm({ to: 'png', kind: 'dir', dpi: '9999' }),
    says: /^dpi: 9999 .*36 to 600/,
  },
  {
    what: 'a flag that is none',
    send: () => sendForm({ to: 'pdf', high_priority: 'yes' }),
    says: /high_priority: "yes" is not allowed; write true or false/,
  },
  {
    what: 'a name that is a path',
    send: () => sendForm({ to: 'pdf' }, OFD, '../a.ofd'),
    says: /^file_name: "\.\.\/a\.ofd" contains/,
  },
  {
    what: 'to in the query of a form',
    send: () => service.call('/v1/convert?to=pdf', { method: 'POST', body: formOf({ to: 'pdf' }, OFD) }),
    says: /to: unknown field in the query; the fields stand in the form/,
  },
  {
    what: 'to beside another multipart type',
    send: () => post('/v1/convert?to=pdf', 'multipart/mixed; boundary=b', 'x'),
    says: /to: unknown field in the query/,
  },
  {
    what: 'another multipart type',
    send: () => post('/v1/convert', 'multipart/mixed; boundary=b', 'x'),
    says: /multipart\/mixed is not taken; a form is multipart\/form-data/,
  },
  {
    what: 'a file in base64',
    send: () =>
      form([
        '--b',
        'Content-Disposition: form-data; name="file"; filename="a.ofd"',
        'Content-Transfer-Encoding: base64',
        '',
        OFD_BASE64,
        '--b--',
        '',
      ]),
    says: /file: Content-Transfer-Encoding base64 is not taken; send the bytes themselves/,
  },
  {
    what: 'a form without a boundary',
    send: () => post('/v1/convert', 'multipart/form-data', 'x'),
    says: /no boundary/,
  },
  {
    what: 'a form that is cut',
    send: () => form(part('form-data; name="file"; filename="a.ofd"', 'PK')),
    says: /no whole multipart/,
  },
  {
    what: 'a form that is none',
    send: () => post('/v1/convert', 'multipart/form-data; boundary=b', 'nonsense'),
    says: /no whole multipart/,
  },
  {
    what: 'an empty form',
    send: () => post('/v1/convert', 'multipart/form-data; boundary=b', ''),
    says: /no whole multipart/,
  },
  {
    what: 'two files',
    send: () =>
      form([
        ...part('form-data; name="file"; filename="a.ofd"', 'PK'),
        ...part('form-data; name="file"; filename="b.ofd"', 'PK'),
        '--b--',
        '',
      ]),
    says: /two parts "file"/,
  },
  {
    what: 'two large files',
    send: () => {
      const body = formOf({}, LARGE.subarray(0, 900_000));
      body.append('file', new Blob([new Uint8Array(900_000)]), 'b.ofd');
      return service.call('/v1/convert', { method: 'POST', body });
    },
    says: /two parts "file"/,
  },
  ...[100, 20_000, 300_000].flatMap((sizeBytes) =>
    [
      {
        head: 'Content-Disposition: attachment; name="file"',
        says: /the Content-Disposition attachment; it should be/,
      },
      { head: 'X: y', says: /has no Content-Disposition/ },
      { head: 'Content-Disposition: form-data', says: /has no name/ },
      {
        head: 'Content-Disposition: form-data; name="file"; filename="a.ofd',
        says: /Content-Disposition cannot be read from "\\"a\.ofd" on/,
      },
      {
        head: 'Content-Disposition: form-data; name="file"; filename*=UTF-8\'\'x%0d%0ay.ofd',
        says: /^file_name: "x\\r\\ny\.ofd" contains a control character/,
      },
      {
        head: 'Content-Disposition: form-data; name="file"; filename*=UTF-8\'\'%E7%A5',
        says: /filename\*="UTF-8''%E7%A5" is no UTF-8/,
      },
    ].map(({ head, says }) => ({
      what: `a part of ${sizeBytes} bytes with ${head}`,
      send: () => form(['--b', head, '', 'P'.repeat(sizeBytes), ...part('form-data; name="to"', 'pdf'), '--b--', '']),
      says,
    })),
  ),
  {
    what: 'a part whose headers have no end',
    send: () => form(['--b', 'Content-Disposition: form-data; name="file"', '--b--', '']),
    says: /no whole multipart/,
  },
  {
    what: 'a part without a name',
    send: () => form([...part('form-data; nam="x"', '1'), '--b--', '']),
    says: /has no name/,
  },
  {
    what: 'a hundred parts too many',
    send: () => form([...Array.from({ length: 201 }, () => part('form-data; name="to"', 'pdf')).flat(), '--b--', '']),
    says: /more than 100 parts/,
  },
  {
    what: 'a field that is too long',
    send: () => sendForm({ to: 'x'.repeat(300_000) }),
    says: /to: the part has more than 65536 bytes/,
  },
  {
    what: 'a request beside fields',
    send: () => sendForm({ request: '{}', to: 'pdf' }),
    says: /to: beside a part "request" there is "file" alone/,
  },
  { what: 'two requests', send: () => sendForm({ request: ['{}', '{}'] }), says: /request: the field is given twice/ },
  {
    what: 'a request that is no JSON',
    send: () => sendForm({ request: '{"output": {"format" "pdf"}}' }),
    says: /The part "request" is no valid JSON at character 21: a colon was expected/,
  },
  {
    what: 'a request with bytes',
    send: () => sendForm({ request: JSON.stringify(submission()) }),
    says: /input\.bytes: the file of a form stands in its part "file"/,
  },
  {
    what: 'a request with an unknown field',
    send: () => sendForm({ request: '{"input":{},"output":{"format":"pdf","x":1}}' }),
    says: /output\.x: unknown field/,
  },
  {
    what: 'an empty file as it is',
    send: () => sendRaw({ to: 'pdf' }, Buffer.alloc(0)),
    says: /body is empty; it should be the file/,
  },
  {
    what: 'an unknown field in the query',
    send: () => sendRaw({ to: 'pdf', density: '3' }),
    says: /density: unknown field in the query; there are .*to, .*dpi/,
  },
  { what: 'a page image as stream', send: () => sendRaw({ to: 'png' }), says: /png makes a file for each page.*"dir"/ },
  { what: 'an unknown format', send: () => sendRaw({ to: 'gif' }), says: /^to: "gif" is no format/ },
  { what: 'an empty format', send: () => sendRaw({ to: '' }), says: /^to is required/ },
  {
    what: 'a query without to',
    send: () => service.call('/v1/convert?dpi=96', { method: 'POST', body: new Uint8Array(OFD) }),
    says: /dpi: unknown field in the query;.*to=FORMAT/,
  },
  {
    what: 'a header that cannot be read',
    send: () => sendRaw({ to: 'pdf' }, OFD, { 'content-disposition': 'attachment; filename="a' }),
    says: /Content-Disposition cannot be read/,
  },
  {
    what: 'a content that contradicts',
    send: () => sendRaw({ to: 'pdf', from: 'pdf' }),
    says: /^from: "pdf" contradicts/,
  },
  {
    what: 'a content that tells nothing under a name that tells nothing',
    send: () => sendRaw({ to: 'pdf', file_name: 'input.format.xyz' }, Buffer.from('plain')),
    says: /^from is missing, file_name "input\.format\.xyz" has no known extension and .*; write from, for example "ofd"$/,
  },
  {
    what: 'an option of no use',
    send: () => sendForm({ to: 'pdf', dpi: '96' }),
    says: /^dpi is of no use for pdf/,
  },
  {
    what: 'a form with its request in JSON, which has its names',
    send: () => sendForm({ request: '{"output":{"format":"gif"}}' }),
    says: /^output\.format: "gif" is no format/,
  },
  {
    what: 'a stream with a key',
    send: () => sendRaw({ to: 'pdf' }, OFD, { 'idempotency-key': 'k' }),
    says: /Idempotency-Key: nothing is kept of a stream/,
  },
];

describe('refused is', () => {
  it.each(REFUSALS)('$what', async ({ send, says, code = 'invalid_request' }) => {
    const response = await send();
    const answer = await json<{ code: string; message: string }>(response);
    expect(answer.message).toMatch(says);
    expect([response.status, answer.code]).toEqual([400, code]);
    expect(answer.message.length).toBeLessThan(600);
    expect(uploads()).toEqual([]);
  });
});

describe('names of files', () => {
  const fromOf = async (response: Response): Promise<string> => {
    const id = response.headers.get('x-ofd-job-id');
    expect(response.status, await response.text()).toBe(200);
    return (await json<{ from: string }>(service.call(`/v1/jobs/${id}`))).from;
  };

  it.each([
    ['a form', () => sendForm({ to: 'pdf' }, OFD, '文件 "1".html')],
    ['a form with another name in a field', () => sendForm({ to: 'pdf', file_name: 'b.html' }, OFD, 'a.ofd')],
    ['a header', () => sendRaw({ to: 'pdf' }, OFD, { 'content-disposition': 'attachment; filename="a.html"' })],
    [
      'the query before a header',
      () =>
        sendRaw({ to: 'pdf', file_name: '票.html' }, OFD, { 'content-disposition': 'attachment; filename="a.ofd"' }),
    ],
    [
      'RFC 5987 in a form',
      () =>
        form([
          ...part('form-data; name="to"', 'pdf'),
          ...part('form-data; name="file"; filename*=UTF-8\'\'%E7%A5%A8.html', OFD.toString('latin1')),
          '--b--',
          '',
        ]),
    ],
    [
      'UTF-8 in a form',
      () =>
        form([
          ...part('form-data; name="to"', 'pdf'),
          ...part('form-data; name="file"; filename="票.html"', OFD.toString('latin1')),
          '--b--',
          '',
        ]),
    ],
  ])('come from %s', async (_what, send) => {
    expect(await fromOf(await send())).toBe('html');
  });

  it('may be missing', async () => {
    expect(await fromOf(await sendRaw({ to: 'pdf' }))).toBe('ofd');
    expect(await fromOf(await sendRaw({ to: 'pdf' }, textDocx('x')))).toBe('docx');
    expect(
      await fromOf(
        await form([
          ...part('form-data; name="file"', OFD.toString('latin1')),
          ...part('form-data; name="to"', 'pdf'),
          '--b--',
          '',
        ]),
      ),
    ).toBe('ofd');
  });
});

it.each([{ input: {} }, {}])('a form may carry its request as JSON: %j beside the output', async (input) => {
  const request = { ...input, output: { kind: 'dir', format: 'png', options: { dpi: 72 } } };
  const { id } = await json<{ id: string }>(sendForm({ request: JSON.stringify(request) }, LARGE));
  expect(await service.ended(id)).toMatchObject({ state: 'succeeded', to: 'png', input_bytes: LARGE.length });
});

describe('a request that is larger than max_upload_bytes', () => {
  const tooLarge = new Uint8Array(LIMIT + 1);
  /** Without a Content-Length. */
  const chunked = (path: string, headers: Record<string, string>, bytes: Uint8Array): Promise<Response> => {
    const body = new ReadableStream({
      start: (controller) => {
        for (let at = 0; at < bytes.length; at += 100_000) controller.enqueue(bytes.subarray(at, at + 100_000));
        controller.close();
      },
    });
    return service.call(path, { method: 'POST', headers, body, duplex: 'half' } as RequestInit);
  };
  const head = Buffer.from('--b\r\nContent-Disposition: form-data; name="file"; filename="a.ofd"\r\n\r\n');

  it.each([
    ['raw', () => sendRaw({ to: 'pdf' }, tooLarge)],
    ['form', () => sendForm({ to: 'pdf' }, tooLarge)],
    ['json', () => sendJson({ output: { format: 'pdf' } }, tooLarge)],
    ['raw without a length', () => chunked('/v1/convert?to=pdf', {}, tooLarge)],
    [
      'form without a length',
      () =>
        chunked('/v1/convert', { 'content-type': 'multipart/form-data; boundary=b' }, Buffer.concat([head, tooLarge])),
    ],
    ['json without a length', () => chunked('/v1/convert', {}, Buffer.from(`{"input":{"bytes":"${'A'.repeat(LIMIT)}`))],
  ])('is 413 and leaves nothing: %s', async (_way, send) => {
    const response = await send();
    expect([response.status, (await json(response)).code]).toEqual([413, 'payload_too_large']);
    await until(
      async () => uploads(),
      (names) => names.length === 0,
    );
  });

  it('may be of that size to the byte', async () => {
    expect((await sendRaw({ to: 'pdf', from: 'ofd' }, tooLarge.subarray(1))).status).toBe(200);
    expect((await sendRaw({ to: 'pdf', from: 'ofd' }, tooLarge)).status).toBe(413);
  });
});

describe('a client that goes away while it sends', () => {
  /** Resolves when a part has come and the client has gone. */
  const begin = async (path: string, type: string, body: string): Promise<void> => {
    const socket = connect(service.service.port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: a\r\nX-OFD-Api-Key: ${KEY}\r\nContent-Type: ${type}\r\nContent-Length: 3000000\r\n\r\n${body}`,
    );
    await until(
      async () => uploads(),
      (names) => names.length > 0,
    );
    socket.destroy();
  };

  it.each([
    ['raw', '/v1/convert?to=pdf', 'application/octet-stream', 'P'.repeat(300_000)],
    [
      'form',
      '/v1/convert',
      'multipart/form-data; boundary=b',
      `--b\r\nContent-Disposition: form-data; name="file"\r\n\r\n${'P'.repeat(300_000)}`,
    ],
    ['json', '/v1/convert', 'application/json', `{"input":{"bytes":"${'QUJD'.repeat(100_000)}`],
  ])('leaves nothing: %s', async (_way, path, type, body) => {
    await begin(path, type, body);
    await until(
      async () => uploads(),
      (names) => names.length === 0,
    );
    expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
  });
});

it('curl sends all three', async () => {
  const run = promisify(execFile);
  const path = join(service.folder, '发票.ofd');
  writeFileSync(path, LARGE);
  writeFileSync(
    join(service.folder, 'body.json'),
    JSON.stringify(submission({ input: { bytes: LARGE.toString('base64') } })),
  );
  const curl = async (...args: string[]): Promise<string> => {
    const { stdout } = await run('curl', ['-sS', '-H', `X-OFD-Api-Key: ${KEY}`, ...args], { cwd: service.folder });
    return stdout;
  };
  const before = service.converter.inputs.length;
  const url = `${service.url}/v1/convert`;
  expect(await curl('-F', 'file=@发票.ofd', '-F', 'to=pdf', url)).toBe('product');
  expect(await curl('--data-binary', '@发票.ofd', `${url}?to=pdf`)).toBe('product');
  expect(await curl('-T', '发票.ofd', '-X', 'POST', `${url}?to=pdf`)).toBe('product');
  expect(await curl('--data-binary', '@body.json', url)).toBe('product');
  expect(service.converter.inputs.slice(before)).toEqual(Array(4).fill(sha256(readFileSync(path))));
});
