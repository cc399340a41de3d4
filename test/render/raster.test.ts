// The raster backends: what they paint, how large, and what the files say about themselves.
import { createCanvas, loadImage } from '@napi-rs/canvas';
import { describe, expect, it } from 'vitest';
import type { EncodedImage, Item } from '../../src/display/list.js';
import type { ImageDecoder } from '../../src/render/decoding.js';
import { jpegBackend, pngBackend, webpBackend } from '../../src/render/raster/index.js';
import { rasterSize } from '../../src/render/raster/page-size.js';
import { devicePen } from '../../src/render/raster/pen.js';
import { Pictures } from '../../src/render/raster/pictures.js';
import { snapLine, snapPicture, snapRectangle } from '../../src/render/raster/snap.js';
import { Layers } from '../../src/render/raster/target.js';
import { axial, BLACK, box, group, image, line, page, pen, RED, rectangle, run, solid, tiling } from './lists.js';
import { readPixels, render, wrongPoints } from './output.js';
import { SCENES, smallPicture } from './scenes.js';

describe('png pages', () => {
  it.each(SCENES)('$name', async ({ list, points }) => {
    const { files, diagnostics } = await render(pngBackend, [list]);
    expect(diagnostics).toEqual([]);
    expect(wrongPoints(await readPixels(files[0]!), 10, points, 8)).toEqual([]);
  });

  it('shows a line of any thinness as a pixel', async () => {
    const thin = [0.001, 0].map((width, i) => line([5, 10 + 10 * i, 35, 10 + 10 * i], pen(width)));
    const dashed = line([5, 30, 35, 30], pen(0, { dash: [5, 5] }));
    const { files } = await render(pngBackend, [page([...thin, dashed])], { dpi: 25.4 });
    const pixels = await readPixels(files[0]!);
    for (const y of [10, 20]) expect(pixels.at(20, y)).toEqual(BLACK);
    expect(pixels.at(7, 30)).toEqual(BLACK);
    expect(pixels.at(12, 30)[0]).toBe(255);
    const slanted = await render(pngBackend, [page([line([5, 10, 35, 20], pen(0.001))])], { dpi: 25.4 });
    const column = await readPixels(slanted.files[0]!);
    const darkest = Math.min(...Array.from({ length: 40 }, (_, y) => column.at(20, y)[0]));
    expect(darkest).toBeLessThan(140);
  });

  it('makes one of the same bytes twice', async () => {
    for (const backend of [pngBackend, jpegBackend, webpBackend]) {
      const lists = SCENES.slice(0, 4).map(({ list }) => list);
      const [first, second] = [await render(backend, lists), await render(backend, lists)];
      expect(first.files.length).toBe(4);
      expect(first.files).toEqual(second.files);
    }
  });

  it('shows the squares of a picture sharp or blended, as asked, and blends what it reduces', async () => {
    const picture = await smallPicture();
    const checks = await smallPicture(
      Array.from({ length: 400 }, (_, i) => ((i + Math.floor(i / 20)) % 2 ? BLACK : [255])),
      20,
    );
    const items = [image(picture, [20, 0, 0, 20, 0, 0], { smooth: true }), image(checks, [2, 0, 0, 2, 30, 30])];
    const { files } = await render(pngBackend, [page(items)], { dpi: 25.4 });
    const pixels = await readPixels(files[0]!);
    const [red, green] = pixels.at(10, 2);
    expect(red).toBeGreaterThan(60);
    expect(green).toBeGreaterThan(60);
    expect(pixels.at(31, 31)[0]).toBeGreaterThan(100);
    expect(pixels.at(31, 31)[0]).toBeLessThan(155);
  });
});

