// Text: where glyphs stand, and what the text layer says.
import { describe, expect, it } from 'vitest';
import type { Face } from '../../src/display/face.js';
import { type Matrix, multiply, transformBox, translation } from '../../src/display/geometry.js';
import type { GlyphRun } from '../../src/display/list.js';
import { systemFontBook } from '../../src/fonts/system.js';
import { PdfFile } from '../../src/render/pdf/file.js';
import { FaceCodes } from '../../src/render/pdf/font-table.js';
import {
  BLUE,
  faultsOf,
  glyphRun,
  group,
  isNear,
  makePdf,
  page,
  pen,
  pixels,
  RED,
  type RunParts,
  rawText,
  rectangle,
  solid,
  toolOutput,
  unpacked,
  WHITE,
} from './pdf-support.js';

const fonts = systemFontBook([]);

function faceOf(fontName: string, sample: string): Face {
  const request = { fontName, bold: false, italic: false, serif: false, fixedWidth: false, weight: 400 };
  const found = fonts.resolve(request).glyphFor(sample.codePointAt(0)!);
  if (!found) throw new Error(`no face of this machine has "${sample}"`);
  return found.face;
}

const LATIN = faceOf('DejaVu Sans', 'A');
const CHINESE = faceOf('宋体', '永');

/** A run with one glyph a character, each after the other. */
function written(text: string, x: number, y: number, more: Partial<GlyphRun> = {}): GlyphRun {
  const face = more.face ?? LATIN;
  const characters = Array.from(text);
  const glyphIds = characters.map((char) => face.glyphForCodePoint(char.codePointAt(0)!));
  const size = more.sizeMm ?? 5;
  const places: number[] = [];
  let at = x;
  for (const glyphId of glyphIds) {
    places.push(at);
    at += (face.advance(glyphId) / face.unitsPerEm) * size;
  }
  return glyphRun({ face, glyphIds, x: places, y: places.map(() => y), characters, ...more });
}

function textOf(bytes: Uint8Array): string {
  return rawText(bytes).replace(/\f/g, '').trim();
}

async function textOfRuns(runs: readonly GlyphRun[]): Promise<string> {
  const { bytes } = await makePdf([page(runs, 1, 200, 100)]);
  expect(faultsOf(bytes)).toBe('');
  return textOf(bytes);
}

describe('the text layer', () => {
  it('says what the runs say, in their order', async () => {
    const text = await textOfRuns([
      written('second line', 10, 40),
      written('First line (with \\ signs)', 10, 20),
      written('永字八法，中文。', 10, 60, { face: CHINESE }),
    ]);
    expect(text).toBe('second line\nFirst line (with \\ signs)\n永字八法，中文。');
  });

  it('gives a ligature all its characters', async () => {
    const glyphIds = ['o', '\uFB03', 'x'].map((char) => LATIN.glyphForCodePoint(char.codePointAt(0)!));
    const run = glyphRun({ face: LATIN, glyphIds, x: [10, 13, 18], y: [20, 20, 20], characters: ['o', 'ffi', 'x'] });
    expect(await textOfRuns([run])).toBe('officex'.replace('ce', ''));
  });

  it('gives glyphs that stand together their characters once', async () => {
    const parts: RunParts = { ...written('abcdef', 10, 20), characters: ['x', 'yz!', '', '', 'e', 'f'] };
    expect(await textOfRuns([glyphRun(parts)])).toBe('xyz!ef');
  });

  it('gives nothing for glyphs that stand for no character', async () => {
    expect(await textOfRuns([glyphRun({ ...written('abc', 10, 20), characters: ['', '', 'c'] })])).toBe('c');
  });

  it('keeps characters that no face has', async () => {
    const run = written('ab', 10, 20);
    const missing: GlyphRun = { ...run, glyphIds: [0, 0], characters: ['\u{E123}', '\u{30EDE}'] };
    const { fill: _, ...unpainted } = missing;
    const { bytes } = await makePdf([page([unpainted])]);
    expect(faultsOf(bytes)).toBe('');
    expect(textOf(bytes)).toBe('\u{E123}\u{30EDE}');
    expect(isNear(pixels(bytes)(11.5, 18.5), WHITE)).toBe(true);
  });

  it('keeps unpainted text below clips and in shared groups', async () => {
    const { fill: _, ...unpainted } = written('scan', 10, 20);
    const clips = [{ path: rectangle(50, 50, 10, 10), rule: 'nonzero' }] as const;
    const shared = group([{ ...unpainted, clips }], { isShared: true });
    const { bytes } = await makePdf([
      page([{ ...unpainted, clips }, shared, group([{ ...unpainted, clips }], { clips })]),
    ]);
    expect(faultsOf(bytes)).toBe('');
    expect(textOf(bytes).replace(/\s/g, '')).toBe('scanscanscan');
  });

  it('keeps one glyph with several characters apart', async () => {
    const run = written('---', 10, 20);
    expect(await textOfRuns([{ ...run, characters: ['-', '\u2010', '\u00AD'] }])).toMatch(/^-\u2010/);
    const dashes: GlyphRun = { ...run, characters: ['甲', '乙', '甲'] };
    expect(await textOfRuns([dashes])).toBe('甲乙甲');
  });
});

