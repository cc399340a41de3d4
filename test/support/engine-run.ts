// Runs one engine in this thread, its products in a folder.
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ConversionOptions } from '../../src/convert/converter-types.js';
import type { Engine } from '../../src/convert/engines/engine.js';
import { documentName, OutputFiles, pageName } from '../../src/convert/output-files.js';
import type { Diagnostic } from '../../src/display/list.js';
import type { FontBook } from '../../src/fonts/index.js';
import { systemFontBook } from '../../src/fonts/system.js';
import type { FormatId } from '../../src/formats.js';

export interface EngineProducts {
  readonly pages: number;
  readonly warnings: readonly Diagnostic[];
  /** Paths by name. */
  readonly files: ReadonlyMap<string, string>;
  readonly opened: readonly FormatId[];
  readonly progress: readonly string[];
  bytes(name: string): Buffer;
  text(name: string): string;
}

const machineFonts = systemFontBook([]);

export async function runEngine(
  engine: Engine,
  input: Uint8Array,
  pair: { readonly from: FormatId; readonly to: FormatId },
  folder: string,
  options: ConversionOptions = {},
  fonts: FontBook = machineFonts,
): Promise<EngineProducts> {
  const own = mkdtempSync(join(folder, 'run-'));
  const inputPath = join(own, `input.${pair.from}`);
  writeFileSync(inputPath, input);
  const output = new OutputFiles(own, {
    document: () => documentName(undefined, pair.to),
    page: (pageNumber) => pageName(undefined, pageNumber, pair.to),
  });
  const opened: FormatId[] = [];
  const progress: string[] = [];
  const result = await engine.convert({
    ...pair,
    inputPath,
    options,
    pagesField: 'output.options.pages',
    output,
    scratchDirectory: own,
    fonts,
    signal: new AbortController().signal,
    log: () => undefined,
    onOpened: (format) => opened.push(format),
    onProgress: (done, total) => progress.push(`${done}/${total}`),
    onAlive: () => undefined,
  });
  const files = new Map((await output.finish()).map(({ name, path }) => [name, path]));
  const bytes = (name: string): Buffer => readFileSync(files.get(name)!);
  return { ...result, files, opened, progress, bytes, text: (name) => bytes(name).toString('utf8') };
}