describe('size and resolution', () => {
  it('rounds the page to whole pixels', async () => {
    const { files } = await render(pngBackend, [page([], 100, 50.1), page([], 0.01, 0.01)], { dpi: 96 });
    const sizes = await Promise.all(files.map(readPixels));
    expect(sizes.map(({ width, height }) => [width, height])).toEqual([
      [378, 189],
      [1, 1],
    ]);
  });

  it.each([
    ['png', pngBackend],
    ['jpeg', jpegBackend],
    ['webp', webpBackend],
  ])('lowers the resolution of a %s page that is too large, and says so', async (_name, backend) => {
    const huge = page([rectangle(box(0, 0, 2000, 10), RED)], 4000, 10);
    const { files, diagnostics } = await render(backend, [huge], { dpi: 300 });
    const pixels = await readPixels(files[0]!);
    expect(pixels.width).toBeLessThanOrEqual(16_384);
    expect(pixels.width).toBeGreaterThan(16_000);
    expect(
      wrongPoints(
        pixels,
        pixels.width / 4000,
        [
          [1000, 5, RED],
          [3000, 5, [255, 255, 255]],
        ],
        8,
      ),
    ).toEqual([]);
    expect(diagnostics.map(({ code, page: number }) => [code, number])).toEqual([['resolution_reduced', 1]]);
  });

  it('never exceeds its pixels', () => {
    for (const [width, height] of [
      [210, 297],
      [1e6, 1e-3],
      [1e-3, 1e6],
      [5000, 5000],
      [1e9, 1e9],
    ] as const) {
      const size = rasterSize(width, height, { dpi: 600 }, 1_000_000, 16_384);
      expect(size.widthPx * size.heightPx).toBeLessThanOrEqual(1_000_000);
      expect(Math.max(size.widthPx, size.heightPx)).toBeLessThanOrEqual(16_384);
      expect(Math.min(size.widthPx, size.heightPx)).toBeGreaterThanOrEqual(1);
    }
  });

  it('writes the resolution into PNG and JPEG', async () => {
    const png = (await render(pngBackend, [page([])], { dpi: 150 })).files[0]!;
    const physical = png.indexOf('pHYs');
    expect(png.readUInt32BE(physical + 4)).toBe(5906);
    const jpeg = (await render(jpegBackend, [page([])], { dpi: 150 })).files[0]!;
    expect([jpeg[13], jpeg.readUInt16BE(14), jpeg.readUInt16BE(16)]).toEqual([1, 150, 150]);
  });

  it('makes pages as wide or as high as asked for, and as large as fits where both are', async () => {
    const sizeOf = async (more: object, list = page([], 210, 297)) => {
      const { width, height } = await readPixels((await render(pngBackend, [list], more)).files[0]!);
      return [width, height];
    };
    expect(await sizeOf({ widthPx: 100 })).toEqual([100, 141]);
    expect(await sizeOf({ heightPx: 100 })).toEqual([71, 100]);
    expect(await sizeOf({ widthPx: 100, heightPx: 100 })).toEqual([71, 100]);
    expect(await sizeOf({ widthPx: 100, heightPx: 1000 })).toEqual([100, 141]);
    expect(await sizeOf({ widthPx: 64, heightPx: 64 }, page([], 297, 210))).toEqual([64, 45]);
    expect(await sizeOf({ widthPx: 1 }, page([], 1000, 0.1))).toEqual([1, 1]);
  });

  it('draws fewer pixels than asked for where they are too many, and says so', async () => {
    const { files, diagnostics } = await render(pngBackend, [page([], 20, 40)], { widthPx: 500, maxPixels: 20_000 });
    expect((await readPixels(files[0]!)).width).toBe(100);
    expect(diagnostics).toMatchObject([{ code: 'resolution_reduced', message: expect.stringContaining('100 × 200') }]);
  });

  it('lays the background under the page', async () => {
    const list = page([rectangle(box(0, 0, 10, 10), solid(RED, 0.5))], 20, 20);
    const colored = { background: { color: [0, 0, 255], alpha: 1 } } as const;
    for (const [backend, tolerance] of [
      [pngBackend, 1],
      [jpegBackend, 12],
      [webpBackend, 12],
    ] as const) {
      const pixels = await readPixels((await render(backend, [list], colored)).files[0]!);
      const points = [
        [5, 5, [128, 0, 128]],
        [15, 15, [0, 0, 255]],
      ] as const;
      expect(wrongPoints(pixels, 10, points, tolerance)).toEqual([]);
    }
  });

  it('leaves what is not painted transparent', async () => {
    const list = page([rectangle(box(0, 0, 10, 10), solid(RED, 0.5))], 20, 20);
    for (const backend of [pngBackend, webpBackend]) {
      const file = (await render(backend, [list], { background: { color: [0, 0, 0], alpha: 0 } })).files[0]!;
      const context = createCanvas(200, 200).getContext('2d');
      context.drawImage(await loadImage(file), 0, 0);
      expect(context.getImageData(150, 150, 1, 1).data[3]).toBe(0);
      const [red, , , alpha] = context.getImageData(50, 50, 1, 1).data;
      expect([red! > 250, Math.abs(alpha! - 128) < 4]).toEqual([true, true]);
    }
  });

  it('makes smaller files of lower quality', async () => {
    const { list } = SCENES.find(({ name }) => name.startsWith('radial'))!;
    for (const backend of [jpegBackend, webpBackend]) {
      const [low, high] = [
        await render(backend, [list], { quality: 20 }),
        await render(backend, [list], { quality: 95 }),
      ];
      expect(low.files[0]!.length).toBeLessThan(high.files[0]!.length);
    }
  });
});

