/** One step by one engine, in the thread that calls: names of the files, the result. */
import type { FontBook } from '../../fonts/index.js';
import type { ConversionHooks, ConversionResult, StepTask } from '../converter-types.js';
import { documentName, OutputFiles, pageName } from '../output-files.js';
import type { Engine } from './engine.js';

/** Rejects as Engine.convert does. */
export async function runStep(
  engine: Engine,
  task: StepTask,
  fonts: FontBook,
  hooks: ConversionHooks,
): Promise<ConversionResult> {
  const output = new OutputFiles(
    task.outputDirectory,
    {
      document: () => documentName(task.baseName, task.to),
      page: (pageNumber) => pageName(task.baseName, pageNumber, task.to),
    },
    task.maxOutputBytes,
  );
  const { pages, warnings, fromActual } = await engine.convert({
    inputPath: task.inputPath,
    from: task.from,
    to: task.to,
    options: task.options,
    pagesField: task.pagesField ?? 'output.options.pages',
    output,
    scratchDirectory: task.scratchDirectory,
    fonts,
    signal: hooks.signal,
    log: (bytes) => hooks.log?.(bytes),
    onOpened: (format) => hooks.onOpened?.(format),
    onProgress: (done, total) => hooks.onProgress?.(done, total),
    onAlive: () => hooks.onAlive?.(),
  });
  return { fromActual: fromActual ?? task.from, pages, files: await output.finish(), warnings };
}
