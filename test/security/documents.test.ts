// Hostile documents through the whole service, beside what the tests of each engine know of: names that lead out, entities,
// bombs, and documents that are converted at the same time.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildOfd, textXml } from '../support/ofd-builder.js';
import { docx, odt, paragraphXml, xlsx, zipOf } from '../support/office.js';
import { type JobAnswer, json, startTestService, type TestService } from '../support/service.js';

let service: TestService;
let secretPath: string;
const SECRET = 'text of another file';

beforeAll(async () => {
  service = await startTestService({ job_timeout: '50s', fast_workers: 4 }, 'real');
  secretPath = join(service.folder, 'secret.txt');
  writeFileSync(secretPath, SECRET);
});
afterAll(() => service.close());

async function convert(bytes: Uint8Array, from: string, to = 'txt'): Promise<{ status: number; text: string }> {
  const response = await service.call(`/v1/convert?to=${to}&input.format=${from}`, {
    method: 'POST',
    body: bytes,
  } as RequestInit);
  return { status: response.status, text: Buffer.from(await response.arrayBuffer()).toString('utf8') };
}

const FONT = '<ofd:Fonts><ofd:Font ID="1" FontName="DejaVu Sans"/></ofd:Fonts>';

it.each([
  '../../../out-of-it',
  '/tmp/ofd-server-out-of-it',
  'C:\\out-of-it',
  '..\\..\\out-of-it',
  'Doc_0/../../../out-of-it',
])('an entry of a package called %s is written nowhere', async (name) => {
  const bytes = buildOfd({ publicRes: FONT, pages: [textXml('inside')], files: { [name]: 'outside' } });
  for (const to of ['txt', 'png']) {
    const { id } = await json<JobAnswer>(
      service.call(`/v1/convert?to=${to}&kind=dir`, { method: 'POST', body: bytes } as RequestInit),
    );
    expect(await service.ended(id)).toMatchObject({ state: 'succeeded' });
    const [, ...archive] = (await json<{ output: { files: string[] } }>(service.call(`/v1/jobs/${id}`))).output.files;
    expect(archive).toEqual([]);
  }
  const found = readdirSync(service.folder, { recursive: true, encoding: 'utf8' });
  expect(found.filter((path) => path.includes('out-of-it'))).toEqual([]);
  expect(existsSync('/tmp/ofd-server-out-of-it')).toBe(false);
});

it('products have names without a way in them, whatever the client calls them', async () => {
  const bytes = buildOfd({ pages: ['', ''] });
  for (const name of ['../up', '/root', 'a/b', '..', 'a\\b', 'a\nb', 'C:', '.hidden/../x', '\u202e']) {
    const form = new FormData();
    form.set('file', new Blob([new Uint8Array(bytes)]), 'a.ofd');
    form.set('request', JSON.stringify({ output: { kind: 'dir', format: 'png', file_name: name } }));
    const response = await service.convert(undefined, { body: form });
    if (response.status === 400) continue;
    expect(response.status, name).toBe(202);
    const { id } = await json<JobAnswer>(response);
    const { output } = await service.ended(id);
    for (const file of output.files) expect(file, name).not.toMatch(/[/\\\n]|^\.\.?$/);
  }
});

const entities = (path: string): string =>
  `<!DOCTYPE x [<!ENTITY a SYSTEM "file://${path}"><!ENTITY % b SYSTEM "file://${path}">%b;]>`;
/** Ten entities of ten of the next each: ten thousand million letters. */
const LAUGHS = `<!DOCTYPE x [<!ENTITY l0 "ha">${Array.from({ length: 10 }, (_, i) => `<!ENTITY l${i + 1} "${`&l${i};`.repeat(10)}">`).join('')}]>`;

/** Puts a document type into every part of a document. */
function withType(document: Buffer, type: string, text: string): Buffer {
  const folder = join(service.folder, `unpacked-${Math.random()}`);
  const archive = `${folder}.zip`;
  writeFileSync(archive, document);
  execFileSync('python3', ['-m', 'zipfile', '-e', archive, folder]);
  const parts = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    statSync(join(folder, name)).isFile(),
  );
  return zipOf(
    Object.fromEntries(
      parts.map((name) => {
        const content = execFileSync('cat', [join(folder, name)]).toString();
        return [
          name,
          name === 'mimetype' ? content : content.replace(/^(<\?xml[^>]*>)?/, `$1${type}`).replaceAll('MARK', text),
        ];
      }),
    ),
  );
}

