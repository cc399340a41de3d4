/** Calls into a thread that hangs, works long, dies, and comes back. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ThreadClient } from '../../src/jobs/thread-client.js';

interface SlowMethods {
  wait(ms: number): number;
  work(ms: number): number;
  die(): void;
  crash(): void;
  close(): void;
}

let client: ThreadClient<SlowMethods>;

async function startClient(deadlineMs: number): Promise<void> {
  client = new ThreadClient({
    url: new URL('../support/bin/slow-thread.mjs', import.meta.url),
    workerData: undefined,
    deadlineMs,
    startDeadlineMs: 5000,
  });
  await client.start();
}

beforeEach(() => startClient(200));

afterEach(() => client.close('close', []));

it('answers what was called', async () => {
  expect(await Promise.all([client.call('wait', [1]), client.call('wait', [2])])).toEqual([1, 2]);
});

it('gives up on a call that hangs, tells of the answer that comes late, and goes on', async () => {
  const late: number[] = [];
  const start = performance.now();
  await expect(client.call('wait', [1500], (value) => late.push(value))).rejects.toMatchObject({
    code: 'unavailable',
    retryAfterSeconds: 5,
  });
  expect(performance.now() - start).toBeLessThan(1400);
  await vi.waitFor(() => expect(late).toEqual([1500]), { timeout: 10_000 });
  expect(await client.call('wait', [3], (value) => late.push(value))).toBe(3);
  expect(late).toEqual([1500]);
});

it('refuses at once while the thread is silent, lets its answer in all the same, and is closed by it in the end', async () => {
  await expect(client.call('wait', [600])).rejects.toThrow(/waited 200 ms/);
  const start = performance.now();
  await expect(client.call('wait', [1])).rejects.toMatchObject({ code: 'unavailable' });
  expect(performance.now() - start).toBeLessThan(150);
  const isBack = (): Promise<boolean> =>
    client.call('wait', [0]).then(
      () => true,
      () => false,
    );
  while (!(await isBack()));
  await expect(client.call('wait', [300])).rejects.toThrow(/waited 200 ms/);
  await client.close('close', []);
});

it('waits on for a long call that shows signs of life', async () => {
  expect(await client.call('work', [100])).toBe(100);
});

it('takes an answer that lies in the port when this thread was the busy one', async () => {
  const answer = client.call('wait', [10]);
  const start = performance.now();
  while (performance.now() - start < 300);
  expect(await answer).toBe(10);
});

it('rejects what was asked of a thread that dies, and starts another', async () => {
  await client.close('close', []);
  // A thread takes longer to start than to answer.
  await startClient(5000);
  const asked = [client.call('die', []), client.call('wait', [1])];
  for (const answer of await Promise.allSettled(asked)) {
    expect(answer).toMatchObject({ status: 'rejected', reason: { code: 'unavailable' } });
  }
  await new Promise((resolve) => setTimeout(resolve, 1000));
  await expect(client.call('crash', [])).rejects.toThrow('the thread fell over');
  await expect(client.call('wait', [1])).rejects.toMatchObject({ code: 'unavailable' });
  await new Promise((resolve) => setTimeout(resolve, 1000));
  expect(await client.call('wait', [1])).toBe(1);
});
