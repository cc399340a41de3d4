/** What the clients of a soak asked for, what they expected of it, and what became of it. */

/** One request with its end, as `succeeded`, `cancelled`, or an error code with its reason: `conversion_failed:corrupt`. */
export interface Entry {
  readonly scenario: string;
  readonly outcome: string;
  readonly isExpected: boolean;
  readonly detail: string;
}

/** Ends of one job as its list told them. */
export interface SeenJob {
  readonly id: string;
  readonly state: string;
  readonly from: string;
  readonly to: string;
}

/** Of a scenario that is tried so often something succeeds. */
const OFTEN = 20;

const ENDED: ReadonlySet<string> = new Set(['succeeded', 'failed', 'cancelled']);

/** Whether an outcome is among the expected ones; `conversion_failed` stands for every reason, `*` for all. */
export function isAmong(outcome: string, expected: readonly string[]): boolean {
  return expected.some((name) => name === '*' || outcome === name || outcome.startsWith(`${name}:`));
}

export class Ledger {
  readonly unexpected: Entry[] = [];
  /** scenario → outcome → how often. */
  readonly outcomes = new Map<string, Map<string, number>>();
  /** Jobs by id, as last seen. */
  readonly jobs = new Map<string, SeenJob>();
  /** Ends of jobs that were then queued again by hand: counted by the service, and no longer in the job. */
  readonly earlierEnds: SeenJob[] = [];
  /** Jobs that must end so. */
  readonly promised = new Map<string, { readonly scenario: string; readonly expected: readonly string[] }>();

  /** Scenarios in which a request was expected to succeed, or allowed to, and nobody stopped it on purpose. */
  readonly #hopeful = new Set<string>();

  /** Writes down how a request ended. */
  note(scenario: string, outcome: string, expected: readonly string[], detail = ''): boolean {
    const outcomes = this.outcomes.get(scenario) ?? new Map<string, number>();
    this.outcomes.set(scenario, outcomes);
    if (expected.includes('succeeded') && !expected.includes('cancelled')) this.#hopeful.add(scenario);
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    const isExpected = isAmong(outcome, expected);
    if (!isExpected) this.unexpected.push({ scenario, outcome, isExpected, detail: detail.slice(0, 400) });
    return isExpected;
  }

  /** Takes a page of the list of jobs. */
  see(job: SeenJob): void {
    this.jobs.set(job.id, job);
  }

  get requests(): number {
    return [...this.outcomes.values()].flatMap((counts) => [...counts.values()]).reduce((sum, count) => sum + count, 0);
  }

  /** Scenarios that could succeed, were tried often, and never did: everything may be refused for a good reason. */
  barren(): string[] {
    const isBarren = (outcomes: ReadonlyMap<string, number>): boolean =>
      [...outcomes.values()].reduce((sum, count) => sum + count, 0) >= OFTEN && !outcomes.has('succeeded');
    return [...this.outcomes]
      .filter(([scenario, outcomes]) => this.#hopeful.has(scenario) && isBarren(outcomes))
      .map(([scenario, outcomes]) => `${scenario}: never succeeded, but ${[...outcomes.keys()].join(', ')}`);
  }

  /** Jobs that were never seen to end, or never seen at all. */
  lost(): string[] {
    const open = [...this.jobs.values()]
      .filter(({ state }) => !ENDED.has(state))
      .map(({ id, state }) => `${id}: ${state}`);
    const unseen = [...this.promised.keys()].filter((id) => !this.jobs.has(id)).map((id) => `${id}: never in the list`);
    return [...open, ...unseen];
  }

  /** The service's counters of ended jobs beside what was seen: `from to state: theirs, ours`, where they differ. */
  differences(metrics: ReadonlyMap<string, number>): string[] {
    const ours = new Map<string, number>();
    const all = [...this.jobs.values(), ...this.earlierEnds];
    for (const { from, to, state } of all.filter((job) => job.state === 'succeeded' || job.state === 'failed')) {
      const name = `ofd_conversions_total{from="${from}",to="${to}",state="${state}"}`;
      ours.set(name, (ours.get(name) ?? 0) + 1);
    }
    const theirs = new Map([...metrics].filter(([name]) => name.startsWith('ofd_conversions_total{')));
    const names = [...new Set([...ours.keys(), ...theirs.keys()])].sort();
    return names
      .filter((name) => (theirs.get(name) ?? 0) !== (ours.get(name) ?? 0))
      .map((name) => `${name}: the service counts ${theirs.get(name) ?? 0}, its clients saw ${ours.get(name) ?? 0}`);
  }
}
