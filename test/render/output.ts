// A backend's output kept in memory, and pixels of pictures read back.
import { createCanvas, loadImage } from '@napi-rs/canvas';
import type { Diagnostic, DisplayList } from '../../src/display/list.js';
import type { Color } from '../../src/display/paint.js';
import { type Backend, type RenderOptions, WHITE_PAPER } from '../../src/render/backend.js';

export interface Rendered {
  /** One a page, or the one document. */
  readonly files: readonly Buffer[];
  readonly diagnostics: readonly Diagnostic[];
}

export async function render(
  backend: Backend,
  lists: readonly DisplayList[],
  options: Partial<RenderOptions> = {},
): Promise<Rendered> {
  const parts: Uint8Array[][] = [];
  const diagnostics: Diagnostic[] = [];
  const open = () => {
    const chunks: Uint8Array[] = [];
    parts.push(chunks);
    return { write: (bytes: Uint8Array) => void chunks.push(Uint8Array.from(bytes)) };
  };
  const run = backend.start(
    { openDocument: open, openPage: open },
    {
      dpi: 254,
      quality: 85,
      maxPixels: 64_000_000,
      background: WHITE_PAPER,
      pageNumbers: lists.map(({ pageNumber }) => pageNumber),
      documents: [],
      report: (diagnostic) => diagnostics.push(diagnostic),
      ...options,
    },
  );
  for (const list of lists) await run.page(list);
  await run.end();
  return { files: parts.map((chunks) => Buffer.concat(chunks)), diagnostics };
}

export interface Pixels {
  readonly width: number;
  readonly height: number;
  at(x: number, y: number): Color;
}

export async function readPixels(file: Buffer): Promise<Pixels> {
  const picture = await loadImage(file);
  const { width, height } = picture;
  const context = createCanvas(width, height).getContext('2d');
  context.drawImage(picture, 0, 0);
  const { data } = context.getImageData(0, 0, width, height);
  return {
    width,
    height,
    at: (x, y) => {
      const from = (Math.floor(y) * width + Math.floor(x)) * 4;
      return [data[from]!, data[from + 1]!, data[from + 2]!];
    },
  };
}

/** Points of a scene whose colour is off by more than `tolerance`, as text. */
export function wrongPoints(
  pixels: Pixels,
  pixelsPerMm: number,
  points: readonly (readonly [number, number, Color])[],
  tolerance: number,
): string[] {
  return points.flatMap(([x, y, wanted]) => {
    const found = pixels.at(x * pixelsPerMm, y * pixelsPerMm);
    const isClose = found.every((channel, i) => Math.abs(channel - wanted[i]!) <= tolerance);
    return isClose ? [] : [`(${x}, ${y}) mm is ${found.join(',')}, wanted ${wanted.join(',')}`];
  });
}
