// Conversions over several engines: what each step is given, what the whole tells, what is left on disk.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ConversionTask, StepRunner, StepTask } from '../../src/convert/converter-types.js';
import type { EngineName } from '../../src/convert/plan.js';
import { RouteConverter } from '../../src/convert/route-converter.js';

let folder: string;
const signal = new AbortController().signal;
let steps: (StepTask & { readonly inputText: string })[];
let failure: Error | undefined;

/** Makes a file that says what it was made of. */
const runner: StepRunner = {
  async run(task, hooks) {
    steps.push({ ...task, inputText: readFileSync(task.inputPath, 'utf8') });
    expect(existsSync(task.scratchDirectory)).toBe(true);
    writeFileSync(join(task.scratchDirectory, 'left.tmp'), '');
    hooks.onOpened?.(task.from);
    hooks.onProgress?.(1, 2);
    if (failure && task.engine === 'pdf') throw failure;
    const name = `${task.baseName ?? 'output'}.${task.to}`;
    const path = join(task.outputDirectory, name);
    writeFileSync(path, `${readFileSync(task.inputPath, 'utf8')}>${task.to}`);
    const file = { name, path, sizeBytes: 1, sha256: '' };
    const warnings = [{ code: 'font_substituted', message: task.engine }];
    return { fromActual: task.from === 'doc' ? 'docx' : task.from, pages: steps.length, files: [file], warnings };
  },
};

const NAMES: readonly EngineName[] = ['ofd', 'pdf', 'pictures', 'markdown', 'libreoffice', 'chromium'];
const converter = new RouteConverter(new Map(NAMES.map((name) => [name, runner])), new Map());

function task(from: ConversionTask['from'], changes: Partial<ConversionTask> = {}): ConversionTask {
  const outputDirectory = join(folder, 'out');
  const scratchDirectory = join(folder, 'scratch');
  mkdirSync(outputDirectory, { recursive: true });
  mkdirSync(scratchDirectory, { recursive: true });
  const inputPath = join(folder, 'input');
  writeFileSync(inputPath, 'in');
  return {
    inputPath,
    from,
    to: 'png',
    options: {},
    outputDirectory,
    scratchDirectory,
    baseName: 'a',
    maxOutputBytes: 7,
    ...changes,
  };
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'route-'));
  steps = [];
  failure = undefined;
});

afterEach(() => rmSync(folder, { recursive: true }));

it('hands each product to the next engine and gives the last one', async () => {
  const opened: string[] = [];
  const progress: number[] = [];
  let alive = 0;
  const result = await converter.run(task('md'), {
    signal,
    onOpened: (format) => opened.push(format),
    onProgress: (done) => progress.push(done),
    onAlive: () => {
      alive += 1;
    },
  });
  expect(steps.map(({ engine, inputText }) => `${engine} ${inputText}`)).toEqual([
    'markdown in',
    'chromium in>html',
    'pdf in>html>pdf',
  ]);
  expect(result).toMatchObject({ fromActual: 'md', pages: 3, files: [{ name: 'a.png' }] });
  expect(readFileSync(join(folder, 'out', 'a.png'), 'utf8')).toBe('in>html>pdf>png');
  expect(result.warnings.map(({ message }) => message)).toEqual(['markdown', 'chromium', 'pdf']);
  expect([opened, progress, alive]).toEqual([['md'], [1], 2]);
  expect(readdirSync(join(folder, 'scratch'))).toEqual([]);
});

it('tells what the first engine opened the input as', async () => {
  expect(await converter.run(task('doc'), { signal })).toMatchObject({ fromActual: 'docx', pages: 2 });
});

it('gives the limit of the product and the options to the step that they are meant for', async () => {
  await converter.run(task('docx', { options: { dpi: 200, pages: '2', failOn: ['image_missing'] } }), { signal });
  expect(steps.map(({ options }) => options)).toEqual([
    { failOn: ['image_missing'] },
    { dpi: 200, pages: '2', failOn: ['image_missing'] },
  ]);
  expect(steps[0]?.maxOutputBytes).toBeGreaterThan(1e9);
  expect(steps[1]?.maxOutputBytes).toBe(7);
});

it('takes chosen pages out of a PDF that an engine makes as a whole', async () => {
  await converter.run(task('docx', { to: 'pdf', options: { pages: '2' } }), { signal });
  expect(steps.map(({ engine, options }) => [engine, options])).toEqual([
    ['libreoffice', {}],
    ['pdf', { pages: '2' }],
  ]);
});

it('a step that fails is the failure of the whole, and leaves no folder of its own', async () => {
  failure = new Error('broken');
  await expect(converter.run(task('docx'), { signal })).rejects.toBe(failure);
  expect(readdirSync(join(folder, 'scratch'))).toEqual(['product-1.pdf']);
});
