// POST /v1/convert: every rule of contract A3, B2, B4, B5, S1 that is decided at submission, and the 202 of A5.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { json, OFD_BASE64, startTestService, submission, type TestService } from '../support/service.js';

interface Stats {
  readonly totals: { readonly conversions: number };
  readonly queue: { readonly queued: number; readonly running: number };
}

let service: TestService;

beforeAll(async () => {
  service = await startTestService({
    notify_targets: { erp: { url: 'https://erp.example.com/hook', secret: 'x' } },
  });
});
afterAll(() => service.close());

const base64 = (text: string): string => Buffer.from(text, 'latin1').toString('base64');
const dir = { kind: 'dir' };

interface Refusal {
  readonly what: string;
  readonly body: unknown;
  readonly code?: string;
  readonly status?: number;
  /** What the message must contain. */
  readonly says: RegExp;
}

const REFUSALS: readonly Refusal[] = [
  { what: 'no input', body: { output: { format: 'pdf' } }, says: /input is required/ },
  { what: 'no output', body: { input: { bytes: OFD_BASE64 } }, says: /output is required/ },
  { what: 'a body that is a list', body: [], says: /the body.*object/ },
  { what: 'an unknown field', body: submission({ notfy: {} }), says: /notfy.*unknown.*notify/ },
  {
    what: 'an unknown field of input',
    body: submission({ input: { filename: 'a' } }),
    says: /input\.filename.*file_name/,
  },
  { what: 'an unknown field of output', body: submission({ output: { name: 'a' } }), says: /output\.name/ },
  {
    what: 'an unknown option',
    body: submission({ output: { options: { colour: 'red' } } }),
    says: /output\.options\.colour: unknown.*pages, dpi, width, height, background, quality, annotations.*, fail_on/,
  },
  { what: 'an unknown field that is null', body: submission({ priority: null }), says: /priority/ },
  { what: 'lane', body: submission({ lane: 'heavy' }), says: /lane.*server decides/ },
  { what: 'lane in the output', body: submission({ output: { lane: 'fast' } }), says: /output\.lane/ },
  {
    what: 'a number for a text',
    body: submission({ output: { format: 5 } }),
    says: /output\.format: 5 .*write a text/,
  },
  {
    what: 'a text for a flag',
    body: submission({ high_priority: 'yes' }),
    says: /high_priority: "yes" .*true or false/,
  },
  {
    what: 'an unknown input kind',
    body: submission({ input: { kind: 'ftp' } }),
    says: /input\.kind: "ftp".*upload and url/,
  },
  {
    what: 'an unknown output kind',
    body: submission({ output: { kind: 'disk' } }),
    says: /output\.kind: "disk".*stream, dir/,
  },
  { what: 'an upload with a url', body: submission({ input: { url: 'https://a.example/' } }), says: /input\.url/ },
  { what: 'an upload without bytes', body: submission({ input: { bytes: null } }), says: /input\.bytes is required/ },
  { what: 'an upload of nothing', body: submission({ input: { bytes: '' } }), says: /input\.bytes is required/ },
  {
    what: 'a url with bytes',
    body: submission({ input: { kind: 'url', url: 'https://a.example/', file_name: null } }),
    says: /input\.bytes belongs to input\.kind "upload"/,
  },
  {
    what: 'a url with a file name',
    body: submission({ input: { kind: 'url', url: 'https://a.example/', bytes: null } }),
    says: /input\.file_name belongs/,
  },
  {
    what: 'a url while URL input is off',
    body: submission({ input: { kind: 'url', url: 'https://a.example/', bytes: null, file_name: null } }),
    code: 'url_input_disabled',
    status: 403,
    says: /allow_input_url_hosts/,
  },
  { what: 'no output format', body: submission({ output: { format: null } }), says: /output\.format is required/ },
  {
    what: 'an unknown output format',
    body: submission({ output: { format: 'gif' } }),
    says: /output\.format: "gif".*pdf, txt/,
  },
  { what: 'a page format as stream', body: submission({ output: { format: 'png' } }), says: /png.*"dir"/ },
  {
    what: 'a page format without kind',
    body: submission({ output: { kind: null, format: 'svg' } }),
    says: /svg.*"dir"/,
  },
  {
    what: 'remote beside stream',
    body: submission({ output: { remote: { target: 'a' } } }),
    says: /output\.remote.*stream/,
  },
  { what: 'remote beside dir', body: submission({ output: { ...dir, remote: {} } }), says: /output\.remote.*dir/ },
  { what: 'dir beside stream', body: submission({ output: { dir: 'sub' } }), says: /output\.dir.*"stream"/ },
  ...['ftp', 's3', 'webdav', 'sftp'].map((kind) => ({
    what: `output.kind ${kind}`,
    body: submission({ output: { kind, remote: { target: 'a' } } }),
    code: 'unknown_remote_target',
    says: new RegExp(`output\\.remote\\.target: "a" is not among the ${kind}_targets`),
  })),
  ...[
    ['..', /\.\./],
    ['a/../../b', /\.\./],
    ['/etc', /inside|outside/],
    ['a\\b', /backslash|\\/],
    ['a\u0007b', /control/],
    ['a'.repeat(401), /400/],
  ].map(([folder, says]) => ({
    what: `output.dir ${JSON.stringify(folder).slice(0, 20)}`,
    body: submission({ output: { ...dir, dir: folder } }),
    says: says as RegExp,
  })),
  ...['a/b', 'a\\b', '.', '..', 'a\u0000b', 'a\nb', '   ', `${'长'.repeat(67)}`, '\ud800'].flatMap((name) => [
    {
      what: `output.file_name ${JSON.stringify(name).slice(0, 20)}`,
      body: submission({ output: { file_name: name } }),
      says: /output\.file_name/,
    },
  ]),
  {
    what: 'an input name with a path',
    body: submission({ input: { file_name: '../a.ofd' } }),
    says: /input\.file_name/,
  },
  {
    what: 'an unknown notify target',
    body: submission({ notify: { target: 'nobody' } }),
    code: 'unknown_notify_target',
    says: /"nobody"/,
  },
  { what: 'no notify target', body: submission({ notify: {} }), says: /notify\.target is required/ },
  {
    what: 'an unknown event',
    body: submission({ notify: { target: 'erp', events: ['done'] } }),
    says: /notify\.events: "done".*succeeded, failed, \*/,
  },
  {
    what: 'an unknown event beside dir',
    body: submission({ output: dir, notify: { target: 'erp', events: ['cancelled'] } }),
    says: /cancelled/,
  },
  ...['', 'x', '0', '3-1', '1,,2', '1-2-3', '-5', '1.5'].slice(1).map((pages) => ({
    what: `pages ${pages}`,
    body: submission({ output: { options: { pages } } }),
    says: /output\.options\.pages/,
  })),
  ...[35, 601, -1].map((dpi) => ({
    what: `dpi ${dpi}`,
    body: submission({ output: { ...dir, format: 'png', options: { dpi } } }),
    says: /output\.options\.dpi: -?\d+.*36 to 600/,
  })),
  {
    what: 'half a dpi',
    body: submission({ output: { ...dir, format: 'png', options: { dpi: 99.5 } } }),
    says: /dpi.*whole number from 36 to 600/,
  },
  {
    what: 'dpi as text',
    body: submission({ output: { ...dir, format: 'png', options: { dpi: '96' } } }),
    says: /dpi.*whole number from 36 to 600/,
  },
  ...['pdf', 'txt', 'md', 'svg'].map((format) => ({
    what: `dpi for ${format}`,
    body: submission({ output: { ...dir, format, options: { dpi: 96 } } }),
    says: new RegExp(`dpi is of no use for ${format}`),
  })),
  {
    what: 'a quality for png',
    body: submission({ output: { ...dir, format: 'png', options: { quality: 80 } } }),
    says: /output\.options\.quality is of no use for png; it belongs to jpeg, webp/,
  },
  {
    what: 'a transparent jpeg',
    body: submission({ output: { ...dir, format: 'jpeg', options: { background: 'transparent' } } }),
    says: /output\.options\.background: "transparent"/,
  },
  {
    what: 'an unknown warning',
    body: submission({ output: { options: { fail_on: ['no_such'] } } }),
    says: /output\.options\.fail_on: "no_such".*font_substituted/,
  },
  {
    what: 'annotations as text',
    body: submission({ output: { options: { annotations: 'no' } } }),
    says: /annotations.*true or false/,
  },
  { what: 'an unknown input format', body: submission({ input: { format: 'wps' } }), says: /input\.format: "wps"/ },
  {
    what: 'a format that the content contradicts',
    body: submission({ input: { format: 'pdf' } }),
    says: /input\.format: "pdf" contradicts the content, which is OFD/,
  },
  {
    what: 'a PDF called OFD by format',
    body: submission({ input: { format: 'ofd', bytes: base64('%PDF-1.7\n') } }),
    says: /contradicts the content, which is PDF/,
  },
  {
    what: 'content and name that tell nothing',
    body: submission({ input: { file_name: 'a.xyz', bytes: base64('hello') } }),
    says: /input\.format.*"a\.xyz"/,
  },
  {
    what: 'content that tells nothing, without a name',
    body: submission({ input: { file_name: null, bytes: base64('hello') } }),
    says: /input\.format.*no input\.file_name/,
  },
  {
    what: 'an input that no engine reads',
    body: submission({ input: { file_name: 'a.svg', bytes: base64('<svg/>') } }),
    code: 'unsupported_conversion',
    says: /no engine reads svg/,
  },
  {
    what: 'an output that no engine makes',
    body: submission({ output: { format: 'docx', kind: 'dir' } }),
    code: 'unsupported_conversion',
    says: /no engine makes docx from ofd; from ofd there are pdf, html/,
  },
  ...[
    ['line breaks', 'QUJD\nREVG', /character 5 is "\\n".*line breaks/],
    ['the URL alphabet', 'QU-_', /character 3 is "-".*URL alphabet/],
    ['no padding', 'QUI', /multiple of 4/],
    ['padding inside', 'QQ==QUJD', /character 3 is "="/],
    ['too much padding', 'Q===', /character 2 is "="|not valid/],
    ['a data URL', 'data:application/ofd;base64,QUJD', /data:/],
    ['Chinese', '中文中文', /character 1/],
  ].map(([what, bytes, says]) => ({
    what: `base64 with ${what}`,
    body: submission({ input: { bytes } }),
    says: says as RegExp,
  })),
];

