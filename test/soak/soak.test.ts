// What a soak finds in its samples, and in what its clients saw. The load itself is `make soak`.
import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../support/jobs.js';
import { BOUNDS, brokenBounds, percentileOf, slopeOf, trendOf } from './bounds.js';
import { outcomeOfAnswer, outcomeOfJob } from './client.js';
import { isAmong, Ledger } from './ledger.js';
import { unansweredOf } from './receiver.js';
import { descendantsOf, entriesBelow, metricsOf, mibOf, type Sample, sampleProcess } from './samples.js';

const CALM: Sample = {
  seconds: 0,
  residentMib: 300,
  childrenMib: 0,
  heapMib: 40,
  externalMib: 20,
  threads: 20,
  descriptors: 60,
  sockets: 10,
  children: 0,
  zombies: 0,
  tempEntries: 0,
  profileFiles: 0,
  inputFiles: 0,
  logFiles: 0,
  outputFiles: 0,
  databaseMib: 4,
  queued: 0,
  running: 0,
  jobRows: 300,
  healthP99Ms: 20,
  probeP99Ms: 5,
};

/** An hour, a sample each 15 s; `grown` changes each by its number of hours. */
function hour(grown: (hours: number, index: number) => Partial<Sample>): Sample[] {
  return Array.from({ length: 240 }, (_unused, index) => {
    const seconds = index * 15;
    return { ...CALM, seconds, ...grown(seconds / 3600, index) };
  });
}

/** Memory as it is: it swings with what is converted. */
const swing = (index: number): number => 80 * Math.sin(index * 1.7) + 50 * Math.sin(index / 3);

/** Each 20th of `rests` is one. */
function judge(samples: Sample[], atEnd: Partial<Sample> = {}, rests = samples): string[] {
  return brokenBounds({
    samples,
    rests: rests.filter((_sample, index) => index % 20 === 19),
    atStart: CALM,
    atEnd: { ...CALM, ...atEnd },
    retentionSeconds: 180,
    jobsASecond: 2,
  });
}

describe('figures', () => {
  it('a slope is that of the line, with how well it is known', () => {
    const line = slopeOf([0, 1, 2, 3, 4].map((x) => [x, 5 + 3 * x]));
    expect(line.slope).toBeCloseTo(3);
    expect(line.error).toBeCloseTo(0);
    const uneven = slopeOf([0, 1, 2, 3, 4, 5].map((x) => [x, 5 + 3 * x + (x % 2)]));
    expect(uneven.slope).toBeCloseTo(3 + 3 / 35);
    expect(uneven.error).toBeCloseTo(Math.sqrt((1.5 - 0.9 / 7) / 4 / 17.5));
    expect(slopeOf([[1, 1]])).toEqual({ slope: 0, error: Number.POSITIVE_INFINITY });
    expect(slopeOf([1, 2, 3].map((y) => [7, y])).slope).toBe(0);
  });

  it('a percentile is a value that was measured', () => {
    const values = Array.from({ length: 200 }, (_unused, index) => 200 - index);
    expect([0.5, 0.99, 1].map((share) => percentileOf(values, share))).toEqual([100, 198, 200]);
    expect([percentileOf([], 0.99), percentileOf([7], 0.01)]).toEqual([0, 7]);
  });

  it('a trend leaves out the first third', () => {
    const samples = hour((hours) => ({ heapMib: hours < 1 / 3 ? 1000 * hours : 50 }));
    expect(trendOf(samples, ({ heapMib }) => heapMib)).toMatchObject({
      slope: 0,
      mean: 50,
      highest: 50,
    });
  });
});

