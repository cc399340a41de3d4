/**
 * The engines of a conversion in the foreground: in a thread of this process, so that a signal is heard however busy it is;
 * programs beside it.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { getHeapStatistics } from 'node:v8';
import { ThreadConverter } from '../convert/converter.js';
import type { Converter, StepRunner } from '../convert/converter-types.js';
import { IN_PROCESS_ENGINES } from '../convert/engines/in-process.js';
import { findPrograms, type ProgramSettings } from '../convert/engines/programs.js';
import { runStep } from '../convert/engines/run-step.js';
import type { EngineName } from '../convert/plan.js';
import { RouteConverter } from '../convert/route-converter.js';
import { systemFontBook } from '../fonts/system.js';

export type ProgramPaths = Pick<ProgramSettings, 'sofficePath' | 'chromePath' | 'chromeNoSandbox'>;

export interface OpenEngines {
  readonly converter: Converter;
  /** Ends every process. */
  close(): Promise<void>;
}

/** @param scratch an existing private folder */
export function openEngines(fontDirs: readonly string[], paths: ProgramPaths, scratch: string): OpenEngines {
  const profileRoot = join(scratch, 'profiles');
  mkdirSync(profileRoot);
  const programs = findPrograms({ ...paths, profileRoot, maxParallel: 1, fontDirs });
  const fonts = systemFontBook(fontDirs);
  const heapMb = Math.floor(getHeapStatistics().heap_size_limit / 2 ** 20);
  const thread = new ThreadConverter({ maxThreads: 1, heapMb, fontDirs, isForeground: true });
  const runners = new Map<EngineName, StepRunner>(IN_PROCESS_ENGINES.map((name) => [name, thread]));
  for (const [name, engine] of programs.engines) {
    runners.set(name, { run: (task, hooks) => runStep(engine, task, fonts, hooks) });
  }
  return {
    converter: new RouteConverter(runners, programs.absent),
    close: async () => void (await Promise.all([thread.close(), programs.close()])),
  };
}