describe('a submission is refused for', () => {
  it.each(REFUSALS)('$what', async ({ body, code = 'invalid_request', status = 400, says }) => {
    const response = await service.convert(body);
    const answer = (await response.json()) as { code: string; message: string };
    expect(answer.message).toMatch(says);
    expect(response.status).toBe(status);
    expect(answer.code).toBe(code);
    expect(Object.keys(answer).filter((key) => !['code', 'message', 'reason'].includes(key))).toEqual([]);
  });

  it('nothing that is refused leaves a job behind', async () => {
    const { totals, queue } = await json<Stats>(service.call('/v1/stats'));
    expect(totals.conversions + queue.queued + queue.running).toBe(0);
  });
});

it('a pair whose engine is missing is refused with the key that would bring it', async () => {
  const other = await startTestService({ soffice_path: '/nowhere/soffice' });
  const answer = await other.convert(submission({ input: { file_name: 'a.docx', bytes: base64('PK\x03\x04') } }));
  expect([answer.status, await json(answer)]).toEqual([
    400,
    expect.objectContaining({
      code: 'unsupported_conversion',
      message: expect.stringMatching(/docx to pdf needs LibreOffice.*soffice_path is "\/nowhere\/soffice"/),
    }),
  ]);
  await other.close();
});

const ACCEPTED: readonly (readonly [string, unknown, number])[] = [
  [
    'kinds of any case with space around',
    submission({ input: { kind: ' UPLOAD ' }, output: { kind: '\tStream ' } }),
    200,
  ],
  ['a PDF under an OFD name', submission({ input: { bytes: base64('%PDF-1.7\n') } }), 200],
  ['no kinds: upload and stream', submission({ input: { kind: null }, output: { kind: null } }), 200],
  ['kinds that are empty', submission({ input: { kind: '' }, output: { kind: ' ' } }), 200],
  [
    'fields that are null or empty',
    submission({
      input: { url: '', format: null },
      output: { dir: '', file_name: null, remote: null, options: null },
      notify: null,
      high_priority: null,
    }),
    200,
  ],
  ['notify beside stream', submission({ notify: { target: 'erp', events: ['*'] } }), 200],
  ['no file name where the content tells', submission({ input: { file_name: null } }), 200],
  [
    'no file name where the format is given',
    submission({ input: { file_name: null, format: 'OFD', bytes: base64('x') } }),
    200,
  ],
  ['pages', submission({ output: { options: { pages: ' 1-3, 7 ,9-' } } }), 200],
  ['jpg as jpeg, with dpi', submission({ output: { ...dir, format: 'jpg', options: { dpi: 36 } } }), 202],
  ['a folder below output_dir', submission({ output: { ...dir, dir: '2026/票据' } }), 202],
  ['a name of 200 bytes', submission({ output: { ...dir, file_name: 'a'.repeat(200) } }), 202],
];

