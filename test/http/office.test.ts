// Office documents through the whole service, with the real engine: what they were opened as, and how many run at once.
import { afterEach, expect, it } from 'vitest';
import { textDocx } from '../support/office.js';
import { type JobAnswer, json, startTestService, type TestService } from '../support/service.js';
import { processesUnder } from '../support/web.js';

let service: TestService;
afterEach(async () => {
  const { folder } = service;
  await service.close();
  expect(await processesUnder(folder)).toEqual([]);
});

const bytes = textDocx('年度报告').toString('base64');

async function submitted(fileName: string, format = 'pdf'): Promise<string> {
  const request = { input: { kind: 'upload', file_name: fileName, bytes }, output: { kind: 'dir', format } };
  return (await json<JobAnswer>(service.convert(request))).id;
}

it('a document under another name of its family is what it was opened as', async () => {
  service = await startTestService({}, 'real');
  for (const format of ['pdf', 'txt']) {
    const job = await service.ended(await submitted('报告.doc', format));
    expect(job).toMatchObject({ state: 'succeeded', from: 'doc', from_actual: 'docx' });
  }
});

/** The most runs that were going on at a time. */
async function mostAtOnce(heavyWorkers: number, jobs: number): Promise<number> {
  service = await startTestService({ heavy_workers: heavyWorkers }, 'real');
  const ids = await Promise.all(Array.from({ length: jobs }, () => submitted('a.docx')));
  const ended = await Promise.all(ids.map((id) => service.ended(id)));
  expect(ended.map(({ state }) => state)).toEqual(ids.map(() => 'succeeded'));
  const times = ended.map(
    (job) => [Date.parse(job.started_at as string), Date.parse(job.finished_at as string)] as const,
  );
  return Math.max(...times.map(([start]) => times.filter(([from, to]) => from <= start && start < to).length));
}

it.each([
  [1, 2],
  [2, 4],
])('%i workers of the heavy lane convert as many at a time, of %i', async (workers, jobs) => {
  expect(await mostAtOnce(workers, jobs)).toBe(workers);
});
