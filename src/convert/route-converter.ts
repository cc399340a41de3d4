/** A conversion from one format to another over as many engines as that takes (contract B1). */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ServiceError } from '../errors.js';
import type { FormatId } from '../formats.js';
import type {
  ConversionHooks,
  ConversionOptions,
  ConversionResult,
  ConversionTask,
  Converter,
  ProducedFile,
  StepRunner,
  StepTask,
} from './converter-types.js';
import { type AbsentEngines, type EngineName, planFor, type Step } from './plan.js';
import { removeFolder } from './workspace.js';

/** Of what one engine makes for the next. */
const MAX_INTERMEDIATE_BYTES = 4 * 1024 ** 3;

/** The steps that have a use for an option where a conversion takes several: by place or by engine; the last one for all others. */
const OPTION_STEPS: Partial<Record<keyof ConversionOptions, 'first' | 'every' | EngineName>> = {
  failOn: 'every',
  password: 'first',
  paper: 'chromium',
  margins: 'chromium',
  landscape: 'chromium',
  printBackground: 'chromium',
};

export class RouteConverter implements Converter {
  readonly #runners: ReadonlyMap<EngineName, StepRunner>;
  readonly #absent: AbsentEngines;

  /** @param runners of every engine that is not absent */
  constructor(runners: ReadonlyMap<EngineName, StepRunner>, absent: AbsentEngines) {
    this.#runners = runners;
    this.#absent = absent;
  }

  async run(task: ConversionTask, hooks: ConversionHooks): Promise<ConversionResult> {
    if (task.from === undefined) throw new ServiceError('internal_error', 'The format of the input was not decided');
    const steps = stepsFor(planFor(task.from, task.to, this.#absent).steps, task.options);
    const warnings: ConversionResult['warnings'][number][] = [];
    let intermediate: ProducedFile | undefined;
    let fromActual: FormatId | undefined;
    for (const index of steps.keys()) {
      const result = await this.#runStep(task, steps, index, intermediate?.path ?? task.inputPath, hooks);
      warnings.push(...result.warnings);
      fromActual ??= result.fromActual;
      if (intermediate) await rm(intermediate.path, { force: true });
      if (index === steps.length - 1) return { ...result, fromActual, warnings };
      intermediate = result.files[0];
    }
    throw new ServiceError('internal_error', `${task.from} to ${task.to} takes no step`);
  }

  async #runStep(
    task: ConversionTask,
    steps: readonly Step[],
    index: number,
    inputPath: string,
    hooks: ConversionHooks,
  ): Promise<ConversionResult> {
    const { engine, from, to } = steps[index] as Step;
    const isLast = index === steps.length - 1;
    const options = optionsOf(task.options, engine, index === 0, isLast);
    const runner = this.#runners.get(engine);
    if (!runner) throw new ServiceError('internal_error', `The engine ${engine} was not started`);
    const scratchDirectory = join(task.scratchDirectory, `step-${index + 1}`);
    await mkdir(scratchDirectory, { mode: 0o700 });
    try {
      const own: StepTask = { ...task, engine, from, to, inputPath, options, scratchDirectory };
      return isLast
        ? await runner.run(own, hooksOf(hooks, index === 0, true))
        : await runner.run({ ...own, ...intermediateOf(task, index) }, hooksOf(hooks, index === 0, false));
    } finally {
      await removeFolder(scratchDirectory);
    }
  }
}

/** Where a product lies that is not the last one. */
function intermediateOf(task: ConversionTask, index: number): Partial<StepTask> {
  return {
    outputDirectory: task.scratchDirectory,
    baseName: `product-${index + 1}`,
    maxOutputBytes: MAX_INTERMEDIATE_BYTES,
  };
}

/** The first step tells of the input, the last one of pages; what the others tell is a sign of life. */
function hooksOf(hooks: ConversionHooks, isFirst: boolean, isLast: boolean): ConversionHooks {
  return {
    signal: hooks.signal,
    onOpened: (format) => isFirst && hooks.onOpened?.(format),
    onProgress: (done, total) => (isLast ? hooks.onProgress?.(done, total) : hooks.onAlive?.()),
    onAlive: () => hooks.onAlive?.(),
    log: (bytes) => hooks.log?.(bytes),
  };
}

/** Pages are chosen by an engine that knows pages: where the last one makes a PDF as a whole, the PDF engine takes them out of it. */
function stepsFor(steps: readonly Step[], options: ConversionOptions): readonly Step[] {
  const last = steps.at(-1);
  const choosesPages = last?.engine === 'ofd' || last?.engine === 'pdf';
  return options.pages === undefined || choosesPages || last?.to !== 'pdf'
    ? steps
    : [...steps, { engine: 'pdf', from: 'pdf', to: 'pdf' }];
}

function optionsOf(
  options: ConversionOptions,
  engine: EngineName,
  isFirst: boolean,
  isLast: boolean,
): ConversionOptions {
  const names = Object.keys(options) as (keyof ConversionOptions)[];
  const own = names.filter((name) => {
    const place = OPTION_STEPS[name];
    if (place === undefined) return isLast;
    return place === 'every' || (place === 'first' ? isFirst : place === engine);
  });
  return Object.fromEntries(own.map((name) => [name, options[name]])) as ConversionOptions;
}