describe('fonts', () => {
  it('are subsets with a character map', async () => {
    const { bytes } = await makePdf([page([written('Abc', 10, 20), written('永字', 10, 40, { face: CHINESE })])]);
    const lines = toolOutput('pdffonts', [], bytes).trim().split('\n').slice(2);
    expect(lines).toHaveLength(2);
    for (const line of lines) expect(line).toMatch(/^[A-Z]{6}\+\S+ +CID \S.* +Identity-H +yes yes yes/);
    expect(bytes.length).toBeLessThan(20_000);
  });

  it('go on in another one when the codes of one are used up', () => {
    const codes = new FaceCodes(new PdfFile({ write: () => undefined }), LATIN);
    const seen = new Set<string>();
    let largest = 0;
    for (let i = 0; i < 70_000; i++) {
      const { font, value } = codes.codeFor(i % 700, String.fromCodePoint(0x20000 + i));
      largest = Math.max(largest, value);
      seen.add(`${codes.fonts.indexOf(font)} ${value}`);
    }
    expect(largest).toBe(65_534);
    expect(seen.size).toBe(70_000);
    expect(codes.fonts).toHaveLength(2);
    expect(codes.codeFor(3, String.fromCodePoint(0x20003))).toMatchObject({ value: 4, font: codes.fonts[0] });
  });

  it('tell the widths of their glyphs', async () => {
    const { bytes } = await makePdf([page([written('iW', 10, 20)])]);
    const width = (char: string): number =>
      Math.round((LATIN.advance(LATIN.glyphForCodePoint(char.codePointAt(0)!)) * 1000) / LATIN.unitsPerEm);
    const notdef = Math.round((LATIN.advance(0) * 1000) / LATIN.unitsPerEm);
    expect(unpacked(bytes)).toContain(`/W [ 0 [ ${notdef} ${width('i')} ${width('W')} ] ]`);
  });

  it('are the same for the same pages', async () => {
    const make = async (): Promise<Buffer> =>
      (await makePdf([page([written('Abc', 10, 20), written('永字', 10, 40, { face: CHINESE })])])).bytes;
    expect((await make()).equals(await make())).toBe(true);
  });
});

/** A block that fills most of its em: ink is where the outline is and nowhere else. */
const BLOCK = '\u2588';
const BLOCK_FACE = faceOf('DejaVu Sans Mono', BLOCK);

/** Where the contract of GlyphRun puts the block of glyph `i`. */
function blockBox(run: GlyphRun, i: number): { x: number; y: number; width: number; height: number } {
  const outline = run.face.outline(run.glyphIds[i]!).controlBounds()!;
  const k = run.sizeMm / run.face.unitsPerEm;
  const [a, b, c, d] = run.shape;
  const scale: Matrix = [k * (run.xScale?.[i] ?? 1), 0, 0, -k, 0, 0];
  const place = multiply(translation(run.x[i]!, run.y[i]!), multiply([a, b, c, d, 0, 0], scale));
  return transformBox(multiply(run.matrix, place), outline);
}