describe('a submission is taken with', () => {
  it.each(ACCEPTED)('%s', async (_what, body, status) => {
    const response = await service.convert(body);
    expect(response.status, await response.clone().text()).toBe(status);
    if (status === 202) await service.ended(((await response.json()) as { id: string }).id);
  });

  it.each(['application/x-www-form-urlencoded', 'text/plain', 'application/json; charset=utf-8', ';;nonsense', ''])(
    'Content-Type %j',
    async (type) => {
      const response = await service.convert(submission(), { headers: { 'content-type': type } });
      expect(response.status).toBe(200);
    },
  );

  it('an absolute folder inside of output_dir', async () => {
    const response = await service.convert(submission({ output: { ...dir, dir: `${service.outputDir}/abs` } }));
    expect(response.status).toBe(202);
  });

  it('a body with a byte order mark', async () => {
    expect((await service.convert(`\uFEFF${JSON.stringify(submission())}`)).status).toBe(200);
  });
});

it.each(['/v1/convert?to=pdf', '/v1/convert?dpi=96', '/v1/convert?x='])('beside JSON, %s is refused', async (path) => {
  const response = await service.call(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(submission()),
  });
  expect([response.status, await response.text()]).toEqual([
    400,
    expect.stringMatching(/(?:to|dpi|x): unknown field in the query; the fields stand in the body/),
  ]);
});

