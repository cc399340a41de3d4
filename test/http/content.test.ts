// GET /v1/jobs/{id}/content (contract A8).
import {
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { inflateRawSync } from 'node:zlib';
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  type JobAnswer,
  json,
  startTestService,
  submission,
  type TestService,
  until,
  workspacesIn,
} from '../support/service.js';

let service: TestService;

beforeEach(async () => {
  service = await startTestService();
});
afterEach(() => service.close());

async function converted(output: Record<string, unknown>): Promise<JobAnswer> {
  const { id } = await json<JobAnswer>(service.convert(submission({ output: { kind: 'dir', ...output } })));
  return service.ended(id);
}

const content = (id: string, query = ''): Promise<Response> => service.call(`/v1/jobs/${id}/content${query}`);

/** Files below a folder that this process has open. */
function openFilesIn(folder: string): string[] {
  const links = readdirSync('/proc/self/fd').map((fd) => readlinkSafely(join('/proc/self/fd', fd)));
  return links.filter((path) => path.startsWith(folder));
}

function readlinkSafely(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

/** Names and texts of a ZIP's members, by its central directory. */
function members(zip: Buffer): Record<string, string> {
  const found: Record<string, string> = {};
  for (let at = zip.indexOf('PK\x01\x02', 0, 'latin1'); at >= 0; at = zip.indexOf('PK\x01\x02', at + 4, 'latin1')) {
    const nameLength = zip.readUInt16LE(at + 28);
    const name = zip.toString('utf8', at + 46, at + 46 + nameLength);
    const local = zip.readUInt32LE(at + 42);
    const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
    const data = zip.subarray(start, start + zip.readUInt32LE(at + 20));
    found[name] = (zip.readUInt16LE(at + 10) === 0 ? data : inflateRawSync(data)).toString();
  }
  return found;
}

it('one product comes as itself', async () => {
  const { id } = await converted({ format: 'md', file_name: '报告' });
  const response = await content(id);
  expect([response.status, await response.text()]).toEqual([200, 'product']);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-type': 'text/markdown; charset=utf-8',
    'content-length': '7',
    'content-disposition': `attachment; filename="output.md"; filename*=UTF-8''%E6%8A%A5%E5%91%8A.md`,
    'cache-control': 'no-store',
  });
});

it.each([
  [{ format: 'md' }, { 'content-type': 'text/markdown; charset=utf-8', 'content-length': '7' }],
  [{ format: 'png' }, { 'content-type': 'application/zip' }],
])('HEAD gives the head alone: %j', async (output, headers) => {
  const { id } = await converted(output);
  const response = await service.call(`/v1/jobs/${id}/content`, { method: 'HEAD' });
  expect([response.status, await response.text()]).toEqual([200, '']);
  expect(Object.fromEntries(response.headers)).toMatchObject({ ...headers, 'cache-control': 'no-store' });
  expect((await service.call('/v1/jobs/none/content', { method: 'HEAD' })).status).toBe(404);
});

it.each(['png', 'svg'])('several %s come as a ZIP, and nothing stays in temp_dir', async (format) => {
  service.converter.pages = 12;
  const { id } = await converted({ format, file_name: '页' });
  const response = await content(id);
  const zip = Buffer.from(await response.arrayBuffer());
  expect(response.headers.get('content-type')).toBe('application/zip');
  expect(response.headers.get('content-length')).toBe(String(zip.length));
  expect(response.headers.get('cache-control')).toBe('no-store');
  const found = members(zip);
  expect(Object.keys(found)).toHaveLength(12);
  expect(found[`页-0003.${format}`]).toBe(`product 页-0003.${format}`);
  expect(workspacesIn(service.tempDir)).toEqual([]);
});

it('a product of several comes by its exact name alone', async () => {
  const { id } = await converted({ format: 'png' });
  const one = await content(id, '?name=page-0002.png');
  expect([one.status, one.headers.get('content-type'), await one.text()]).toEqual([
    200,
    'image/png',
    'product page-0002.png',
  ]);
  for (const name of ['page-0003.png', 'PAGE-0001.png', '../page-0001.png', 'page-0001.png/', '', '%00']) {
    const response = await content(id, `?name=${name}`);
    expect([name, response.status, (await json(response)).code]).toEqual([name, 404, 'content_not_found']);
  }
  const unknown = await content(id, '?nme=page-0001.png');
  expect(unknown.status).toBe(400);
});

it('a name that lies in the same folder but belongs to another job is refused', async () => {
  const mine = await converted({ format: 'pdf', dir: 'shared', file_name: 'a' });
  await converted({ format: 'pdf', dir: 'shared', file_name: 'b' });
  expect((await content(mine.id, '?name=b.pdf')).status).toBe(404);
  expect((await content(mine.id, '?name=a.pdf')).status).toBe(200);
});

it('an unfinished, failed or cancelled job has none', async () => {
  service.converter.hold();
  const { id } = await json<JobAnswer>(service.convert(submission({ output: { kind: 'dir' } })));
  const early = await content(id);
  expect([early.status, (await json(early)).code]).toEqual([409, 'job_not_finished']);
  service.converter.failure = new Error('x') as never;
  service.converter.release();
  await service.ended(id);
  const late = await content(id);
  expect([late.status, (await json(late)).code]).toEqual([409, 'content_not_available']);
});

it('a file that was removed, or replaced by a link, is not found, alone and in a ZIP', async () => {
  const { id, output } = await converted({ format: 'png' });
  const file = join(output.path, 'page-0002.png');
  for (const spoil of [
    () => rmSync(file),
    () => symlinkSync('/etc/passwd', file),
    () => {
      rmSync(file);
      mkdirSync(file);
    },
  ]) {
    spoil();
    expect((await json(content(id, '?name=page-0002.png'))).code).toBe('content_not_found');
    expect((await json(content(id))).code).toBe('content_not_found');
  }
  expect((await content(id, '?name=page-0001.png')).status).toBe(200);
});

it('a folder that now leads out of output_dir is not followed', async () => {
  const { id, output } = await converted({ format: 'pdf', dir: 'sub' });
  const elsewhere = join(service.folder, 'elsewhere');
  renameSync(output.path, elsewhere);
  symlinkSync(elsewhere, output.path);
  expect((await json(content(id))).code).toBe('content_not_found');
});

it('after output_dir has changed, what lies outside of it is no longer served', async () => {
  const { id } = await converted({ format: 'pdf' });
  await service.restart({ output_dir: join(service.folder, 'other') });
  expect((await json(content(id))).code).toBe('content_not_found');
});

it('a member larger than 1 GiB makes the whole request fail, before a byte is sent', async () => {
  const { id, output } = await converted({ format: 'png' });
  truncateSync(join(output.path, 'page-0002.png'), 1024 ** 3 + 1);
  const response = await content(id);
  expect([response.status, (await json(response)).code]).toEqual([409, 'content_not_available']);
});

it('a client that goes away ends the making of its archive', async () => {
  const { id, output } = await converted({ format: 'svg' });
  writeFileSync(join(output.path, 'page-0001.svg'), Buffer.alloc(300_000_000, 'a'));
  const gone = new AbortController();
  const pending = service.call(`/v1/jobs/${id}/content`, { signal: gone.signal });
  await new Promise((resolve) => setTimeout(resolve, 100));
  gone.abort();
  await expect(pending).rejects.toThrow();
  await until(
    async () => [...workspacesIn(service.tempDir), ...openFilesIn(output.path)],
    (names) => names.length === 0,
  );
});