it.each<[string, () => Buffer]>([
  ['docx', () => docx(paragraphXml({ text: 'words MARK' }))],
  ['xlsx', () => xlsx([['words MARK']])],
  ['odt', () => odt('<text:p>words MARK</text:p>')],
])(
  'entities in %s bring no other file in, and no bomb goes off',
  async (format, make) => {
    const outside = await convert(withType(make(), entities(secretPath), '&a;'), format);
    expect(outside.text).not.toContain(SECRET);
    const startMs = performance.now();
    const bomb = await convert(withType(make(), LAUGHS, '&l10;'), format);
    expect(performance.now() - startMs).toBeLessThan(55_000);
    expect(bomb.text.length).toBeLessThan(5_000_000);
    expect((await convert(make(), format)).text).toContain('words');
  },
  180_000,
);

it('entities in a picture of a page, and in parts of a package', async () => {
  const svg = `<?xml version="1.0"?>${entities(secretPath)}<svg xmlns="http://www.w3.org/2000/svg"><text y="20">&a;</text></svg>`;
  const html = `<p>words</p><img src="data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}">${svg}`;
  expect((await convert(Buffer.from(html), 'html')).text).not.toContain(SECRET);
  const bombed = html.replace(entities(secretPath), LAUGHS).replaceAll('&a;', '&l10;');
  expect((await convert(Buffer.from(bombed), 'html')).text.length).toBeLessThan(1_000_000);
  for (const type of [entities(secretPath), LAUGHS]) {
    const parts = buildOfd({
      publicRes: FONT,
      pages: [textXml('words')],
      files: { 'Doc_0/Pages/Page_0/Other.xml': `${type}<a>&a;&l10;</a>` },
    });
    expect((await convert(parts, 'ofd')).text).toContain('words');
  }
});

it('what is packed small and is large is refused, or ends', async () => {
  const zeros = gzipSync(Buffer.alloc(200_000_000));
  const packed = await service.call('/v1/convert?to=pdf', {
    method: 'POST',
    body: zeros,
    headers: { 'content-encoding': 'gzip' },
  } as RequestInit);
  expect(packed.status).toBe(400);
  const bomb = buildOfd({ pages: [''], files: { 'Doc_0/Document.xml': Buffer.alloc(300_000_000, ' ') } });
  const refused = await convert(bomb, 'ofd', 'pdf');
  expect([refused.status, JSON.parse(refused.text)]).toEqual([
    422,
    expect.objectContaining({ code: 'conversion_failed' }),
  ]);
  expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
});

it('documents that are converted at the same time have nothing of each other', async () => {
  const words = Array.from({ length: 60 }, (_, i) => `word${i}x${(i * 7919) % 997}`);
  const texts = await Promise.all(
    words.map(async (word, index) => {
      const bytes = buildOfd({ publicRes: FONT, docInfo: `<ofd:Title>${word}</ofd:Title>`, pages: [textXml(word)] });
      const query = `to=${['txt', 'json', 'html'][index % 3]}&kind=dir`;
      const { id } = await json<JobAnswer>(
        service.call(`/v1/convert?${query}`, { method: 'POST', body: bytes } as RequestInit),
      );
      const job = await service.ended(id);
      expect(job.state).toBe('succeeded');
      return (await service.call(`/v1/jobs/${id}/content`)).text();
    }),
  );
  for (const [index, text] of texts.entries()) {
    expect(words.filter((word) => new RegExp(`${word}(?!\\d)`).test(text))).toEqual([words[index]]);
  }
});

it('what lies on disk while a job runs is nobody else’s to read', async () => {
  const bytes = buildOfd({ pages: Array(2000).fill('') });
  const { id } = await json<JobAnswer>(
    service.call('/v1/convert?to=png&kind=dir', { method: 'POST', body: bytes } as RequestInit),
  );
  await service.reached(id, 'running');
  const open: string[] = [];
  for (const root of [service.tempDir, join(service.folder, 'data')]) {
    for (const name of readdirSync(root, { recursive: true, encoding: 'utf8' })) {
      const { mode } = statSync(join(root, name), { throwIfNoEntry: false }) ?? { mode: 0 };
      // A folder that is closed closes what is in it.
      if ((mode & 0o077) !== 0 && !name.includes('/')) open.push(`${(mode & 0o777).toString(8)} ${name}`);
    }
  }
  expect(open).toEqual([]);
  await service.call(`/v1/jobs/${id}/cancel?force=true`, { method: 'POST' });
});
