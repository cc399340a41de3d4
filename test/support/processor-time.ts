/** Time that the processor worked, for bounds that a busy machine must not break. */

/** Starts a clock; gives what reads it: milliseconds of this process's own work, of all its threads. */
export function processorClock(): () => number {
  const start = process.cpuUsage();
  return () => process.cpuUsage(start).user / 1000;
}
