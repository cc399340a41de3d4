/** Durations as Go writes them: "168h", "1h30m", "1.5s", "-2us", "0". */

const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

/** Milliseconds of a duration's text, or undefined where it is none. Negative ones are read as such. */
export function parseDuration(text: string): number | undefined {
  const signed = /^([+-]?)(.+)$/.exec(text.trim());
  if (!signed) return undefined;
  const [, sign, amount] = signed as unknown as [string, string, string];
  if (amount === '0') return 0;
  if (!/^(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/.test(amount)) return undefined;
  let totalMs = 0;
  for (const [, count, unit] of amount.matchAll(/(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)/gy)) {
    totalMs += Number(count) * (UNIT_MS[unit as string] as number);
  }
  return sign === '-' ? -totalMs : totalMs;
}

/** A duration's text in the largest units that fit: 5400000 → "1h30m". */
export function formatDuration(durationMs: number): string {
  if (durationMs === 0) return '0s';
  let rest = durationMs;
  let text = '';
  for (const unit of ['h', 'm', 's', 'ms'] as const) {
    const count = Math.floor(rest / (UNIT_MS[unit] as number));
    rest -= count * (UNIT_MS[unit] as number);
    if (count > 0) text += `${count}${unit}`;
  }
  return text;
}
