// The SVG backend, seen through rsvg-convert and through its own text.
import { execFileSync, spawnSync } from 'node:child_process';
import { SaxesParser } from 'saxes';
import { describe, expect, it } from 'vitest';
import { Path, rectanglePath } from '../../src/display/geometry.js';
import type { EncodedImage, Item } from '../../src/display/list.js';
import type { Background } from '../../src/render/backend.js';
import { svgBackend } from '../../src/render/svg/index.js';
import { withBlendsOutside } from '../../src/render/svg/isolate.js';
import { decimalsFor, fixed, hexColor, pathData, transform } from '../../src/render/svg/markup.js';
import { BLUE, box, clip, group, image, page, RED, rectangle, run, tiling } from './lists.js';
import { readPixels, render, wrongPoints } from './output.js';
import { SCENES, smallPicture } from './scenes.js';

const hasRsvg = spawnSync('rsvg-convert', ['--version']).status === 0;

function rasterise(svg: Buffer): Buffer {
  return execFileSync('rsvg-convert', ['-d', '254', '-p', '254', '-b', 'white'], { input: svg });
}

async function svgOf(items: readonly Item[], pageNumber = 1): Promise<string> {
  return (await render(svgBackend, [page(items, 40, 40, pageNumber)])).files[0]!.toString('utf8');
}

/** Throws for a document that is not well-formed. */
function parse(xml: string): void {
  const parser = new SaxesParser({ xmlns: true });
  parser.on('error', (error) => {
    throw error;
  });
  parser.write(xml).close();
}

describe.runIf(hasRsvg)('svg pages as librsvg shows them', () => {
  it.each(SCENES)('$name', async ({ list, points }) => {
    const { files, diagnostics } = await render(svgBackend, [list]);
    expect(diagnostics).toEqual([]);
    expect(wrongPoints(await readPixels(rasterise(files[0]!)), 10, points, 8)).toEqual([]);
  });
});

