/** What a soak prints: a line each minute, and the figures at the end. */
import { type Measured, trendOf } from './bounds.js';
import type { Ledger } from './ledger.js';
import type { Sample } from './samples.js';

const COLUMNS: readonly (readonly [title: string, width: number, value: (sample: Sample) => string])[] = [
  ['min', 6, ({ seconds }) => (seconds / 60).toFixed(1)],
  ['rss', 6, ({ residentMib }) => residentMib.toFixed(0)],
  ['heap', 5, ({ heapMib }) => heapMib.toFixed(0)],
  ['engines', 8, ({ childrenMib, children }) => `${childrenMib.toFixed(0)}/${children}`],
  ['thr', 4, ({ threads }) => String(threads)],
  ['fds', 4, ({ descriptors }) => String(descriptors)],
  ['sock', 5, ({ sockets }) => String(sockets)],
  ['zomb', 5, ({ zombies }) => String(zombies)],
  ['temp', 5, ({ tempEntries }) => String(tempEntries)],
  ['out', 6, ({ outputFiles }) => String(outputFiles)],
  ['rows', 5, ({ jobRows }) => String(jobRows)],
  ['db', 6, ({ databaseMib }) => databaseMib.toFixed(1)],
  ['queue', 6, ({ queued, running }) => `${queued}+${running}`],
  ['health', 7, ({ healthP99Ms }) => healthP99Ms.toFixed(0)],
  ['probe', 6, ({ probeP99Ms }) => probeP99Ms.toFixed(0)],
];

export function tableHead(): string {
  return `${COLUMNS.map(([title, width]) => title.padStart(width)).join(' ')}   requests unexpected`;
}

export function tableRow(sample: Sample, ledger: Ledger): string {
  const cells = COLUMNS.map(([, width, value]) => value(sample).padStart(width));
  return `${cells.join(' ')} ${String(ledger.requests).padStart(10)} ${String(ledger.unexpected.length).padStart(10)}`;
}

export function trends({ samples, rests }: Pick<Measured, 'samples' | 'rests'>): string[] {
  const rows: readonly (readonly [string, (sample: Sample) => number])[] = [
    ['resident memory, MiB', ({ residentMib }) => residentMib],
    ['heap of the main thread, MiB', ({ heapMib }) => heapMib],
    ['buffers of the main thread, MiB', ({ externalMib }) => externalMib],
    ['memory of engines, MiB', ({ childrenMib }) => childrenMib],
    ['threads', ({ threads }) => threads],
    ['descriptors', ({ descriptors }) => descriptors],
    ['database, MiB', ({ databaseMib }) => databaseMib],
  ];
  const text = (figure: number): string => figure.toFixed(1);
  return rows.map(([name, measure]) => {
    const load = trendOf(samples, measure);
    const rest = trendOf(rests, measure);
    return (
      `${name}: at rest ${text(rest.slope)} ± ${text(rest.error)} an hour, mean ${text(rest.mean)}; ` +
      `under load ${text(load.slope)} ± ${text(load.error)}, mean ${text(load.mean)}, highest ${text(load.highest)}`
    );
  });
}

export function outcomeLines(ledger: Ledger): string[] {
  return [...ledger.outcomes]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([scenario, outcomes]) => {
      const counts = [...outcomes].sort(([, a], [, b]) => b - a).map(([outcome, count]) => `${outcome} ${count}`);
      return `${scenario}: ${counts.join(', ')}`;
    });
}
