// Rasters and text layers of products, by the programs that users would open them with.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCanvas, loadImage } from '@napi-rs/canvas';

/** RGB over white paper; `pixelsPerMm` is undefined where only the page size tells. */
export interface Raster {
  readonly widthPx: number;
  readonly heightPx: number;
  readonly rgba: Uint8ClampedArray;
}

export const RASTER_DPI = 150;

/** Runs `use` with a folder of its own that is gone afterwards. */
export async function withFolder<T>(use: (folder: string) => T | Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'ofd-server-test-'));
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export async function readRaster(path: string): Promise<Raster> {
  const image = await loadImage(readFileSync(path));
  const canvas = createCanvas(image.width, image.height);
  const context = canvas.getContext('2d');
  context.fillStyle = '#fff';
  context.fillRect(0, 0, image.width, image.height);
  context.drawImage(image, 0, 0);
  return {
    widthPx: image.width,
    heightPx: image.height,
    rgba: context.getImageData(0, 0, image.width, image.height).data,
  };
}

/** Page `page` of a PDF by poppler. */
export async function rasterOfPdf(pdf: string, page: number, folder: string, dpi = RASTER_DPI): Promise<Raster> {
  const base = join(folder, `pdf-${page}`);
  execFileSync('pdftoppm', [
    '-r',
    String(dpi),
    '-png',
    '-f',
    String(page),
    '-l',
    String(page),
    '-singlefile',
    pdf,
    base,
  ]);
  return readRaster(`${base}.png`);
}

/** An SVG page by librsvg. */
export async function rasterOfSvg(svg: string, folder: string, dpi = RASTER_DPI): Promise<Raster> {
  const png = join(folder, 'svg.png');
  execFileSync('rsvg-convert', ['-d', String(dpi), '-p', String(dpi), '-b', 'white', '-o', png, svg]);
  return readRaster(png);
}

export function textOfPdf(pdf: string, mode: 'layout' | 'raw' = 'layout'): string {
  const args = mode === 'raw' ? ['-raw', '-enc', 'UTF-8', pdf, '-'] : ['-enc', 'UTF-8', pdf, '-'];
  return execFileSync('pdftotext', args, { encoding: 'utf8', maxBuffer: 1 << 28 });
}

export interface PdfPage {
  readonly widthMm: number;
  readonly heightMm: number;
}

export function pagesOfPdf(pdf: string): readonly PdfPage[] {
  const text = execFileSync('pdfinfo', ['-f', '1', '-l', '100000', pdf], { encoding: 'utf8', maxBuffer: 1 << 28 });
  return [...text.matchAll(/size:\s+([\d.]+) x ([\d.]+)/g)].map((match) => ({
    widthMm: (Number(match[1]) * 25.4) / 72,
    heightMm: (Number(match[2]) * 25.4) / 72,
  }));
}

/**
 * How well the ink of two rasters of one page agrees, 0…1: the F1 score of pixels darker than the paper by 40 of 255,
 * each counted as found where the other has ink within one pixel.
 */
export function inkAgreement(a: Raster, b: Raster): number {
  const width = Math.min(a.widthPx, b.widthPx);
  const height = Math.min(a.heightPx, b.heightPx);
  const [inkA, inkB] = [inkOf(a, width, height), inkOf(b, width, height)];
  const [precision, recall] = [share(inkA, inkB, width, height), share(inkB, inkA, width, height)];
  return precision + recall === 0 ? 0 : (2 * precision * recall) / (precision + recall);
}

function inkOf(raster: Raster, width: number, height: number): Uint8Array {
  const ink = new Uint8Array(width * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const at = 4 * (y * raster.widthPx + x);
      const luminance = 0.299 * raster.rgba[at]! + 0.587 * raster.rgba[at + 1]! + 0.114 * raster.rgba[at + 2]!;
      ink[y * width + x] = luminance < 215 ? 1 : 0;
    }
  }
  return ink;
}

/** The share of `ink` that has ink of `other` within one pixel; 1 where there is none to look for. */
function share(ink: Uint8Array, other: Uint8Array, width: number, height: number): number {
  let total = 0;
  let found = 0;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      if (!ink[y * width + x]) continue;
      total += 1;
      if (hasNear(other, x, y, width, height)) found += 1;
    }
  }
  return total === 0 ? 1 : found / total;
}

function hasNear(ink: Uint8Array, x: number, y: number, width: number, height: number): boolean {
  for (let row = Math.max(0, y - 1); row <= Math.min(height - 1, y + 1); row++) {
    for (let column = Math.max(0, x - 1); column <= Math.min(width - 1, x + 1); column++) {
      if (ink[row * width + column]) return true;
    }
  }
  return false;
}