describe('trouble', () => {
  const broken: EncodedImage = {
    bytes: Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 1, 2, 3),
    format: 'png',
    widthPx: 10,
    heightPx: 10,
    part: 'Doc_0/Res/broken.png',
  };

  it('names a picture that it can not decode, once, and paints the rest', async () => {
    const items = [image(broken, [10, 0, 0, 10, 0, 0]), rectangle(box(0, 0, 5, 5), RED)];
    const { files, diagnostics } = await render(pngBackend, [page(items, 40, 40, 3), page(items, 40, 40, 4)]);
    expect(diagnostics).toMatchObject([{ code: 'image_undecodable', page: 3, part: 'Doc_0/Res/broken.png' }]);
    expect(wrongPoints(await readPixels(files[1]!), 10, [[2, 2, RED]], 0)).toEqual([]);
  });

  it('keeps within its memory when transparent groups nest deep', async () => {
    let items: readonly Item[] = [rectangle(box(0, 0, 40, 40), RED)];
    for (let depth = 0; depth < 60; depth++) items = [group(items, { alpha: 0.99 })];
    const { files, diagnostics } = await render(pngBackend, [page(items)]);
    expect(diagnostics[0]).toMatchObject({ code: 'transparency_simplified', page: 1 });
    expect((await readPixels(files[0]!)).at(100, 100)[1]).toBeGreaterThan(90);
  });

  it('ends although patterns nest in patterns', async () => {
    let items: readonly Item[] = [rectangle(box(0, 0, 1, 1), RED)];
    for (let depth = 0; depth < 12; depth++)
      items = Array.from({ length: 4 }, () => rectangle(box(0, 0, 40, 40), tiling(items, 1, 1)));
    const { files, diagnostics } = await render(pngBackend, [page(items)]);
    expect(files.length).toBe(1);
    expect(diagnostics[0]).toMatchObject({ code: 'pattern_skipped', page: 1 });
  });

  it('ends although a pattern is empty, or so fine or so far away that its cells can not be counted', async () => {
    const cell = [rectangle(box(0, 0, 1, 1), RED)];
    const patterns = [
      tiling([group([])], 1e-6, 1e-6),
      tiling(cell, 1e-6, 1e-6),
      tiling(cell, 1, 1, { matrix: [1, 0, 0, 1, 1e18, -1e18] }),
      tiling(cell, 1, 1, { matrix: [1e-9, 0, 0, 1e9, 0, 0] }),
    ];
    const items = patterns.map((pattern) => rectangle(box(0, 0, 40, 40), pattern));
    expect((await render(pngBackend, [page(items)])).files.length).toBe(1);
  });

  it('draws dashes too short to be seen as a whole line', async () => {
    const dashed = line([0, 20, 40, 20], pen(2, { dash: [1e-7, 1e-7] }));
    const { files } = await render(pngBackend, [page([dashed])]);
    expect((await readPixels(files[0]!)).at(200, 200)).toEqual(BLACK);
  });

  it('paints nothing, and does not fail, where a matrix flattens the plane', async () => {
    const flat = [1, 0, 0, 0, 0, 10] as const;
    const items = [
      rectangle(box(0, 0, 10, 10), axial(0, 0, 5, 5), { matrix: flat }),
      rectangle(box(0, 0, 10, 10), axial(3, 3, 3, 3, { extendEnd: false })),
      rectangle(box(20, 20, 10, 10), tiling([rectangle(box(0, 0, 1, 1), RED)], 1, 1, { matrix: [0, 0, 0, 0, 0, 0] })),
      image(await smallPicture(), [0, 0, 0, 0, 5, 5]),
      run([1], [5], [5], { matrix: [0, 0, 0, 0, 0, 0] }),
    ];
    const { files, diagnostics } = await render(pngBackend, [page(items)]);
    expect(diagnostics).toEqual([]);
    expect((await readPixels(files[0]!)).at(250, 250)).toEqual([255, 255, 255]);
  });
});