describe('bounds', () => {
  it('are kept by memory that swings with the load, even with more and more of it, and is given back at rest', () => {
    const load = hour((hours, index) => ({ residentMib: 400 + swing(index) + 200 * hours }));
    expect(
      judge(
        load,
        {},
        hour((_hours, index) => ({ residentMib: 400 + 10 * Math.sin(index) })),
      ),
    ).toEqual([]);
  });

  it.each([
    ['resident memory', (hours, index) => ({ residentMib: 400 + 10 * Math.sin(index) + 90 * hours })],
    ['heap of the main thread', (hours) => ({ heapMib: 40 + 15 * hours })],
    ['descriptors', (hours, index) => ({ descriptors: 60 + (index % 9) + 60 * hours })],
  ] as [string, (hours: number, index: number) => Partial<Sample>][])('%s that grows is told', (name, grown) => {
    expect(judge(hour(grown))).toEqual([expect.stringMatching(new RegExp(`^${name}: grows by`))]);
  });

  it('say nothing of slopes in a few minutes', () => {
    const samples = hour((hours) => ({ residentMib: 300 + 5000 * hours })).slice(0, 40);
    expect(judge(samples)).toEqual([]);
  });

  it.each([
    ['descriptors: 141', { descriptors: CALM.descriptors + BOUNDS.descriptorsAboveStart + 1 }],
    ['zombies: 1', { zombies: 1 }],
    ['temp_dir: 2', { tempEntries: 2 }],
  ])('what is left at the end: %s', (text, atEnd) => {
    const samples = hour(() => ({}));
    expect(judge(samples, atEnd)).toEqual([expect.stringContaining(text)]);
    // The same under load is in the nature of it.
    expect(judge(hour(() => atEnd))).toEqual([]);
  });

  it('late answers are the fault of the service only where the probe itself is on time', () => {
    expect(judge(hour(() => ({ healthP99Ms: 600 })))).toEqual([expect.stringContaining('/healthz: the median')]);
    expect(judge(hour(() => ({ healthP99Ms: 600, probeP99Ms: 100 })))).toEqual([]);
  });

  it('records that are never removed are told', () => {
    const samples = hour((hours) => ({ jobRows: hours * 7200 }));
    expect(judge(samples)).toEqual([expect.stringMatching(/^jobs: 7170 records/)]);
  });
});

it('a notification may be taken once more for each answer that came too late', () => {
  const line = (notification: string, error: string): string => JSON.stringify({ notification, error, msg: 'notify' });
  const late = 'no answer within timeout_seconds (2 s)';
  const lines = [line('a:succeeded', late), line('b:failed', 'status 503'), line('a:succeeded', late), 'cut {"msg'];
  expect(unansweredOf(lines.join('\n'))).toEqual(new Map([['a:succeeded', 2]]));
});

describe('the ledger', () => {
  it('knows what was expected', () => {
    expect(isAmong('conversion_failed:corrupt', ['succeeded', 'conversion_failed'])).toBe(true);
    expect(isAmong('conversion_failed:corrupt', ['conversion_failed:unsafe'])).toBe(false);
    expect(isAmong('conversion_failed_badly', ['conversion_failed'])).toBe(false);
    expect(isAmong('anything', ['*'])).toBe(true);
    const ledger = new Ledger();
    expect(ledger.note('a', 'succeeded', ['succeeded'])).toBe(true);
    expect(ledger.note('a', 'internal_error', ['succeeded'], 'why')).toBe(false);
    expect(ledger.unexpected).toEqual([{ scenario: 'a', outcome: 'internal_error', isExpected: false, detail: 'why' }]);
    expect(ledger.requests).toBe(2);
  });

  it('names scenarios that never succeeded though they were tried often', () => {
    const ledger = new Ledger();
    for (let count = 0; count < 30; count += 1) {
      ledger.note('stream', 'server_busy', ['succeeded', 'server_busy']);
      ledger.note('dir', count === 7 ? 'succeeded' : 'conflict', ['*', 'succeeded']);
      ledger.note('wrong', 'not_found', ['not_found']);
      ledger.note('stopped on purpose', 'cancelled', ['succeeded', 'cancelled']);
    }
    ledger.note('rare', 'server_busy', ['succeeded', 'server_busy']);
    expect(ledger.barren()).toEqual(['stream: never succeeded, but server_busy']);
    expect(ledger.unexpected).toEqual([]);
  });

  it('names jobs that were lost, and counters that differ', () => {
    const ledger = new Ledger();
    const see = (id: string, state: string): void => ledger.see({ id, state, from: 'ofd', to: 'pdf' });
    see('a', 'running');
    see('a', 'succeeded');
    see('b', 'failed');
    see('c', 'cancelled');
    ledger.earlierEnds.push({ id: 'a', state: 'failed', from: 'ofd', to: 'pdf' });
    const counter = (state: string, count: number): string =>
      `ofd_conversions_total{from="ofd",to="pdf",state="${state}"} ${count}`;
    const metrics = (...lines: string[]): ReadonlyMap<string, number> => metricsOf(lines.join('\n'));
    expect(ledger.differences(metrics('# HELP', counter('succeeded', 1), counter('failed', 2)))).toEqual([]);
    expect(ledger.lost()).toEqual([]);
    expect(ledger.differences(metrics(counter('succeeded', 2)))).toEqual([
      expect.stringContaining('state="failed"}: the service counts 0, its clients saw 2'),
      expect.stringContaining('state="succeeded"}: the service counts 2, its clients saw 1'),
    ]);
    see('d', 'queued');
    ledger.promised.set('e', { scenario: 'dir', expected: ['succeeded'] });
    expect(ledger.lost()).toEqual(['d: queued', 'e: never in the list']);
  });

  it('calls the end of a job and a refusal by the same words', () => {
    const job = { id: 'a', to: 'pdf' };
    expect(outcomeOfJob({ ...job, state: 'succeeded' })).toBe('succeeded');
    expect(outcomeOfJob({ ...job, state: 'failed', error_code: 'conflict' })).toBe('conflict');
    const failed = { ...job, state: 'failed', error_code: 'conversion_failed', reason: 'corrupt' };
    expect(outcomeOfJob(failed)).toBe('conversion_failed:corrupt');
    expect(outcomeOfJob(undefined)).toBe('never_ended');
    const answer = { status: 422, headers: new Headers(), bytes: Buffer.alloc(0) };
    const json = { code: 'conversion_failed', reason: 'corrupt' };
    expect(outcomeOfAnswer({ ...answer, json })).toBe('conversion_failed:corrupt');
    expect(outcomeOfAnswer({ ...answer, json: {} })).toBe('status 422');
  });
});