it('dir answers 202 with the fields of A5, and the job ends with its files', async () => {
  const response = await service.convert(
    submission({ output: { ...dir, format: 'png', file_name: 'thumb' }, high_priority: true }),
  );
  const answer = (await response.json()) as Record<string, string>;
  expect(response.status).toBe(202);
  expect(answer).toEqual({
    id: expect.stringMatching(/^[0-9a-z]{12}$/),
    state: 'queued',
    lane: 'fast',
    to: 'png',
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    status_url: `/v1/jobs/${answer.id}`,
  });
  const job = await service.ended(answer.id as string);
  expect(job.output.files).toEqual(['thumb-0001.png', 'thumb-0002.png']);
  expect(job.output.path).toBe(`${service.outputDir}/${answer.id?.slice(-2)}/${answer.id?.slice(0, -2)}`);
});

it('content beats the extension, and the claim is kept beside it', async () => {
  const answer = (await (
    await service.convert(submission({ input: { file_name: 'a.html' }, output: dir }))
  ).json()) as { id: string };
  const job = await service.ended(answer.id);
  expect([job.state, job.from, job.from_actual]).toEqual(['succeeded', 'html', 'ofd']);
  expect(service.converter.tasks.at(-1)).toMatchObject({
    from: 'ofd',
    inputPath: expect.stringMatching(/\/input\.ofd$/),
  });
});

it('options reach the conversion', async () => {
  const options = { pages: '2', width: 300, height: 400, background: '#fff8', quality: 9, annotations: false };
  const body = submission({
    output: { ...dir, format: 'webp', options: { ...options, dpi: null, fail_on: ['glyph_missing'] } },
  });
  await service.ended(((await (await service.convert(body)).json()) as { id: string }).id);
  expect(service.converter.tasks.at(-1)?.options).toEqual({ ...options, failOn: ['glyph_missing'] });
});
