// The checks of test/cases/SCHEMA.md against our own engine, in a worker thread of this process; cases with ops about
// memory, time, exit codes and files left behind run the built program.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ThreadConverter } from '../../src/convert/converter.js';
import { ServiceError } from '../../src/errors.js';
import { pagesOfPdf, type Raster, rasterOfPdf, rasterOfSvg, readRaster, textOfPdf } from './rendering.js';

const PROGRAM = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

type Format = 'pdf' | 'png' | 'svg' | 'txt' | 'md';
const FORMATS: readonly Format[] = ['pdf', 'png', 'svg', 'txt', 'md'];
const PICTURES: readonly Format[] = ['png', 'pdf', 'svg'];
const TEXTS: readonly Format[] = ['txt', 'md', 'pdf'];
const OPS_OF_THE_PROGRAM = ['error_code', 'max_seconds', 'max_rss_mb', 'no_output_file', 'file_not_created'];

/** One entry of `checks`; which fields are there depends on `op`. */
export interface Check {
  readonly op: string;
  readonly level?: string;
  readonly to?: readonly Format[];
  readonly formats?: readonly Format[];
  readonly page: number;
  readonly x_mm: number;
  readonly y_mm: number;
  readonly w_mm: number;
  readonly h_mm: number;
  readonly rgb: readonly [number, number, number];
  readonly tolerance: number;
  readonly tolerance_mm: number;
  readonly w: number;
  readonly h: number;
  readonly n: number;
  readonly min_ink: number;
  readonly max_ink: number;
  readonly text: string;
  readonly normalise?: 'nospace';
  readonly items: readonly string[];
  readonly lines?: readonly string[];
  readonly paragraphs?: readonly string[];
  readonly text_any: readonly string[];
  readonly error_class: string;
  readonly max_seconds?: number;
  readonly seconds: number;
  readonly format: Format;
  readonly bytes: number;
  readonly mb: number;
  readonly globs: readonly string[];
  readonly checks: readonly (readonly Check[])[];
}

interface Result {
  readonly ok: boolean;
  readonly reason?: string;
  readonly message?: string;
  readonly warnings?: readonly unknown[];
}

interface Conversion {
  readonly result: Result;
  readonly exitCode: number | null;
  readonly files: readonly string[];
  /** Of the program alone, as its memory. */
  readonly seconds: number;
  readonly rssMb: number;
}

const flat = (text: string): string => text.replace(/\s+/g, '');

function usesProgram(checks: readonly Check[]): boolean {
  return checks.some((check) => OPS_OF_THE_PROGRAM.includes(check.op) || check.checks?.some(usesProgram));
}

/** One case folder with its conversions, each made once. */
export class CaseRun {
  readonly #folder: string;
  readonly #work: string;
  readonly #converter: ThreadConverter | undefined;
  readonly #conversions = new Map<string, Conversion>();
  readonly #rasters = new Map<string, Raster>();

  constructor(folder: string, work: string, checks: readonly Check[], converter: ThreadConverter) {
    this.#folder = folder;
    this.#work = work;
    this.#converter = usesProgram(checks) ? undefined : converter;
  }

  /** Undefined when the check holds, else what is wrong. */
  async check(check: Check): Promise<string | undefined> {
    const test = CHECKS[check.op];
    return test ? test(this, check) : `no such op: ${check.op}`;
  }