describe('what the kernel tells', () => {
  it('of a process and of those below it', async () => {
    const before = sampleProcess(process.pid);
    const descriptors = Array.from({ length: 20 }, () => openSync('/dev/null', 'r'));
    const child = spawn('sh', ['-c', 'sleep 30 & sleep 30'], { stdio: ['ignore', 'ignore', 'ignore'] });
    onTestFinished(() => {
      for (const { pid } of descendantsOf(child.pid as number)) process.kill(pid, 'SIGKILL');
      child.kill('SIGKILL');
    });
    while (descendantsOf(process.pid).length < before.children + 3) await new Promise((then) => setTimeout(then, 20));
    const after = sampleProcess(process.pid);
    for (const descriptor of descriptors) closeSync(descriptor);
    expect(after.descriptors - before.descriptors).toBeGreaterThanOrEqual(20);
    expect(after.children - before.children).toBe(3);
    expect(after.childrenMib).toBeGreaterThan(before.childrenMib);
    expect(after.residentMib).toBeGreaterThan(20);
    expect(after.zombies).toBe(0);
  });

  it('a child that nobody waited for is a zombie', async () => {
    // The shell becomes a program that waits for no child.
    const child = spawn('sh', ['-c', 'sleep 0.1 & exec tail -f /dev/null'], { stdio: 'ignore' });
    onTestFinished(() => {
      child.kill('SIGKILL');
    });
    while (sampleProcess(child.pid as number).zombies === 0) await new Promise((then) => setTimeout(then, 20));
    expect(sampleProcess(child.pid as number)).toMatchObject({ children: 1, zombies: 1 });
  });

  it('of files', () => {
    const folder = temporaryFolder('soak');
    onTestFinished(folder.remove);
    mkdirSync(join(folder.path, 'a/b'), { recursive: true });
    writeFileSync(join(folder.path, 'a/b/c'), Buffer.alloc(1024 * 1024));
    expect(entriesBelow(folder.path)).toEqual(['a', 'a/b', 'a/b/c']);
    expect(entriesBelow(join(folder.path, 'none'))).toEqual([]);
    expect(mibOf(join(folder.path, 'a/b/c'), join(folder.path, 'none'))).toBe(1);
  });
});
