// Every file of a corpus (CORPUS=DIR with ofd/*.ofd, manifest.json and, where there are any, reference/consensus pages):
// each format without an error, backends that agree, a complete text layer, references matched. SAMPLE=1 takes one in six.
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { convertOfd } from '../../src/convert/engines/ofd.js';
import { documentName, OutputFiles, pageName } from '../../src/convert/output-files.js';
import { IDENTITY, type Matrix, multiply, transformPoint } from '../../src/display/geometry.js';
import type { DisplayList, Item } from '../../src/display/list.js';
import { ServiceError } from '../../src/errors.js';
import { systemFontBook } from '../../src/fonts/system.js';
import type { FormatId } from '../../src/formats.js';
import { openOfd } from '../../src/ofd/index.js';
import { DEFAULT_LIMITS } from '../../src/ofd/limits.js';
import { inkAgreement, rasterOfPdf, rasterOfSvg, readRaster, textOfPdf, withFolder } from '../support/rendering.js';

const corpus = process.env.CORPUS;
if (!corpus || !existsSync(join(corpus, 'ofd'))) throw new Error('CORPUS=DIR is missing or has no folder ofd');

/** Both backends drawn at this resolution. */
const DPI = 96;
const LEAST_PDF_AGREEMENT = 0.97;
const LEAST_SVG_AGREEMENT = 0.95;
const LEAST_REFERENCE_AGREEMENT = 0.97;

/** How the damaged ones end: shown with a warning, or refused for a reason; `either` where both are right. */
const DAMAGED: Record<string, 'shown' | 'not_ofd' | 'corrupt' | 'either'> = {
  'not-a-zip': 'not_ofd',
  'malformed-font-data': 'shown',
  'malformed-crc-page': 'shown',
  'malformed-name-mismatch': 'shown',
  'malformed-no-eocd': 'shown',
  'malformed-central-directory': 'shown',
  'malformed-ofdxml-name': 'shown',
  'malformed-method': 'either',
  'malformed-deflate': 'either',
  'malformed-missing-head': 'either',
};

/** A page on which two other engines agree; `substituted` where a face stands in for one that is not embedded. */
interface ConsensusPage {
  readonly file: string;
  readonly page: number;
  readonly substituted: boolean;
  readonly same_as?: string;
}

const fonts = systemFontBook([]);
const names = readdirSync(join(corpus, 'ofd'))
  .filter((name) => name.endsWith('.ofd'))
  .map((name) => name.slice(0, -4))
  .sort()
  .filter((_name, index) => !process.env.SAMPLE || index % 6 === 0);
const wellFormed = names.filter((name) => DAMAGED[name] === undefined);
const figures: string[] = [];
const consensus = join(corpus, 'reference/consensus');
const references = existsSync(consensus)
  ? (JSON.parse(readFileSync(join(consensus, 'consensus.json'), 'utf8')) as { pages: readonly ConsensusPage[] }).pages
  : [];

const ofdOf = (name: string): Uint8Array => readFileSync(join(corpus!, 'ofd', `${name}.ofd`));

async function convert(name: string, to: FormatId, folder: string): Promise<readonly string[]> {
  const directory = join(folder, to);
  mkdirSync(directory);
  const output = new OutputFiles(directory, {
    document: () => documentName(undefined, to),
    page: (pageNumber) => pageName(undefined, pageNumber, to),
  });
  const options = to === 'png' ? { dpi: DPI } : {};
  const { warnings } = await convertOfd({ input: ofdOf(name), to, options, output, fonts });
  lastWarnings = warnings.map(({ code }) => code);
  return (await output.finish()).map(({ path }) => path);
}
let lastWarnings: readonly string[] = [];

/** Characters in the order of the document: those seen on the pages, and all. */
async function textOf(name: string): Promise<{ visible: string; all: string }> {
  const document = await openOfd(ofdOf(name), { limits: DEFAULT_LIMITS, fonts, report: () => undefined });
  const text = { visible: '', all: '' };
  const walk = (items: readonly Item[], toPage: Matrix, page: DisplayList): void => {
    for (const item of items) {
      const matrix = multiply(toPage, item.matrix);
      if (item.kind === 'group') walk(item.items, matrix, page);
      else if (item.kind === 'glyphs') {
        for (const [index, characters] of item.characters.entries()) {
          const { x, y } = transformPoint(matrix, item.x[index]!, item.y[index]!);
          text.all += characters;
          if ((item.fill || item.stroke) && isInside(page, x, y)) text.visible += characters;
        }
      }
    }
  };
  for (let index = 0; index < document.pageCount; index++) {
    const page = document.page(index);
    walk(page.items, IDENTITY, page);
  }
  return text;
}

/** Poppler leaves out characters at the very edge. */
const EDGE_MM = 0.5;