describe('svg files', () => {
  it('are well-formed and the same twice', async () => {
    const lists = SCENES.map(({ list }) => list);
    const [first, second] = [await render(svgBackend, lists), await render(svgBackend, lists)];
    for (const file of first.files) parse(file.toString('utf8'));
    expect(first.files).toEqual(second.files);
  });

  it('use an id once in all pages of a document', async () => {
    const lists = SCENES.map(({ list }, i) => ({ ...list, pageNumber: i + 1 }));
    const { files } = await render(svgBackend, lists);
    const ids = files.flatMap((file) =>
      [...file.toString('utf8').matchAll(/\bid="([^"]+)"/g)].map((match) => match[1]),
    );
    expect(ids.length).toBeGreaterThan(20);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('have the background asked for, or none', async () => {
    const fileOf = async (background: Background) =>
      (await render(svgBackend, [page([])], { background })).files[0]!.toString();
    expect(await fileOf({ color: [255, 0, 0], alpha: 0.5 })).toContain(
      '<rect width="40" height="40" fill="#f00" fill-opacity=".5"/>',
    );
    expect(await fileOf({ color: [0, 0, 0], alpha: 1 })).toContain('<rect width="40" height="40"/>');
    expect(await fileOf({ color: [0, 0, 0], alpha: 0 })).not.toContain('<rect');
  });

  it('say their size in millimetres', async () => {
    const { files } = await render(svgBackend, [page([], 210, 297.5)]);
    expect(files[0]!.toString()).toContain('width="210mm" height="297.5mm" viewBox="0 0 210 297.5"');
  });

  it('carry the text in document order, placed letter by letter, escaped', async () => {
    const characters = ['a', '<', 'ffi', '', '\u0001', '\ud800', '𠀀'];
    const svg = await svgOf([
      group([run([1, 1, 1, 1, 1, 1, 1], [0, 4, 8, 12, 16, 20, 24], [9, 9, 9, 9, 9, 9, 9], { characters })], {
        matrix: [2, 0, 0, 2, 1, 1],
      }),
    ]);
    expect(svg).toContain('font-size="8" x="1 9 17 19.67 22.33 49" y="19">a&lt;ffi𠀀</text>');
    parse(svg);
  });

  it('carry text that paints nothing, too', async () => {
    const { fill: _, ...bare } = run([1, 1], [0, 4], [9, 9], { characters: ['隐', '藏'] });
    expect(await svgOf([bare])).toContain('>隐藏</text>');
  });

  it('define a glyph once and refer to it', async () => {
    const svg = await svgOf([run([2, 2, 2], [0, 4, 8], [9, 9, 9]), run([2], [0], [20], { sizeMm: 8 })]);
    expect(svg.match(/<use /g)?.length).toBe(4);
    expect(svg.match(/<path /g)?.length).toBe(1);
  });

  it('leave clips out that cut nothing off, and share those of neighbours', async () => {
    const inside = [rectangle(box(5, 5, 5, 5), RED, { clips: [clip(rectanglePath(box(0, 0, 20, 20)))] })];
    expect(await svgOf(inside)).not.toContain('clip-path');
    const clips = [clip(rectanglePath(box(0, 0, 7, 7)))];
    const cut = [rectangle(box(5, 5, 5, 5), RED, { clips }), rectangle(box(6, 6, 5, 5), BLUE, { clips })];
    expect((await svgOf(cut)).match(/clip-path=/g)?.length).toBe(1);
  });

  it('keep a page-wide content that stands in two places once', async () => {
    const items = [rectangle(box(0, 0, 5, 5), RED)];
    const places = [0, 10].map((x) => group(items, { isShared: true, matrix: [1, 0, 0, 1, x, 0] }));
    const svg = await svgOf(places);
    expect(svg.match(/fill="#f00"/g)?.length).toBe(1);
    expect(svg.match(/<use /g)?.length).toBe(2);
  });

  it('leave out what lies beside the page, but not its text', async () => {
    const far = rectangle(box(1e9, 0, 1e9, 1e9), RED);
    const away = run([1], [500], [9], { characters: ['远'] });
    const svg = await svgOf([
      far,
      away,
      group([far, rectangle(box(1, 1, 2, 2), BLUE)], { matrix: [1, 0, 0, 1, 5, 5] }),
    ]);
    expect(svg).not.toContain('fill="#f00"');
    expect(svg).toContain('fill="#00f"');
    expect(svg).toContain('>远</text>');
  });

  it('embed a picture once', async () => {
    const picture = await smallPicture();
    const svg = await svgOf([image(picture, [5, 0, 0, 5, 0, 0]), image(picture, [5, 0, 0, 5, 20, 0])]);
    expect(svg.match(/base64,/g)?.length).toBe(1);
  });

  it('pass a sound PNG through and write a damaged one anew', async () => {
    const sound = await smallPicture();
    const smooth = { smooth: true };
    const through = await svgOf([image(sound, [5, 0, 0, 5, 0, 0], smooth)]);
    expect(through).toContain(Buffer.from(sound.bytes).toString('base64'));
    const bytes = Uint8Array.from(sound.bytes);
    bytes[30] = bytes[30]! ^ 1; // the header's checksum
    const damaged: EncodedImage = { ...sound, bytes };
    const mended = await svgOf([image(damaged, [5, 0, 0, 5, 0, 0], smooth)]);
    expect(mended).not.toContain(Buffer.from(bytes).toString('base64'));
    expect(mended).toContain('data:image/png;base64,');
  });

  it('name a picture that can not be decoded and go on', async () => {
    const broken: EncodedImage = { ...(await smallPicture()), bytes: Uint8Array.of(1, 2, 3), part: 'broken.png' };
    const { files, diagnostics } = await render(svgBackend, [page([image(broken, [5, 0, 0, 5, 0, 0])])]);
    expect(diagnostics).toMatchObject([{ code: 'image_undecodable', page: 1, part: 'broken.png' }]);
    expect(files[0]!.toString()).not.toContain('<image');
  });

  it('end although patterns nest in patterns', async () => {
    let items: readonly Item[] = [rectangle(box(0, 0, 1, 1), RED)];
    for (let depth = 0; depth < 12; depth++)
      items = [1, 2].map(() => rectangle(box(0, 0, 40, 40), tiling(items, 1, 1)));
    parse(await svgOf(items));
  });
});

describe('blending in groups', () => {
  it('moves out of plain groups and keeps the order', () => {
    const plain = rectangle(box(0, 0, 1, 1), RED);
    const blended = rectangle(box(0, 0, 1, 1), BLUE, { blendMode: 'multiply' });
    const [before, alone, after] = withBlendsOutside([group([plain, blended, plain])]);
    expect(before).toMatchObject({ kind: 'group', blendMode: 'normal', items: [{ fill: plain.fill }] });
    expect(alone).toMatchObject({ kind: 'group', blendMode: 'multiply', items: [{ blendMode: 'normal' }] });
    expect(after).toMatchObject({ kind: 'group', blendMode: 'normal' });
  });

  it('leaves a list without blending as it is', () => {
    const items = [group([rectangle(box(0, 0, 1, 1), RED)])];
    expect(withBlendsOutside(items)).toBe(items);
  });
});

describe('markup', () => {
  it('writes numbers short', () => {
    expect([0.5, -0.25, -0.0001, 10, 1 / 3].map((value) => fixed(value, 3))).toEqual(['.5', '-.25', '0', '10', '.333']);
    expect(transform([1, 0, 0, 1, 0.5, -2])).toBe(' transform="translate(.5 -2)"');
    expect(transform([0.5, 0, 0, 1e-7, 0, 0])).toBe(' transform="matrix(.5 0 0 1e-7 0 0)"');
    expect([hexColor([255, 0, 0]), hexColor([1.4, 16, 255])]).toEqual(['#f00', '#0110ff']);
    expect([1, 0.001, 1000, 0].map(decimalsFor)).toEqual([3, 0, 6, 3]);
  });

  it('writes path data relative, without the letters and spaces that can be left out', () => {
    const path = new Path();
    path.moveTo(1, 2);
    path.lineTo(5, 2);
    path.lineTo(5, 2.5);
    path.lineTo(4.5, 3);
    path.lineTo(4.25, 3.25);
    path.close();
    path.moveTo(0, 0);
    path.cubicTo(1, 1, 2, 2, 3, 0);
    path.quadTo(4, -1, 5, 0);
    expect(pathData(path, 2)).toBe('M1 2h4v.5l-.5.5-.25.25zM0 0c1 1 2 2 3 0q1-1 2 0');
    expect(pathData(path, 2, 1, 1)).toMatch(/^M2 3h4v\.5/);
  });

  it('does not add up rounding errors', () => {
    const path = new Path();
    path.moveTo(0, 0);
    for (let i = 1; i <= 300; i++) path.lineTo(i * 0.34, i * 0.34);
    const ends = [...pathData(path, 0).matchAll(/(\d+) \d+/g)].reduce((sum, match) => sum + Number(match[1]), 0);
    expect(ends).toBe(102);
  });
});
