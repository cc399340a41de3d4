/** The engines of the service: worker threads for those that run in the process, programs for the rest. */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ThreadConverter } from '../convert/converter.js';
import type { Converter, StepRunner } from '../convert/converter-types.js';
import { IN_PROCESS_ENGINES } from '../convert/engines/in-process.js';
import { findPrograms } from '../convert/engines/programs.js';
import { runStep } from '../convert/engines/run-step.js';
import type { AbsentEngines, EngineName } from '../convert/plan.js';
import { RouteConverter } from '../convert/route-converter.js';
import { systemFontBook } from '../fonts/system.js';
import type { RunMetrics } from '../metrics/run-metrics.js';
import { residentLimitBytes } from './memory.js';
import type { Config } from './settings.js';

/** An engine that could not be made ready before its first conversion, which will try again. */
export interface ColdEngine {
  readonly engine: EngineName;
  readonly reason: string;
}

export interface Engines {
  readonly converter: Converter;
  readonly absent: AbsentEngines;
  /** Starts what conversions would wait for otherwise; gives what could not be started, and why. Never rejects. */
  warm(): Promise<readonly ColdEngine[]>;
  close(): Promise<void>;
}

/**
 * @param workspaceRoot swept: profiles of programs lie there; they go at the end, or with the next sweep
 */
export async function startEngines(config: Config, metrics: RunMetrics, workspaceRoot: string): Promise<Engines> {
  const profileRoot = join(workspaceRoot, 'profiles');
  await mkdir(profileRoot, { mode: 0o700 });
  // Workers of the lane, and as many streams.
  const threads = new ThreadConverter({
    maxThreads: 2 * config.fastWorkers,
    fontDirs: config.fontDirs,
    maxResidentBytes: residentLimitBytes(config.maxMemoryBytes),
    onThreadEnd: (reason) => metrics.engineEnded('threads', reason),
  });
  const programs = findPrograms({
    sofficePath: config.sofficePath,
    chromePath: config.chromePath,
    chromeNoSandbox: config.chromeNoSandbox,
    profileRoot,
    maxParallel: 2 * config.heavyWorkers,
    fontDirs: config.fontDirs,
    onEngineEnd: (engine, reason) => metrics.engineEnded(engine, reason),
  });
  const fonts = systemFontBook(config.fontDirs);
  const runners = new Map<EngineName, StepRunner>(IN_PROCESS_ENGINES.map((name) => [name, threads]));
  for (const [name, engine] of programs.engines) {
    runners.set(name, { run: (task, hooks) => runStep(engine, task, fonts, hooks) });
  }
  return {
    converter: new RouteConverter(runners, programs.absent),
    absent: programs.absent,
    warm: async () => {
      const work: [EngineName, Promise<void>][] = [['ofd', threads.warm(config.fastWorkers)]];
      for (const [name, engine] of programs.engines) if (engine.warm) work.push([name, engine.warm()]);
      const results = await Promise.all(
        work.map(([engine, warming]) =>
          warming.then(
            () => undefined,
            (error: Error): ColdEngine => ({ engine, reason: error.message }),
          ),
        ),
      );
      return results.filter((cold) => cold !== undefined);
    },
    close: async () => {
      await Promise.all([threads.close(), programs.close()]);
      // Left to the next sweep where temp_dir does not let it go: the end is as graceful.
      await rm(profileRoot, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
    },
  };
}