async function expectBlocks(run: GlyphRun, color: readonly [number, number, number] = [0, 0, 0]): Promise<void> {
  const { bytes } = await makePdf([page([run])]);
  expect(faultsOf(bytes)).toBe('');
  const at = pixels(bytes, 508);
  const edge = 0.1;
  const wrong: string[] = [];
  for (let i = 0; i < run.glyphIds.length; i++) {
    const { x, y, width, height } = blockBox(run, i);
    const inside = [
      [x + edge, y + edge],
      [x + width - edge, y + height - edge],
    ];
    const outside = [
      [x - edge, y + height / 2],
      [x + width + edge, y + height / 2],
      [x + width / 2, y - edge],
      [x + width / 2, y + height + edge],
    ];
    for (const [px, py] of inside) if (!isNear(at(px!, py!), color)) wrong.push(`${i}: no ink at ${px} ${py}`);
    for (const [px, py] of outside) if (!isNear(at(px!, py!), WHITE)) wrong.push(`${i}: ink at ${px} ${py}`);
  }
  expect(wrong).toEqual([]);
}

function blocks(x: readonly number[], y: readonly number[], more: Partial<GlyphRun> = {}): GlyphRun {
  const glyphIds = x.map(() => BLOCK_FACE.glyphForCodePoint(BLOCK.codePointAt(0)!));
  return glyphRun({ face: BLOCK_FACE, glyphIds, x, y, characters: x.map(() => BLOCK), sizeMm: 3, ...more });
}

describe('glyphs', () => {
  it('stand where they are told, without a growing error', async () => {
    const x = Array.from({ length: 24 }, (_, i) => 5 + i * 3.7777 + (i % 3) * 0.2345);
    await expectBlocks(
      blocks(
        x,
        x.map(() => 20),
      ),
    );
  });

  it('stand below each other', async () => {
    const y = Array.from({ length: 12 }, (_, i) => 10 + i * 6.543);
    await expectBlocks(
      blocks(
        y.map(() => 20),
        y,
        { readDirection: 90 },
      ),
    );
  });

  it('run backwards and up and down', async () => {
    await expectBlocks(blocks([80, 70, 60, 65, 30], [20, 20, 30, 40, 41.5]));
  });

  it('follow the matrix of the run', async () => {
    await expectBlocks(blocks([0, 4, 8], [0, 0, 6], { matrix: [2, 0, 0, 2, 20, 30] }));
    await expectBlocks(blocks([0, 4, 8], [0, 0, 6], { matrix: [0, 1.5, -1.5, 0, 60, 20] }));
    await expectBlocks(blocks([0, 4, 8], [0, 0, 6], { matrix: [3, 0, 0, 1, 20, 30] }));
    await expectBlocks(blocks([0, 4, 8], [0, 0, 6], { matrix: [1, 0, 0, -1, 20, 30] }));
  });

  it('are shaped about their own origins', async () => {
    await expectBlocks(blocks([20, 30, 40], [50, 50, 50], { shape: [0.5, 0, 0, 1] }));
    await expectBlocks(blocks([20, 30, 40], [50, 50, 56], { shape: [0, 1, -1, 0] }));
    await expectBlocks(blocks([20, 20, 20], [30, 40, 50], { shape: [0, 1, -1, 0], readDirection: 90 }));
  });

  it('are squeezed one by one', async () => {
    await expectBlocks(blocks([20, 30, 33, 36, 50], [50, 50, 50, 50, 50], { xScale: [1, 0.5, 0.5, 0.777, 1] }));
  });

  it('may be huge or stand in huge or tiny spaces', async () => {
    await expectBlocks(blocks([20], [80], { sizeMm: 60 }));
    const run = blocks([200, 600], [800, 800], { sizeMm: 100 });
    const { bytes } = await makePdf([page([group([run], { matrix: [0.05, 0, 0, 0.05, 0, 0] })])]);
    const box = blockBox({ ...run, matrix: [0.05, 0, 0, 0.05, 0, 0] }, 1);
    const at = pixels(bytes, 508);
    expect(isNear(at(box.x + 0.1, box.y + box.height / 2), [0, 0, 0])).toBe(true);
    expect(isNear(at(box.x - 0.1, box.y + box.height / 2), WHITE)).toBe(true);
  });

  it('of no size or under a flat matrix break nothing', async () => {
    const { bytes } = await makePdf([
      page([
        written('gone', 10, 20, { sizeMm: 0 }),
        written('flat', 10, 20, { shape: [0, 0, 0, 1] }),
        written('flatter', 10, 40, { matrix: [1, 0, 0, 0, 0, 0] }),
      ]),
    ]);
    expect(faultsOf(bytes)).toBe('');
    expect(textOf(bytes)).toContain('flat');
  });
});

