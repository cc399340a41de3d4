/** What a soak must show, with the reason of each bound, and how samples are judged. */
import type { Sample } from './samples.js';

/** A slope over less time says nothing: caches still fill, and single large documents weigh more than an hour does. */
export const SHORTEST_JUDGED_SLOPE_MINUTES = 20;

export const BOUNDS = {
  /**
   * At rest, as all slopes: under load memory follows what is converted at that instant, by 100 MiB and more, and how busy
   * others keep the machine. A leak of 8 KiB a request would be over 50 at two requests a second.
   */
  residentSlopeMibAnHour: 60,
  /** The heap of the main thread holds no documents: what grows there is kept by mistake. */
  heapSlopeMibAnHour: 10,
  /** Threads, engines and connections come and go; a descriptor lost once a minute would be 60. */
  descriptorSlopeAnHour: 30,
  /** What an idle service holds beyond a fresh one: up to eight threads of some six descriptors, a browser's pipes. */
  descriptorsAboveStart: 80,
  /** Each child is waited for when it has ended; one may be seen in the instant before. */
  zombiesAtEnd: 0,
  /** Each workspace goes with its attempt, each upload with its request. */
  tempEntriesAtEnd: 0,
  /** An answer without any work, while the machine gives the process its turn... */
  healthP99Ms: 250,
  /** ...which it does late when it is busy with others: so many times what a timer of the probe is late. */
  healthPerProbeLateness: 4,
  /** Records live for `retention` and are looked for every 30 s: rows of more than so many times that are too many. */
  jobRowsPerRetention: 2,
} as const;

/** Least squares: the slope, and how well it is known (standard error, neighbours taken as independent). */
export function slopeOf(points: readonly (readonly [x: number, y: number])[]): { slope: number; error: number } {
  const count = points.length;
  if (count < 3) return { slope: 0, error: Number.POSITIVE_INFINITY };
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / count;
  const meanX = mean(points.map(([x]) => x));
  const meanY = mean(points.map(([, y]) => y));
  const spread = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  if (spread === 0) return { slope: 0, error: Number.POSITIVE_INFINITY };
  const slope = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0) / spread;
  const rest = points.reduce((sum, [x, y]) => sum + (y - meanY - slope * (x - meanX)) ** 2, 0);
  return { slope, error: Math.sqrt(rest / (count - 2) / spread) };
}

/** What is at most so large for `share` of the values; 0 of none. */
export function percentileOf(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? 0;
}

/** The last two thirds: what comes before warms up. */
export function afterWarmUp(samples: readonly Sample[]): readonly Sample[] {
  return samples.slice(Math.floor(samples.length / 3));
}

export interface Trend {
  /** An hour. */
  readonly slope: number;
  readonly error: number;
  readonly mean: number;
  readonly highest: number;
}

export function trendOf(samples: readonly Sample[], measure: (sample: Sample) => number): Trend {
  const kept = afterWarmUp(samples);
  const values = kept.map(measure);
  const { slope, error } = slopeOf(kept.map((sample) => [sample.seconds / 3600, measure(sample)]));
  return {
    slope,
    error,
    mean: values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length),
    highest: Math.max(0, ...values),
  };
}

export interface Measured {
  /** While there was load. */
  readonly samples: readonly Sample[];
  /** When nothing had been asked for for a minute, the last of them at the end. */
  readonly rests: readonly Sample[];
  /** Before the first request. */
  readonly atStart: Sample;
  /** When all was done and the engines had gone to rest. */
  readonly atEnd: Sample;
  /** Records of ended jobs are kept so long. */
  readonly retentionSeconds: number;
  /** Requests that make a job. */
  readonly jobsASecond: number;
}

/** Every bound that is broken, in words; none where all is well. */
export function brokenBounds({ samples, rests, atStart, atEnd, retentionSeconds, jobsASecond }: Measured): string[] {
  const broken: string[] = [];
  const check = (isRight: boolean, text: string): void => {
    if (!isRight) broken.push(text);
  };
  const minutes = (samples.at(-1)?.seconds ?? 0) / 60;
  if (minutes >= SHORTEST_JUDGED_SLOPE_MINUTES) {
    for (const [name, measure, bound] of [
      ['resident memory', (sample) => sample.residentMib, BOUNDS.residentSlopeMibAnHour],
      ['heap of the main thread', (sample) => sample.heapMib, BOUNDS.heapSlopeMibAnHour],
      ['descriptors', (sample) => sample.descriptors, BOUNDS.descriptorSlopeAnHour],
    ] as readonly (readonly [string, (sample: Sample) => number, number])[]) {
      const { slope } = trendOf(rests, measure);
      check(slope <= bound, `${name}: grows by ${slope.toFixed(1)} an hour, more than ${bound}`);
    }
  }
  const most = atStart.descriptors + BOUNDS.descriptorsAboveStart;
  check(atEnd.descriptors <= most, `descriptors: ${atEnd.descriptors} at the end, more than ${most}`);
  check(atEnd.zombies <= BOUNDS.zombiesAtEnd, `zombies: ${atEnd.zombies} at the end`);
  check(atEnd.tempEntries <= BOUNDS.tempEntriesAtEnd, `temp_dir: ${atEnd.tempEntries} entries left at the end`);
  const lateness = percentileOf(
    samples.map(({ probeP99Ms }) => probeP99Ms),
    0.5,
  );
  const health = percentileOf(
    samples.map(({ healthP99Ms }) => healthP99Ms),
    0.5,
  );
  const allowed = BOUNDS.healthP99Ms + BOUNDS.healthPerProbeLateness * lateness;
  check(
    health <= allowed,
    `/healthz: the median of the p99 is ${health.toFixed(0)} ms, more than ${allowed.toFixed(0)} ms`,
  );
  const rows = Math.ceil(BOUNDS.jobRowsPerRetention * jobsASecond * (retentionSeconds + 60)) + 100;
  const worst = Math.max(0, ...samples.map(({ jobRows }) => jobRows));
  check(worst <= rows, `jobs: ${worst} records at a time, more than ${rows}: old ones are not removed`);
  return broken;
}
