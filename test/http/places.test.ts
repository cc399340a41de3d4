// Where products go and which pages they hold, as it is told over HTTP: links out, volumes that are gone, pages beyond.
import { mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { type JobAnswer, json, startTestService, submission, type TestService } from '../support/service.js';

let service: TestService;
afterEach(() => service.close());

interface ErrorAnswer {
  readonly code: string;
  readonly message: string;
}

const toFolder = (dir: string): Promise<Response> =>
  service.convert(submission({ output: { kind: 'dir', format: 'pdf', dir } }));

it('a folder that leads out, or is none, is refused at submission', async () => {
  service = await startTestService();
  mkdirSync(join(service.folder, 'outside'));
  mkdirSync(join(service.outputDir, 'real'));
  symlinkSync(join(service.folder, 'outside'), join(service.outputDir, 'link'));
  symlinkSync('nowhere', join(service.outputDir, 'dangling'));
  symlinkSync('real', join(service.outputDir, 'alias'));
  writeFileSync(join(service.outputDir, 'file'), '');
  for (const [dir, says] of [
    ['link', /output\.dir leads out of output_dir through a symbolic link at .*link/],
    ['link/deeper', /leads out of output_dir/],
    ['dangling', /dangling, which is not a folder/],
    ['file/x', /file, which is not a folder/],
  ] as const) {
    const response = await toFolder(dir);
    const { code, message } = await json<ErrorAnswer>(response);
    expect([response.status, code]).toEqual([400, 'invalid_request']);
    expect(message).toMatch(says);
  }
  for (const dir of ['alias/new', 'new/deeper']) {
    const { id } = await json<JobAnswer>(toFolder(dir));
    expect(await service.ended(id)).toMatchObject({ state: 'succeeded' });
  }
});

it('an output_dir that is gone is a fault that may pass: named, tried again, without a stack in the log', async () => {
  service = await startTestService({ max_job_attempts: 3, job_retry_backoff: '500ms' });
  const away = `${service.outputDir}-away`;
  service.converter.hold();
  const [first, second] = await Promise.all([json<JobAnswer>(toFolder('a')), json<JobAnswer>(toFolder('b'))]);
  await Promise.all([service.reached(first.id, 'running'), service.reached(second.id, 'running')]);
  renameSync(service.outputDir, away);
  service.converter.release();
  await service.reached(first.id, 'queued');
  renameSync(away, service.outputDir);
  expect(await service.ended(first.id)).toMatchObject({ state: 'succeeded', attempt: 2 });
  await service.ended(second.id);
  expect(readFileSync(join(service.folder, 'log', 'ofd-server.log'), 'utf8')).not.toMatch(/"stack"/);

  await service.restart({ max_job_attempts: 1 });
  service.converter.hold();
  const { id } = await json<JobAnswer>(toFolder('c'));
  await service.reached(id, 'running');
  renameSync(service.outputDir, away);
  service.converter.release();
  expect(await service.ended(id)).toMatchObject({
    state: 'failed',
    error_code: 'unavailable',
    error: expect.stringMatching(/^output_dir .* cannot be written to \(ENOENT\)/),
  });
  const { jobs } = await json<{ jobs: JobAnswer[] }>(service.call('/v1/dead-letters'));
  expect(jobs.map((job) => job.id)).toEqual([id]);
  renameSync(away, service.outputDir);
});

it('pages beyond the document are the fault of the request, by the name of its field', async () => {
  service = await startTestService({}, 'real');
  const bytes = readFileSync('examples/invoice.ofd').toString('base64');
  const message = 'output.options.pages: "900" names no page of a document of 1';
  const body = (kind: string): object =>
    submission({ input: { bytes }, output: { kind, format: 'txt', options: { pages: '900' } } });
  const response = await service.convert(body('stream'));
  expect([response.status, await json(response)]).toEqual([400, { code: 'invalid_request', message }]);
  const { id } = await json<JobAnswer>(service.convert(body('dir')));
  const job = await service.ended(id);
  expect(job).toMatchObject({ state: 'failed', error_code: 'invalid_request', error: message });
  expect(job).not.toHaveProperty('reason');
}, 30_000);
