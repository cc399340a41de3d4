// GET /v1/jobs/{id}/log (contract L2).
import { afterEach, expect, it } from 'vitest';
import { ServiceError } from '../../src/errors.js';
import { pdfText, textDocx } from '../support/office.js';
import { type JobAnswer, json, startTestService, submission, type TestService } from '../support/service.js';

let service: TestService;

afterEach(() => service.close());

async function submitted(changes: Parameters<typeof submission>[0] = {}): Promise<string> {
  const { id } = await json<JobAnswer>(
    service.convert(submission({ ...changes, output: { kind: 'dir', format: 'md', ...changes.output } })),
  );
  return id;
}

const log = (id: string, query = ''): Promise<Response> => service.call(`/v1/jobs/${id}/log${query}`);

it('answers with what a run printed, the latest where none is named', async () => {
  service = await startTestService({ max_job_attempts: 2, job_retry_backoff: '1ms', attempt_log_max_bytes: 20 });
  service.converter.printed = 'first';
  service.converter.failure = new ServiceError('engine_crashed', 'It crashed', { reason: 'internal' });
  const id = await submitted();
  await service.reached(id, 'failed');
  for (const query of ['', '?attempt=1', '?attempt=2']) {
    const response = await log(id, query);
    expect([response.status, await response.text()]).toEqual([200, 'first']);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
  }
  service.converter.printed = 'x'.repeat(30);
  const longer = await submitted();
  await service.ended(longer);
  expect(await (await log(longer)).text()).toBe(
    `${'x'.repeat(20)}\n[ofd-server] truncated: the first 20 bytes are kept\n`,
  );
  await service.restart();
  expect(await (await log(id)).text()).toBe('first');
});

it('refuses what there is not', async () => {
  service = await startTestService();
  const id = await submitted();
  await service.ended(id);
  for (const [path, status, code] of [
    [`/v1/jobs/${id}/log`, 404, 'log_not_found'],
    [`/v1/jobs/${id}/log?attempt=2`, 404, 'log_not_found'],
    ['/v1/jobs/none/log', 404, 'job_not_found'],
    [`/v1/jobs/${id}/log?attempt=0`, 400, 'invalid_request'],
    [`/v1/jobs/${id}/log?attempt=1&name=x`, 400, 'invalid_request'],
  ] as const) {
    const response = await service.call(path);
    expect([path, response.status, (await json(response)).code]).toEqual([path, status, code]);
  }
  expect((await fetch(`${service.url}/v1/jobs/${id}/log`)).status).toBe(401);
});

it('tells of LibreOffice, which a job goes through from end to end', async () => {
  service = await startTestService({}, 'real');
  const { id, lane } = await json<JobAnswer>(
    service.convert({
      input: { kind: 'upload', file_name: '报告.docx', bytes: textDocx('年度报告').toString('base64') },
      output: { kind: 'dir', format: 'pdf' },
    }),
  );
  expect(lane).toBe('heavy');
  const job = await service.ended(id);
  expect(job).toMatchObject({ state: 'succeeded', from_actual: 'docx', output: { files: ['output.pdf'] } });
  expect(pdfText(`${job.output.path}/output.pdf`)).toContain('年度报告');
  expect(await (await log(id)).text()).toMatch(
    /^\[ofd-server\] libreoffice: started, process \d+\n[\s\S]*exited with code 0 after \d+\.\d s, \d+ MiB at most\n$/,
  );
});
