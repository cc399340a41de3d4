// Jobs with a remote target, through the whole service.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { callDaemon, copyOfBuild, Daemon } from '../support/daemon.js';
import { temporaryFolder } from '../support/jobs.js';
import {
  type JobAnswer,
  json,
  KEY,
  startTestService,
  submission,
  type TestService,
  until,
} from '../support/service.js';
import { BOX } from './remote-suite.js';
import { FaultProxy } from './servers/fault-proxy.js';
import type { TestServer } from './servers/server.js';
import { startRclone } from './servers/webdav.js';

let server: TestServer;

beforeAll(async () => {
  server = await startRclone();
});
afterAll(() => server.close());
beforeEach(() => server.empty());

const remote = (output: Record<string, unknown>): Record<string, unknown> =>
  submission({ output: { kind: 'webdav', remote: { target: 'box', path: '2026/11' }, ...output } });

describe('a job', () => {
  let service: TestService;
  let proxy: FaultProxy;

  beforeEach(async () => {
    proxy = await FaultProxy.start(server.ports);
    service = await startTestService({
      webdav_targets: {
        box: { ...server.target(proxy.host), timeout_seconds: 2 },
        small: { ...server.target(proxy.host), max_bytes: 5 },
      },
      max_job_attempts: 5,
      job_retry_backoff: '100ms',
    });
  });
  afterEach(async () => {
    await service.close();
    await proxy.close();
  });

  async function ended(body: unknown): Promise<JobAnswer> {
    const answer = await service.convert(body);
    expect(answer.status).toBe(202);
    return service.ended((await json<{ id: string }>(answer)).id);
  }

  it('delivers to its target and says where', async () => {
    const job = await ended(remote({ format: 'png', file_name: 'thumb' }));
    const folder = `http://${proxy.host}:${server.ports[0]}/${BOX}/2026/11`;
    expect(job).toMatchObject({
      state: 'succeeded',
      output: {
        kind: 'webdav',
        path: folder,
        files: ['thumb-0001.png', 'thumb-0002.png'],
        products: [
          { name: 'thumb-0001.png', location: `${folder}/thumb-0001.png`, reused: false },
          { name: 'thumb-0002.png', location: `${folder}/thumb-0002.png`, reused: false },
        ],
      },
    });
    expect(await server.list()).toEqual([`${BOX}/2026/11/thumb-0001.png`, `${BOX}/2026/11/thumb-0002.png`]);
    const content = await service.call(`/v1/jobs/${job.id}/content`);
    const { code, message } = await json(content);
    expect([content.status, code, message]).toEqual([409, 'content_not_available', expect.stringContaining(folder)]);
  });

  it.each([
    ['no target', { remote: {} }, 400, 'invalid_request', /output\.remote is required where output\.kind is "webdav"/],
    ['no remote', { remote: undefined }, 400, 'invalid_request', /one of the webdav_targets/],
    ['an unknown target', { remote: { target: 'x' } }, 400, 'unknown_remote_target', /"x" is not among/],
    ["another kind's target", { kind: 's3' }, 400, 'unknown_remote_target', /s3_targets/],
    ['a path that leads out', { remote: { target: 'box', path: 'a/../../b' } }, 400, 'invalid_request', /"\.\."/],
    ['a path from the root', { remote: { target: 'box', path: '/a' } }, 400, 'invalid_request', /must be relative/],
    ['a folder of output_dir', { dir: 'x' }, 400, 'invalid_request', /output\.dir belongs to output\.kind "dir"/],
    ['a remote for dir', { kind: 'dir' }, 400, 'invalid_request', /output\.remote belongs to ftp, s3, webdav, sftp/],
  ])('is refused at once: %s', async (_what, output, status, code, says) => {
    const answer = await service.convert(remote(output));
    const { code: found, message } = await json<{ code: string; message: string }>(answer);
    expect([answer.status, found, message]).toEqual([status, code, expect.stringMatching(says)]);
  });

  it('that makes more than the target takes ends with that, in the conversion already', async () => {
    const job = await ended(remote({ remote: { target: 'small' } }));
    expect(job).toMatchObject({ state: 'failed', error_code: 'output_too_large', reason: 'too_large', attempt: 1 });
    expect(service.converter.tasks[0]?.maxOutputBytes).toBe(5);
  });

  it('ends with a conflict that names the place', async () => {
    await server.write(`${BOX}/2026/11/output.pdf`, 'theirs');
    const job = await ended(remote({}));
    expect(job).toMatchObject({ state: 'failed', error_code: 'conflict', attempt: 1 });
    expect(job.error).toContain(`/${BOX}/2026/11/output.pdf exists and is not overwritten`);
  });

  it('waits for a target that is down, and delivers when it is back', async () => {
    await proxy.set({ kind: 'refuse' });
    const { id } = await json<{ id: string }>(service.convert(remote({})));
    await until(
      () => json<JobAnswer>(service.call(`/v1/jobs/${id}`)),
      ({ attempt }) => attempt >= 2,
    );
    await proxy.set({ kind: 'none' });
    expect(await service.ended(id)).toMatchObject({ state: 'succeeded' });
    expect(await server.list()).toEqual([`${BOX}/2026/11/output.pdf`]);
  });
});

describe('the service', () => {
  it('killed while it delivers goes on where it was, under the same names', async () => {
    const folder = temporaryFolder('remote-daemon');
    const proxy = await FaultProxy.start(server.ports);
    const program = copyOfBuild(folder.path);
    const config = join(folder.path, 'config.json');
    mkdirSync(join(folder.path, 'data'));
    writeFileSync(
      config,
      JSON.stringify({
        listen: '127.0.0.1:0',
        api_key: KEY,
        db_path: join(folder.path, 'data', 'jobs.db'),
        temp_dir: join(folder.path, 'tmp'),
        output_dir: join(folder.path, 'out'),
        log_to_stdout: true,
        webdav_targets: { box: server.target(proxy.host) },
      }),
      { mode: 0o600 },
    );
    let daemon = new Daemon(config, program);
    const url = (await daemon.ready)!;
    // The file gets its name, and nobody hears of it.
    await proxy.set({ kind: 'mute', from: 'MOVE ' });
    const answer = await callDaemon(url, '/v1/convert', {
      method: 'POST',
      body: JSON.stringify({
        input: { file_name: 'invoice.ofd', bytes: readFileSync('examples/invoice.ofd').toString('base64') },
        output: { kind: 'webdav', format: 'pdf', remote: { target: 'box' } },
      }),
    });
    const { id } = await json<{ id: string }>(answer);
    await until(
      () => server.list(),
      (paths) => paths.includes(`${BOX}/output.pdf`),
    );
    await daemon.kill();
    await proxy.set({ kind: 'none' });
    daemon = new Daemon(config, program);
    const again = (await daemon.ready)!;
    const job = await until(
      () => json<JobAnswer>(callDaemon(again, `/v1/jobs/${id}`)),
      ({ state }) => state === 'succeeded' || state === 'failed',
    );
    expect(job).toMatchObject({ state: 'succeeded', output: { products: [{ name: 'output.pdf', reused: true }] } });
    expect(await server.list()).toEqual([`${BOX}/output.pdf`]);
    await daemon.kill();
    await proxy.close();
    folder.remove();
  });
});
