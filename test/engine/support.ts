// Pages made by the tests, drawn by all three kinds of output and looked at through the programs that users have.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Diagnostic } from '../../src/display/list.js';
import type { Color } from '../../src/display/paint.js';
import { systemFontBook } from '../../src/fonts/system.js';
import { openOfd } from '../../src/ofd/index.js';
import { DEFAULT_LIMITS } from '../../src/ofd/limits.js';
import { loadBackend } from '../../src/render/index.js';
import { render } from '../render/output.js';
import { buildOfd, type OfdSpec } from '../support/ofd-builder.js';
import { type Raster, rasterOfPdf, rasterOfSvg, readRaster, textOfPdf, withFolder } from '../support/rendering.js';

export const DPI = 127;
/** Pixels a millimetre. */
const SCALE = DPI / 25.4;
const KINDS = ['png', 'pdf', 'svg'] as const;
type Kind = (typeof KINDS)[number];

const fonts = systemFontBook([]);

export type Point = readonly [xMm: number, yMm: number, color: Color];

export class Drawn {
  readonly rasters: ReadonlyMap<Kind, Raster>;
  readonly diagnostics: readonly Diagnostic[];
  /** By pdftotext, and what the txt output says. */
  readonly pdfText: string;
  readonly text: string;

  constructor(rasters: Map<Kind, Raster>, diagnostics: readonly Diagnostic[], pdfText: string, text: string) {
    this.rasters = rasters;
    this.diagnostics = diagnostics;
    this.pdfText = pdfText;
    this.text = text;
  }

  /** What was found, but for the remark on pages without text. */
  get codes(): readonly string[] {
    return this.diagnostics.map(({ code }) => code).filter((code) => code !== 'page_without_text');
  }

  colorAt(kind: Kind, xMm: number, yMm: number): Color {
    const { rgba, widthPx } = this.rasters.get(kind)!;
    const at = 4 * (Math.floor(yMm * SCALE) * widthPx + Math.floor(xMm * SCALE));
    return [rgba[at]!, rgba[at + 1]!, rgba[at + 2]!];
  }

  /** Expects the colours at some points in all outputs (or those of `kinds`), each channel within `tolerance`. */
  expectColors(points: readonly Point[], tolerance = 6, kinds: readonly Kind[] = KINDS): void {
    const wrong = kinds.flatMap((kind) =>
      points.flatMap(([x, y, wanted]) => {
        const found = this.colorAt(kind, x, y);
        const isClose = found.every((channel, i) => Math.abs(channel - wanted[i]!) <= tolerance);
        return isClose
          ? []
          : [`${kind} (${x}, ${y}) mm is ${found.join(',')}, wanted ${wanted.map(Math.round).join(',')}`];
      }),
    );
    expect(wrong.slice(0, 9)).toEqual([]);
  }

  /** Expects the colours that `colorOf` gives on a grid over a box; undefined for points that are not looked at. */
  expectField(
    box: readonly [x: number, y: number, width: number, height: number],
    colorOf: (x: number, y: number) => Color | undefined,
    tolerance = 6,
  ): void {
    const [left, top, width, height] = box;
    const points: Point[] = [];
    for (let row = 0; row < 20; row++) {
      for (let column = 0; column < 20; column++) {
        // The centre of a pixel, whose colour a raster has.
        const x = (Math.floor((left + ((column + 0.5) * width) / 20) * SCALE) + 0.5) / SCALE;
        const y = (Math.floor((top + ((row + 0.5) * height) / 20) * SCALE) + 0.5) / SCALE;
        const color = colorOf(x, y);
        if (color !== undefined) points.push([x, y, color]);
      }
    }
    expect(points.length).toBeGreaterThan(30);
    this.expectColors(points, tolerance);
  }
}

/** Draws a page of a package (the first one) in every way. */
export async function draw(spec: OfdSpec | string, pageNumber = 1): Promise<Drawn> {
  const diagnostics: Diagnostic[] = [];
  const bytes = buildOfd(typeof spec === 'string' ? { pages: [spec], physicalBox: '0 0 100 80' } : spec);
  const document = await openOfd(bytes, { limits: DEFAULT_LIMITS, fonts, report: (found) => diagnostics.push(found) });
  const list = { ...document.page(pageNumber - 1), pageNumber: 1 };
  return withFolder(async (folder) => {
    const fileOf = (format: string): string => join(folder, `page.${format}`);
    for (const format of [...KINDS, 'txt']) {
      const output = await render(await loadBackend(format), [list], { dpi: DPI, documents: document.documents });
      diagnostics.push(...output.diagnostics);
      writeFileSync(fileOf(format), output.files[0]!);
    }
    const rasters = new Map<Kind, Raster>([
      ['png', await readRaster(fileOf('png'))],
      ['pdf', await rasterOfPdf(fileOf('pdf'), 1, folder, DPI)],
      ['svg', await rasterOfSvg(fileOf('svg'), folder, DPI)],
    ]);
    const text = readFileSync(fileOf('txt'), 'utf8').trim();
    return new Drawn(rasters, diagnostics, textOfPdf(fileOf('pdf')).trim(), text);
  });
}

/** A filled rectangle at `box` without a line round it. */
export function filledXml(box: string, fill: string, attributes = ''): string {
  const [, , width, height] = box.split(' ');
  return (
    `<ofd:PathObject ID="9" Boundary="${box}" Fill="true" Stroke="false" ${attributes}>${fill}` +
    `<ofd:AbbreviatedData>M 0 0 L ${width} 0 L ${width} ${height} L 0 ${height} C</ofd:AbbreviatedData></ofd:PathObject>`
  );
}

export const WHITE: Color = [255, 255, 255];
export const BLACK: Color = [0, 0, 0];
export const RED: Color = [255, 0, 0];
export const GREEN: Color = [0, 255, 0];
export const BLUE: Color = [0, 0, 255];

export function mix(a: Color, b: Color, ratio: number): Color {
  return [0, 1, 2].map((i) => a[i]! + (b[i]! - a[i]!) * ratio) as unknown as Color;
}