describe('pens', () => {
  const thick = pen(2);

  it('stay as they are where they are wide enough', () => {
    expect(devicePen([3, 0, 0, 1, 5, 6], thick)).toEqual({ matrix: [3, 0, 0, 1, 5, 6], width: 2, dashScale: 1 });
  });

  it('are widened along their thin axis only', () => {
    const { matrix, width } = devicePen([0, 4, -0.1, 0, 5, 6], thick);
    expect(width).toBe(2);
    for (const [i, wanted] of [0, 4, -0.5, 0, 5, 6].entries()) expect(matrix[i]).toBeCloseTo(wanted, 9);
  });

  it('are a pixel wide under a matrix that mirrors or flattens', () => {
    for (const m of [
      [0.1, 0, 0, -0.1, 0, 0],
      [0, 0, 0, 0, 0, 0],
      [1, 1, 1, 1, 0, 0],
    ] as const) {
      const { matrix, width } = devicePen(m, pen(0.5));
      const [a, b, c, d] = matrix;
      const area = Math.abs(a * d - b * c) * width * width;
      expect(area).toBeGreaterThanOrEqual(0.999);
    }
  });
});

describe('edges of pictures', () => {
  it('go to whole pixels, at least one apart', () => {
    expect(snapPicture([10.4, 0, 0, -5.2, 0.3, 9.9])).toEqual([11, 0, 0, -5, 0, 10]);
    expect(snapPicture([0, 10.4, -5.2, 0, 9.9, 0.3])).toEqual([0, 11, -5, 0, 10, 0]);
    expect(snapPicture([0.2, 0, 0, 8, 3.6, 0])).toEqual([1, 0, 0, 8, 3, 0]);
    expect(snapPicture([7, 7, -7, 7, 0.5, 0.5])).toEqual([7, 7, -7, 7, 0.5, 0.5]);
  });

  it('are those of rectangles and of thin lines along the axes, too', () => {
    expect(snapRectangle(box(1, 1, 2, 0.01), [10, 0, 0, 10, 0.4, 0.4])).toEqual(box(10, 10, 20, 1));
    expect(snapRectangle(box(1, 1, 2, 2), [7, 7, -7, 7, 0, 0])).toBeUndefined();
    const { path } = line([1.02, 0.5, 1.02, 4.5], pen(0.1));
    const snapped = snapLine(path, [10, 0, 0, 10, 0, 0], pen(0.1));
    expect([snapped?.widthPx, snapped?.path.coordinates]).toEqual([1, [10.5, 5.5, 10.5, 45.5]]);
    expect(snapLine(line([0, 0, 5, 1], pen(0.1)).path, [10, 0, 0, 10, 0, 0], pen(0.1))).toBeUndefined();
    expect(snapLine(path, [10, 0, 0, 10, 0, 0], pen(2))).toBeUndefined();
    // Shorter than a pixel, it must not vanish between two of them.
    const short = line([1.01, 0.5, 1.04, 0.5], pen(0.1));
    expect(snapLine(short.path, [10, 0, 0, 10, 0, 0], pen(0.1))).toBeUndefined();
  });

  it('leave no seam between strips', async () => {
    const black = await smallPicture([BLACK, BLACK, BLACK, BLACK]);
    const strips = Array.from({ length: 20 }, (_, i) => image(black, [30, 0, 0, 1.37, 5, 5 + 1.37 * i]));
    const { files } = await render(pngBackend, [page(strips)], { dpi: 96 });
    const pixels = await readPixels(files[0]!);
    for (let y = 22; y < 120; y++) expect(pixels.at(60, y)).toEqual(BLACK);
  });

  it('are not drawn where the page is not', async () => {
    const { files } = await render(pngBackend, [
      page([image(await smallPicture(), [10, 0, 0, 10, 500, 5]), rectangle(box(-50, -50, 10, 10), solid(RED))]),
    ]);
    expect(files.length).toBe(1);
  });
});