  convert(to: Format): Promise<Conversion> {
    return this.convertFile(join(this.#folder, 'input.ofd'), to, to);
  }

  async convertFile(input: string, to: Format, key: string): Promise<Conversion> {
    const known = this.#conversions.get(key);
    if (known) return known;
    const folder = join(this.#work, key);
    mkdirSync(folder, { recursive: true });
    const conversion = this.#converter
      ? await convertInThread(this.#converter, input, to, folder)
      : convertByProgram(input, to, folder);
    this.#conversions.set(key, conversion);
    return conversion;
  }

  get conversions(): Iterable<Conversion> {
    return this.#conversions.values();
  }

  get otherInputs(): readonly string[] {
    const more = join(this.#folder, 'more');
    return existsSync(more)
      ? readdirSync(more)
          .sort()
          .map((name) => join(more, name))
      : [];
  }

  async pageSize(page: number): Promise<{ widthMm: number; heightMm: number }> {
    const file = (await this.convert('pdf')).files[0];
    return (file && pagesOfPdf(file)[page - 1]) || { widthMm: 100, heightMm: 100 };
  }

  async raster(to: Format, page: number): Promise<Raster> {
    const key = `${to}-${page}`;
    const known = this.#rasters.get(key);
    if (known) return known;
    const { files, result } = await this.convert(to);
    if (!result.ok) throw new Error(`${to}: ${result.message}`);
    const raster =
      to === 'pdf'
        ? await rasterOfPdf(files[0]!, page, this.#work)
        : to === 'svg'
          ? await rasterOfSvg(files[page - 1]!, this.#work)
          : await readRaster(files[page - 1]!);
    this.#rasters.set(key, raster);
    return raster;
  }

  async text(to: Format): Promise<string> {
    const { files, result } = await this.convert(to);
    if (!result.ok) throw new Error(`${to}: ${result.message}`);
    if (to === 'pdf') return textOfPdf(files[0]!);
    const text = files.map((file) => readFileSync(file, 'utf8')).join('');
    return to === 'md' ? text.replace(/\\([\\`*_{}[\]()#+\-.!|<>~])/g, '$1') : text;
  }

  get workFolder(): string {
    return this.#work;
  }
}

async function convertInThread(
  converter: ThreadConverter,
  inputPath: string,
  to: Format,
  folder: string,
): Promise<Conversion> {
  const outputDirectory = join(folder, 'out');
  mkdirSync(outputDirectory);
  const unmeasured = { seconds: Number.NaN, rssMb: Number.NaN };
  const { signal } = new AbortController();
  const places = { inputPath, outputDirectory, scratchDirectory: folder, baseName: undefined };
  try {
    const made = await converter.run({ engine: 'ofd', from: 'ofd', to, options: {}, ...places }, { signal });
    const files = made.files.map(({ name }) => join(outputDirectory, name)).sort();
    return { result: { ok: true, warnings: made.warnings }, exitCode: 0, files, ...unmeasured };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const { message, reason } = error;
    return { result: { ok: false, message, ...(reason && { reason }) }, exitCode: 1, files: [], ...unmeasured };
  }
}

function convertByProgram(input: string, to: Format, folder: string): Conversion {
  const output = to === 'png' || to === 'svg' ? join(folder, 'pages') : join(folder, `out.${to}`);
  const started = performance.now();
  const program = [process.execPath, PROGRAM, 'convert', input, '--to', to, '-o', output, '--json'];
  const run = spawnSync('/usr/bin/time', ['-f', '%M', '-o', join(folder, 'rss'), ...program], {
    encoding: 'utf8',
    timeout: 110_000,
    maxBuffer: 1 << 26,
  });
  const made = !existsSync(output)
    ? []
    : output.endsWith(`.${to}`)
      ? [output]
      : readdirSync(output)
          .sort()
          .map((name) => join(output, name));
  return {
    result: JSON.parse(run.stdout.trim().split('\n').at(-1) || '{"ok":false}') as Result,
    exitCode: run.status,
    files: made,
    seconds: (performance.now() - started) / 1000,
    rssMb: Number(readFileSync(join(folder, 'rss'), 'utf8').trim().split('\n').at(-1)) / 1024,
  };
}

type Test = (run: CaseRun, check: Check) => string | undefined | Promise<string | undefined>;

async function eachPicture(
  check: Check,
  test: (to: Format) => Promise<string | undefined>,
): Promise<string | undefined> {
  for (const to of check.formats ?? PICTURES) {
    const fault = await test(to);
    if (fault) return `${to}: ${fault}`;
  }
  return undefined;
}

async function eachText(
  run: CaseRun,
  check: Check,
  formats: readonly Format[],
  test: (text: string) => string | undefined,
): Promise<string | undefined> {
  for (const to of check.formats?.filter((format) => FORMATS.includes(format)) ?? formats) {
    const fault = test(await run.text(to));
    if (fault) return `${to}: ${fault}`;
  }
  return undefined;
}

/** Share of pixels in a box that differ from white by more than 32 in a channel. */
async function inkShare(run: CaseRun, to: Format, check: Check): Promise<number> {
  const raster = await run.raster(to, check.page);
  const scale = raster.widthPx / (await run.pageSize(check.page)).widthMm;
  let ink = 0;
  let total = 0;
  for (let y = Math.floor(check.y_mm * scale); y < Math.min(raster.heightPx, (check.y_mm + check.h_mm) * scale); y++) {
    for (let x = Math.floor(check.x_mm * scale); x < Math.min(raster.widthPx, (check.x_mm + check.w_mm) * scale); x++) {
      const at = 4 * (y * raster.widthPx + x);
      total += 1;
      if (Math.min(raster.rgba[at]!, raster.rgba[at + 1]!, raster.rgba[at + 2]!) < 223) ink += 1;
    }
  }
  return total === 0 ? 0 : ink / total;
}

const normalised = (check: Check, text: string): string => (check.normalise === 'nospace' ? flat(text) : text.trim());

const CHECKS: Record<string, Test> = {
  no_error: async (run, check) => {
    for (const to of check.to ?? FORMATS) {
      const { result, exitCode, files } = await run.convert(to);
      if (!result.ok || exitCode !== 0 || files.length === 0)
        return `${to}: exit ${exitCode}, ${result.message ?? 'no file'}`;
    }
    return undefined;
  },
  error_code: async (run, check) => {
    const inputs = [undefined, ...run.otherInputs];
    for (const [index, input] of inputs.entries()) {
      const { result, exitCode, files, seconds } = await (input
        ? run.convertFile(input, 'pdf', `more${index}`)
        : run.convert('pdf'));
      if (exitCode === 0 || files.length > 0) return `${input ?? 'input.ofd'}: exit ${exitCode}, ${files.length} files`;
      if (result.reason !== check.error_class)
        return `${input ?? 'input.ofd'}: reason ${result.reason}, wanted ${check.error_class}`;
      if (seconds > (check.max_seconds ?? Number.POSITIVE_INFINITY)) return `took ${seconds} s`;
    }
    return undefined;
  },
  any_of: async (run, check) => {
    const faults: string[] = [];
    for (const alternative of check.checks) {
      const fault = await firstFault(run, alternative);
      if (!fault) return undefined;
      faults.push(fault);
    }
    return `none holds: ${faults.join(' | ')}`;
  },
  page_count: async (run, check) => {
    for (const to of check.formats ?? PICTURES) {
      const { files } = await run.convert(to);
      const count = to === 'pdf' ? pagesOfPdf(files[0]!).length : files.length;
      if (count !== check.n) return `${to}: ${count} pages, wanted ${check.n}`;
    }
    return undefined;
  },
  page_size_mm: async (run, check) => {
    const { widthMm, heightMm } = await run.pageSize(check.page);
    const isRight =
      Math.abs(widthMm - check.w) <= check.tolerance_mm && Math.abs(heightMm - check.h) <= check.tolerance_mm;
    return isRight ? undefined : `${widthMm} x ${heightMm} mm, wanted ${check.w} x ${check.h}`;
  },
  pixel: (run, check) =>
    eachPicture(check, async (to) => {
      const raster = await run.raster(to, check.page);
      const scale = raster.widthPx / (await run.pageSize(check.page)).widthMm;
      const at = 4 * (Math.floor(check.y_mm * scale) * raster.widthPx + Math.floor(check.x_mm * scale));
      const got = [raster.rgba[at]!, raster.rgba[at + 1]!, raster.rgba[at + 2]!];
      const isRight = got.every((value, channel) => Math.abs(value - check.rgb[channel]!) <= check.tolerance);
      return isRight ? undefined : `(${check.x_mm}, ${check.y_mm}) is ${got}, wanted ${check.rgb}`;
    }),
  region_not_blank: (run, check) =>
    eachPicture(check, async (to) => {
      const ink = await inkShare(run, to, check);
      return ink >= check.min_ink ? undefined : `ink ${ink} < ${check.min_ink}`;
    }),
  region_blank: (run, check) =>
    eachPicture(check, async (to) => {
      const ink = await inkShare(run, to, check);
      return ink <= check.max_ink ? undefined : `ink ${ink} > ${check.max_ink}`;
    }),
  text_contains: (run, check) =>
    eachText(run, check, TEXTS, (text) => (flat(text).includes(flat(check.text)) ? undefined : `lacks ${check.text}`)),
  text_not_contains: (run, check) =>
    eachText(run, check, TEXTS, (text) => (text.includes(check.text) ? `has ${check.text}` : undefined)),
  text_equals: (run, check) =>
    eachText(run, check, TEXTS, (text) =>
      normalised(check, text) === normalised(check, check.text)
        ? undefined
        : `is ${JSON.stringify(normalised(check, text).slice(0, 80))}`,
    ),
  text_order: (run, check) =>
    eachText(run, check, TEXTS, (text) => {
      let at = 0;
      for (const item of check.items) {
        const found = flat(text).indexOf(flat(item), at);
        if (found < 0) return `${item} not after the one before`;
        at = found + flat(item).length;
      }
      return undefined;
    }),
  text_lines: (run, check) =>
    eachText(run, check, ['txt'], (text) => sameParts(check, text.split('\n'), check.lines ?? [])),
  md_paragraphs: (run, check) =>
    eachText(run, check, ['md'], (text) => sameParts(check, text.split(/\n\s*\n/), check.paragraphs ?? [])),
  md_contains: (run, check) =>
    eachText(run, check, ['md'], (text) => (flat(text).includes(flat(check.text)) ? undefined : `lacks ${check.text}`)),
  attachment: async (run, check) => {
    const folder = join(run.workFolder, 'attachments');
    mkdirSync(folder, { recursive: true });
    execFileSync('pdfdetach', ['-saveall', '-o', folder, (await run.convert('pdf')).files[0]!]);
    const found = readdirSync(folder).some((name) => readFileSync(join(folder, name), 'utf8').includes(check.text));
    return found ? undefined : `no attachment holds ${check.text}`;
  },
  warning_mentions: (run, check) => {
    const warnings = JSON.stringify([...run.conversions].map(({ result }) => result.warnings ?? [])).toLowerCase();
    return check.text_any.some((word) => warnings.includes(word.toLowerCase()))
      ? undefined
      : `no warning has ${check.text_any}`;
  },
  max_seconds: async (run, check) => {
    for (const to of check.to ?? check.formats ?? ['pdf']) {
      const { seconds } = await run.convert(to);
      if (seconds > check.seconds) return `${to} took ${seconds} s`;
    }
    return undefined;
  },
  max_rss_mb: (run, check) => {
    const worst = Math.max(...[...run.conversions].map(({ rssMb }) => rssMb));
    return worst > check.mb ? `${worst} MiB` : undefined;
  },
  max_output_bytes: async (run, check) => {
    const { files } = await run.convert(check.format);
    const size = files.reduce((sum, file) => sum + readFileSync(file).length, 0);
    return size > check.bytes ? `${size} bytes` : undefined;
  },
  no_output_file: async (run) => ((await run.convert('pdf')).files.length > 0 ? 'an output was left' : undefined),
  svg_ids_unique: async (run) => {
    const ids = [...(await run.text('svg')).matchAll(/\bid="([^"]+)"/g)].map((match) => match[1]);
    return ids.length === new Set(ids).size ? undefined : 'an id stands twice';
  },
  file_not_created: (_run, check) => {
    const names = check.globs.map((glob) => glob.split('/').at(-1)!.replace('*', ''));
    const places = ['/tmp', '..', '.'];
    const found = places.flatMap((place) =>
      readdirSync(place).filter((name) => names.some((start) => name.startsWith(start))),
    );
    return found.length > 0 ? `created ${found}` : undefined;
  },
};

function sameParts(check: Check, got: readonly string[], wanted: readonly string[]): string | undefined {
  const parts = got.filter((part) => part.trim() !== '').map((part) => normalised(check, part));
  const right = wanted.map((part) => normalised(check, part));
  return JSON.stringify(parts) === JSON.stringify(right)
    ? undefined
    : `${JSON.stringify(parts)}, wanted ${JSON.stringify(right)}`;
}

async function firstFault(run: CaseRun, checks: readonly Check[]): Promise<string | undefined> {
  for (const check of checks) {
    const fault = await run.check(check);
    if (fault) return fault;
  }
  return undefined;
}