describe('painted text', () => {
  it('takes fill and stroke with the pen of its run', async () => {
    const box = blockBox(blocks([20], [60], { sizeMm: 40 }), 0);
    const run = blocks([20], [60], { sizeMm: 40, fill: solid(RED), stroke: pen(solid(BLUE), 4) });
    const { bytes } = await makePdf([page([run])]);
    const at = pixels(bytes);
    const middle = box.y + box.height / 2;
    expect([at(box.x + 5, middle), at(box.x + 1, middle), at(box.x - 1, middle)]).toEqual([RED, BLUE, BLUE]);
    expect(isNear(at(box.x - 2.5, middle), WHITE)).toBe(true);
  });

  it('squeezes the pen under an uneven matrix', async () => {
    const matrix: Matrix = [2, 0, 0, 1, 0, 0];
    const box = blockBox(blocks([10], [60], { sizeMm: 30, matrix }), 0);
    const { fill: _, ...outlined } = blocks([10], [60], { sizeMm: 30, matrix, stroke: pen(solid(BLUE), 4) });
    const { bytes } = await makePdf([page([outlined])]);
    const at = pixels(bytes);
    expect(at(box.x - 3.5, box.y + box.height / 2)).toEqual(BLUE);
    expect(at(box.x + box.width / 2, box.y - 1.5)).toEqual(BLUE);
    expect(isNear(at(box.x + box.width / 2, box.y - 2.6), WHITE)).toBe(true);
    expect(isNear(at(box.x + box.width / 2, box.y + 10), WHITE)).toBe(true);
  });

  it('grows bold in its own colour', async () => {
    const box = blockBox(blocks([20], [60], { sizeMm: 40 }), 0);
    const { bytes } = await makePdf([page([blocks([20], [60], { sizeMm: 40, fill: solid(RED), emboldenMm: 3 })])]);
    const at = pixels(bytes);
    expect([at(box.x - 1, 50), at(box.x + 1, 50)]).toEqual([RED, RED]);
    expect(isNear(at(box.x - 2, 50), WHITE)).toBe(true);
    expect(textOf(bytes)).toBe(BLOCK);
  });

  it('is one picture where it is bold and translucent', async () => {
    const box = blockBox(blocks([20], [60], { sizeMm: 40 }), 0);
    const run = blocks([20], [60], { sizeMm: 40, fill: solid(RED, 0.5), emboldenMm: 3 });
    const { bytes } = await makePdf([page([run])]);
    const at = pixels(bytes);
    for (const x of [box.x - 1, box.x + 1, box.x + 5]) expect(isNear(at(x, 50), [255, 128, 128])).toBe(true);
    expect(textOf(bytes)).toBe(BLOCK);
  });

  it('takes gradients, fading ones too', async () => {
    const gradient = {
      kind: 'axial',
      matrix: translation(10, 0),
      start: { x: 0, y: 0 },
      end: { x: 80, y: 0 },
      extendStart: true,
      extendEnd: true,
    } as const;
    const stops = [
      { offset: 0, color: RED, alpha: 1 },
      { offset: 1, color: BLUE, alpha: 1 },
    ];
    const fading = [stops[0]!, { ...stops[1]!, alpha: 0 }];
    const x = [10, 30, 48, 70];
    const run = (y: number, more: Partial<GlyphRun>): GlyphRun =>
      blocks(
        x,
        x.map(() => y),
        { sizeMm: 15, ...more },
      );
    const { fill: _, ...outlined } = run(90, { stroke: pen({ ...gradient, stops }, 3) });
    const { bytes } = await makePdf([
      page([run(25, { fill: { ...gradient, stops } }), run(55, { fill: { ...gradient, stops: fading } }), outlined]),
    ]);
    expect(faultsOf(bytes)).toBe('');
    const at = pixels(bytes);
    expect(isNear(at(50, 20), [128, 0, 128], 8)).toBe(true);
    expect(isNear(at(50, 50), [191, 128, 191], 8)).toBe(true);
    const box = blockBox(run(90, {}), 2);
    const share = (box.x + box.width / 2 - 10) / 80;
    const edge = at(box.x + box.width / 2, box.y + 0.5);
    expect(isNear(edge, [255 * (1 - share), 0, 255 * share], 12)).toBe(true);
    expect(textOf(bytes).replace(/\s/g, '')).toBe(BLOCK.repeat(12));
  });
});