function isInside(page: DisplayList, x: number, y: number): boolean {
  return x >= EDGE_MM && y >= EDGE_MM && x <= page.widthMm - EDGE_MM && y <= page.heightMm - EDGE_MM;
}

const bare = (text: string): string => text.normalize('NFKC').replace(/\s+/gu, '');

/** Characters of `wanted` that `got` lacks, each counted as often as it stands there. */
function missingCharacters(wanted: string, got: string): string {
  const have = new Map<string, number>();
  for (const character of got) have.set(character, (have.get(character) ?? 0) + 1);
  let missing = '';
  for (const character of wanted) {
    const count = have.get(character) ?? 0;
    if (count === 0) missing += character;
    else have.set(character, count - 1);
  }
  return missing;
}

const linesOf = (text: string): string =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .join('\n');

/** What a browser copies when all is selected. */
function textOfHtml(path: string): string {
  const lines = [...readFileSync(path, 'utf8').matchAll(/<text[^>]*>(.*?)<\/text>/g)].map(([, content]) =>
    content!
      .replace(/<[^>]*>/g, '')
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&amp;', '&'),
  );
  return linesOf(lines.join('\n'));
}

/** The characters of all runs in the order in which they are painted. */
function textOfJson(path: string): string {
  const { documents } = JSON.parse(readFileSync(path, 'utf8')) as {
    documents: readonly { pages: readonly { text: readonly { text: string }[] }[] }[];
  };
  return documents.flatMap(({ pages }) => pages.flatMap(({ text }) => text.map((run) => run.text))).join('');
}

/** Faults of the pages that other engines agree on; the figures are printed at the end. */
async function compareReferences(name: string, pdf: string, folder: string): Promise<readonly string[]> {
  const low: string[] = [];
  for (const { page, substituted, same_as } of references.filter(({ file }) => file === name)) {
    const theirs = await readRaster(join(consensus, same_as ?? `${name}-p${page}.png`));
    const ink = inkAgreement(await rasterOfPdf(pdf, page, folder, DPI), theirs);
    figures.push(`${ink.toFixed(4)}${substituted ? ' (substituted)' : ''} ${name} page ${page}`);
    if (!substituted && ink < LEAST_REFERENCE_AGREEMENT) low.push(`page ${page}: reference ${ink.toFixed(4)}`);
  }
  return low;
}

describe('well-formed files', () => {
  it.each(wellFormed)('%s', async (name) => {
    await withFolder(async (folder) => {
      const [pdf] = await convert(name, 'pdf', folder);
      const pngs = await convert(name, 'png', folder);
      const svgs = await convert(name, 'svg', folder);
      const [txt] = await convert(name, 'txt', folder);
      const [html] = await convert(name, 'html', folder);
      const [json] = await convert(name, 'json', folder);
      await convert(name, 'md', folder);
      const low: string[] = [];
      for (const [index, png] of pngs.slice(0, 10).entries()) {
        const picture = await readRaster(png);
        const pdfInk = inkAgreement(picture, await rasterOfPdf(pdf!, index + 1, folder, DPI));
        const svgInk = inkAgreement(picture, await rasterOfSvg(svgs[index]!, folder, DPI));
        if (pdfInk < LEAST_PDF_AGREEMENT) low.push(`page ${index + 1}: png and pdf ${pdfInk.toFixed(4)}`);
        if (svgInk < LEAST_SVG_AGREEMENT) low.push(`page ${index + 1}: png and svg ${svgInk.toFixed(4)}`);
      }
      const { visible, all } = await textOf(name);
      const got = bare(textOfPdf(pdf!, 'raw'));
      const [missing, extra] = [missingCharacters(bare(visible), got), missingCharacters(got, bare(all))];
      if (missing) low.push(`text layer lacks ${missing.slice(0, 40)}`);
      if (extra) low.push(`text layer has besides ${extra.slice(0, 40)}`);
      if (textOfHtml(html!) !== linesOf(readFileSync(txt!, 'utf8'))) low.push('html and txt differ in their text');
      if (bare(textOfJson(json!)) !== bare(all)) low.push('json lacks or adds characters');
      low.push(...(await compareReferences(name, pdf!, folder)));
      expect(low).toEqual([]);
    });
  });
});

describe('damaged files', () => {
  it.each(names.filter((name) => DAMAGED[name] !== undefined))('%s', { timeout: 5000 }, async (name) => {
    await withFolder(async (folder) => {
      const end = await convert(name, 'pdf', folder).then(
        () => (lastWarnings.length > 0 ? 'shown' : 'shown without a warning'),
        (error: unknown) => (error instanceof ServiceError ? error.reason : error),
      );
      const wanted = DAMAGED[name]!;
      expect(wanted === 'either' ? ['shown', 'corrupt'] : [wanted]).toContain(end);
    });
  });
});

afterAll(() => console.log(['ink beside reference pages', ...figures.sort()].join('\n')));