describe('canvases', () => {
  const target = { context: createCanvas(20, 20).getContext('2d'), box: { x: 2, y: 3, width: 10, height: 10 } };
  const effect = { alpha: 1, operation: 'source-over' } as const;

  it('are one for all groups of a size that follow each other, empty each time', async () => {
    const layers = new Layers(400);
    const used = new Set<unknown>();
    for (let i = 0; i < 3; i++) {
      await layers.paint(target, effect, ({ context }) => {
        used.add(context.canvas);
        expect(context.getImageData(0, 0, 10, 10).data.every((value) => value === 0)).toBe(true);
        context.translate(5, 5);
        context.fillRect(0, 0, 10, 10);
      });
    }
    expect(used.size).toBe(1);
  });

  it('of pictures give their pixels back when they make room', async () => {
    const decode = async ({ widthPx, heightPx }: EncodedImage) =>
      ({ widthPx, heightPx, rgba: new Uint8Array(widthPx * heightPx * 4), hasAlpha: false, isPartial: false }) as const;
    const pictures = new Pictures({ decode } as unknown as ImageDecoder);
    const get = async (side: number) => {
      const encoded = {
        bytes: new Uint8Array(1),
        format: 'png',
        widthPx: side,
        heightPx: side,
        part: 'a.png',
      } as const;
      return (await pictures.get(encoded, undefined, side, side))!.canvas;
    };
    const first = await get(4_000);
    const second = await get(4_001);
    expect([first.width, second.width]).toEqual([1, 4_001]);
    const whole = await get(5_100);
    expect([second.width, whole.width]).toEqual([1, 5_100]);
    expect((await get(10)).width).toBe(10);
    expect(whole.width).toBe(1);
  });

  it('of groups keep the pixels of one at most, and of none when told so', async () => {
    const layers = new Layers(400);
    const used: { readonly width: number; readonly height: number }[] = [];
    const widths = (): number[] => used.map(({ width }) => width);
    for (const width of [8, 9, 10]) {
      const box = { ...target.box, width };
      await layers.paint({ ...target, box }, effect, ({ context }) => void used.push(context.canvas));
    }
    expect(widths()).toEqual([1, 1, 10]);
    layers.release();
    expect(widths()).toEqual([1, 1, 1]);
  });
});
