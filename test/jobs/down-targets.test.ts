// Which jobs a claim leaves alone while a remote target does not answer.
import { beforeEach, describe, expect, it } from 'vitest';
import { DownTargets, placeOf } from '../../src/jobs/down-targets.js';
import type { Attempt, Outcome } from '../../src/jobs/job.js';
import { failed, newJob, succeeded } from '../support/jobs.js';

const NOW = 1_700_000_000_000;
const PLACE = 's3/archive';

let changes: [string, boolean][];
let targets: DownTargets;
let jobs = 0;

beforeEach(() => {
  changes = [];
  targets = new DownTargets({ onChange: (place, isDown) => changes.push([place, isDown]) });
});

function attemptAt(remote: { kind: string; target: string } | undefined): Attempt {
  const { request } = newJob();
  const output = remote ? { ...request.output, kind: remote.kind, remote: { target: remote.target } } : request.output;
  jobs += 1;
  return { job: { id: `job${jobs}`, request: { ...request, output } }, number: 1, failedRuns: 0 } as Attempt;
}

const archive = (): Attempt => attemptAt({ kind: 's3', target: 'archive' });
const silent: Outcome = { ...failed({ errorCode: 'sink_unreachable' }), cameToDeliver: true };
const except = (nowMs: number): readonly string[] => {
  const turn = targets.turn(nowMs);
  turn.end(undefined);
  return turn.exceptPlaces;
};

it('tells places apart by kind and target', () => {
  expect(placeOf(archive().job)).toBe(PLACE);
  expect(placeOf(attemptAt(undefined).job)).toBe('dir');
});

it('leaves a target alone for as long as the run took that found it silent', () => {
  expect(except(NOW)).toEqual([]);
  targets.runEnded(archive(), silent, 30_000, NOW);
  expect(except(NOW + 29_999)).toEqual([PLACE]);
  expect(except(NOW + 30_000)).toEqual([]);
  expect(targets.list()).toEqual([{ place: PLACE, sinceMs: NOW }]);
});

it('waits no longer than any wait is, also where the clock was set back', () => {
  targets.runEnded(archive(), silent, 24 * 3_600_000, NOW);
  expect(except(NOW + 599_999)).toEqual([PLACE]);
  expect(except(NOW + 600_000)).toEqual([]);
  expect(except(NOW - 3_600_000)).toEqual([]);
});

describe('a target whose time is up', () => {
  beforeEach(() => targets.runEnded(archive(), silent, 1000, NOW));

  it('is for one claim at a time, and for the run that it brings', () => {
    const first = targets.turn(NOW + 1000);
    expect([first.exceptPlaces, targets.turn(NOW + 1000).exceptPlaces]).toEqual([[], [PLACE]]);
    const probe = archive();
    first.end(probe);
    expect(except(NOW + 90_000)).toEqual([PLACE]);
    targets.runEnded(probe, silent, 4000, NOW + 90_000);
    expect(except(NOW + 93_999)).toEqual([PLACE]);
    expect(except(NOW + 94_000)).toEqual([]);
    expect(targets.list()).toEqual([{ place: PLACE, sinceMs: NOW }]);
  });

  it('is for the next claim where the first brought another job, or none, or failed', () => {
    for (const brought of [attemptAt(undefined), attemptAt({ kind: 's3', target: 'other' }), undefined]) {
      const turn = targets.turn(NOW + 1000);
      turn.end(brought);
      expect(turn.exceptPlaces).toEqual([]);
    }
  });

  it('stays down where the run was cancelled, or did not come to deliver', () => {
    const noProduct: Outcome = failed({ errorCode: 'conversion_failed' });
    const tooLarge: Outcome = { ...failed({ errorCode: 'output_too_large' }), cameToDeliver: true };
    for (const outcome of [{ kind: 'cancelled' } as const, noProduct, tooLarge]) {
      const turn = targets.turn(NOW + 1000);
      const probe = archive();
      turn.end(probe);
      expect(except(NOW + 1000)).toEqual([PLACE]);
      targets.runEnded(probe, outcome, 10, NOW + 1000);
      expect([except(NOW + 1000), targets.list().length]).toEqual([[], 1]);
    }
  });

  it('keeps its one run while others that began before end', () => {
    const turn = targets.turn(NOW + 1000);
    turn.end(archive());
    targets.runEnded(archive(), silent, 10, NOW + 2000);
    expect(except(NOW + 3000)).toEqual([PLACE]);
  });

  it.each(['sink_refused', 'conflict', 'insufficient_storage', 'checksum_mismatch'] as const)(
    'is there again with a run that it answered: %s',
    (errorCode) => {
      targets.runEnded(archive(), { ...failed({ errorCode }), cameToDeliver: true }, 10, NOW);
      expect([except(NOW), targets.list()]).toEqual([[], []]);
    },
  );

  it('is there again with a run that delivered, and both are told once', () => {
    targets.runEnded(archive(), silent, 1000, NOW);
    for (let run = 0; run < 2; run += 1) targets.runEnded(archive(), succeeded(), 10, NOW);
    expect(except(NOW)).toEqual([]);
    expect(changes).toEqual([
      [PLACE, true],
      [PLACE, false],
    ]);
  });
});

it('counts a run whose time was up while it delivered, and none of a folder here', () => {
  targets.runEnded(attemptAt(undefined), silent, 1000, NOW);
  targets.runEnded(archive(), failed({ errorCode: 'conversion_timeout' }), 1000, NOW);
  expect(targets.list()).toEqual([]);
  targets.runEnded(archive(), { ...failed({ errorCode: 'conversion_timeout' }), cameToDeliver: true }, 1000, NOW);
  expect(targets.list()).toEqual([{ place: PLACE, sinceMs: NOW }]);
});
