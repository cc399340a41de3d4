// What would take minutes to draw: long lines go in pieces that show the same, and a page has a budget.
import { createCanvas } from '@napi-rs/canvas';
import { describe, expect, it } from 'vitest';
import { Path } from '../../src/display/geometry.js';
import type { Diagnostic, PathItem } from '../../src/display/list.js';
import type { Stroke } from '../../src/display/paint.js';
import { DrawingBudget } from '../../src/render/raster/drawing-budget.js';
import { pngBackend } from '../../src/render/raster/index.js';
import { linePieces } from '../../src/render/raster/line-pieces.js';
import { toPath2D } from '../../src/render/raster/paths.js';
import { BLACK, box, filled, image, line, page, pen, RED, radial, rectangle, solid, WHITE } from './lists.js';
import { readPixels, render } from './output.js';
import { smallPicture } from './scenes.js';

const stroked = (path: Path, stroke: Stroke): PathItem => ({ ...line([0, 0, 1, 1], stroke), path });

/** A line in sharp turns that crosses itself nowhere near, with curves, closed figures and breaks in it. */
function longPath(segments: number): Path {
  const path = new Path();
  for (let i = 0; i < segments; i++) {
    const [x, y] = [2 + (i % 36), 2 + Math.floor(i / 36) * 0.15];
    if (i % 36 === 0 && i % 108 === 0) path.moveTo(x, y);
    else if (i % 7 === 0) path.quadTo(x - 0.5, y + 0.6, x, y);
    else if (i % 11 === 0) path.cubicTo(x - 0.8, y + 0.5, x - 0.2, y - 0.5, x, y);
    else path.lineTo(x, y + (i % 2) * 0.4);
    if (i % 108 === 107) path.close();
  }
  return path;
}

describe('long lines', () => {
  it('are drawn in pieces as they would be in one', async () => {
    const path = longPath(9000);
    expect([...linePieces(path, 0.3)].length).toBe(3);
    const { files } = await render(pngBackend, [page([stroked(path, pen(0.05, { paint: solid(BLACK) }))])]);
    const whole = createCanvas(400, 400).getContext('2d');
    whole.fillStyle = 'white';
    whole.fillRect(0, 0, 400, 400);
    whole.scale(10, 10);
    whole.lineWidth = 0.1;
    whole.stroke(toPath2D(path));
    const { data } = whole.getImageData(0, 0, 400, 400);
    const pixels = await readPixels(files[0]!);
    let different = 0;
    for (let i = 0; i < 160_000; i++) {
      if (Math.abs(pixels.at(i % 400, Math.floor(i / 400))[0] - data[4 * i]!) > 8) different++;
    }
    expect(different).toBeLessThan(40);
  });

  it('that are translucent are not darker where pieces meet', async () => {
    const path = new Path();
    path.moveTo(2, 20);
    for (let i = 1; i <= 9000; i++) path.lineTo(2 + (36 * i) / 9000, 20 + (i % 2) * 0.001);
    const half = pen(4, { paint: solid(BLACK, 0.5) });
    const pixels = await readPixels((await render(pngBackend, [page([stroked(path, half)])])).files[0]!);
    const shades = new Set(Array.from({ length: 340 }, (_, x) => pixels.at(30 + x, 200)[0]));
    expect([...shades].every((shade) => Math.abs(shade - 127) <= 1)).toBe(true);
  });

  it('give the whole path where it is short', () => {
    const path = longPath(100);
    expect([...linePieces(path, 0.3)]).toEqual([path]);
  });
});

describe('fills', () => {
  const tangle = (segments: number, height: number): Path => {
    const path = new Path();
    path.moveTo(0, 0);
    for (let i = 1; i < segments; i++) path.lineTo(i % 39, ((i * 7) % 41) * height);
    return path;
  };

  it('of a million edges that cross each other are left out, and it is told', async () => {
    const items = [filled(tangle(1_000_000, 1), RED), rectangle(box(10, 10, 10, 10), BLACK)];
    const { files, diagnostics } = await render(pngBackend, [page(items)]);
    expect(diagnostics.map(({ code }) => code)).toEqual(['drawing_cut']);
    expect((await readPixels(files[0]!)).at(150, 150)).toEqual(BLACK);
  });

  it('of as many small edges are drawn', async () => {
    const { files, diagnostics } = await render(pngBackend, [page([filled(tangle(100_000, 0.02), RED)])]);
    expect(diagnostics).toEqual([]);
    expect((await readPixels(files[0]!)).at(200, 2)).toEqual(RED);
  });
});

describe('the budget of a page', () => {
  const taken = (pagePixels: number, pixels: number, count: number) => {
    const diagnostics: Diagnostic[] = [];
    const budget = new DrawingBudget(pagePixels, (diagnostic) => diagnostics.push(diagnostic), 7);
    const granted = Array.from({ length: count }, () => budget.take(pixels)).filter(Boolean).length;
    return { granted, diagnostics };
  };

  it('is enough for what pages hold, and ends with one warning', () => {
    expect(taken(1_000_000, 1_000_000, 1500)).toEqual({ granted: 1500, diagnostics: [] });
    const spent = taken(1_000_000, 1_000_000, 1700);
    expect(spent.granted).toBe(1500);
    expect(spent.diagnostics).toMatchObject([{ code: 'drawing_cut', page: 7 }]);
  });

  it('grows with the resolution', () => {
    expect(taken(60_000_000, 60_000_000, 100).granted).toBe(64);
  });

  it('once used up leaves what is cheap', async () => {
    // Circles that are one and the same paint nothing, and take no time.
    const nothing = radial([20, 20, 5], [20, 20, 5]);
    const shaded = Array.from({ length: 300 }, () => rectangle(box(0, 0, 40, 40), nothing));
    const picture = image(await smallPicture(), [40, 0, 0, 40, 0, 0]);
    const items = [...shaded, picture, rectangle(box(10, 10, 10, 10), RED)];
    const { files, diagnostics } = await render(pngBackend, [page(items)], { dpi: 1524 });
    expect(diagnostics.map(({ code }) => code)).toEqual(['drawing_cut']);
    const pixels = await readPixels(files[0]!);
    expect([pixels.at(900, 900), pixels.at(1800, 1800)]).toEqual([RED, WHITE]);
  });
});
