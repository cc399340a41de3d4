// Display lists by hand, the PDF that they become, and what other programs see in it.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DocumentFacts, type DocumentInfo, mergeFacts } from '../../src/display/facts.js';
import { IDENTITY, Path, rectanglePath } from '../../src/display/geometry.js';
import type { Diagnostic, DisplayList, GlyphRun, Group, ImageItem, Item, PathItem } from '../../src/display/list.js';
import type { Color, SolidPaint, Stroke } from '../../src/display/paint.js';
import { WHITE_PAPER } from '../../src/render/backend.js';
import { pdfBackend } from '../../src/render/pdf/index.js';

export const RED: Color = [255, 0, 0];
export const GREEN: Color = [0, 255, 0];
export const BLUE: Color = [0, 0, 255];
export const WHITE: Color = [255, 255, 255];

const PLAIN = { clips: [], blendMode: 'normal' } as const;

export function solid(color: Color, alpha = 1): SolidPaint {
  return { kind: 'solid', color, alpha };
}

export function rectangle(x: number, y: number, width: number, height: number): Path {
  return rectanglePath({ x, y, width, height });
}

export function circle(cx: number, cy: number, radius: number): Path {
  const k = 0.5523 * radius;
  const path = new Path();
  path.moveTo(cx + radius, cy);
  path.cubicTo(cx + radius, cy + k, cx + k, cy + radius, cx, cy + radius);
  path.cubicTo(cx - k, cy + radius, cx - radius, cy + k, cx - radius, cy);
  path.cubicTo(cx - radius, cy - k, cx - k, cy - radius, cx, cy - radius);
  path.cubicTo(cx + k, cy - radius, cx + radius, cy - k, cx + radius, cy);
  path.close();
  return path;
}

export function pathItem(path: Path, more: Partial<PathItem>): PathItem {
  return { kind: 'path', ...PLAIN, path, matrix: IDENTITY, ...more };
}

/** A rectangle filled with one colour. */
export function block(x: number, y: number, width: number, height: number, color: Color): PathItem {
  return pathItem(rectangle(x, y, width, height), { fill: { paint: solid(color), rule: 'nonzero' } });
}

export function pen(paint: Stroke['paint'], widthMm: number, more: Partial<Stroke> = {}): Stroke {
  return { paint, widthMm, cap: 'butt', join: 'miter', miterLimit: 10, dash: [], dashOffset: 0, ...more };
}

export function group(items: readonly Item[], more: Partial<Group> = {}): Group {
  return { kind: 'group', ...PLAIN, matrix: IDENTITY, alpha: 1, items, isShared: false, ...more };
}

export function imageItem(image: ImageItem['image'], more: Partial<ImageItem>): ImageItem {
  return { kind: 'image', ...PLAIN, image, matrix: IDENTITY, alpha: 1, smooth: false, ...more };
}

export type RunParts = Pick<GlyphRun, 'face' | 'glyphIds' | 'x' | 'y' | 'characters'> & Partial<GlyphRun>;

export function glyphRun(parts: RunParts): GlyphRun {
  return {
    kind: 'glyphs',
    ...PLAIN,
    sizeMm: 5,
    matrix: IDENTITY,
    shape: [1, 0, 0, 1],
    readDirection: 0,
    fill: solid([0, 0, 0]),
    emboldenMm: 0,
    ...parts,
  };
}

export function page(items: readonly Item[], pageNumber = 1, widthMm = 100, heightMm = 100): DisplayList {
  return { pageNumber, widthMm, heightMm, items };
}

export interface Made {
  readonly bytes: Buffer;
  /** How many bytes had been written when page i was done. */
  readonly writtenAfterPage: readonly number[];
  readonly diagnostics: readonly Diagnostic[];
}

export async function makePdf(
  pages: Iterable<DisplayList>,
  info: DocumentInfo = {},
  facts: Partial<DocumentFacts> = {},
): Promise<Made> {
  const chunks: Uint8Array[] = [];
  let written = 0;
  const file = {
    write(bytes: Uint8Array): void {
      chunks.push(bytes);
      written += bytes.length;
    },
  };
  const diagnostics: Diagnostic[] = [];
  const report = (diagnostic: Diagnostic): number => diagnostics.push(diagnostic);
  const output = { openDocument: () => file, openPage: () => file };
  const documents = [{ ...mergeFacts([]), info, ...facts }];
  const run = pdfBackend.start(output, {
    dpi: 96,
    quality: 90,
    background: WHITE_PAPER,
    maxPixels: 1e8,
    pageNumbers: [],
    documents,
    report,
  });
  const writtenAfterPage: number[] = [];
  for (const list of pages) {
    await run.page(list);
    writtenAfterPage.push(written);
  }
  await run.end();
  return { bytes: Buffer.concat(chunks), writtenAfterPage, diagnostics };
}

function withFile<T>(bytes: Uint8Array, use: (path: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'ofd-server-pdf-'));
  try {
    const path = join(folder, 'document.pdf');
    writeFileSync(path, bytes);
    return use(path);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What qpdf says against the file; '' for nothing. */
export function faultsOf(bytes: Uint8Array): string {
  return withFile(bytes, (path) => {
    const { status, stdout, stderr } = spawnSync('qpdf', ['--check', path], { encoding: 'utf8' });
    return status === 0 ? stderr : stdout + stderr;
  });
}

/** The file with everything unpacked, to look for operators and entries. */
export function unpacked(bytes: Uint8Array): string {
  return withFile(bytes, (path) => {
    const args = ['--stream-data=uncompress', '--object-streams=disable', path, '-'];
    return execFileSync('qpdf', args, { encoding: 'latin1', maxBuffer: 1 << 28 });
  });
}

/** Objects by their references (`7 0 R`), as qpdf tells them: names with slash, strings as `u:…` or `b:…`; of streams the dictionary. */
export function pdfObjects(bytes: Uint8Array): ReadonlyMap<string, unknown> {
  return withFile(bytes, (path) => {
    const json = execFileSync('qpdf', ['--json', '--json-key=qpdf', path], { encoding: 'utf8', maxBuffer: 1 << 28 });
    const [, objects] = (JSON.parse(json) as { qpdf: Record<string, QpdfObject>[] }).qpdf;
    return new Map(
      Object.entries(objects!).map(([key, { value, stream }]) => [key.replace(/^obj:/, ''), stream?.dict ?? value]),
    );
  });
}

interface QpdfObject {
  readonly value?: unknown;
  readonly stream?: { readonly dict: unknown };
}

/** Text in the order of the content stream. */
export function rawText(bytes: Uint8Array): string {
  return withFile(bytes, (path) =>
    execFileSync('pdftotext', ['-raw', '-enc', 'UTF-8', path, '-'], { encoding: 'utf8', maxBuffer: 1 << 28 }),
  );
}

export function toolOutput(tool: string, args: readonly string[], bytes: Uint8Array): string {
  return withFile(bytes, (path) => execFileSync(tool, [...args, path], { encoding: 'utf8', maxBuffer: 1 << 28 }));
}

/** Reads colours of the first page at places in millimetres. */
export function pixels(bytes: Uint8Array, dpi = 127): (xMm: number, yMm: number) => [number, number, number] {
  return withFile(bytes, (path) => {
    const ppm = `${path}.ppm`;
    execFileSync('pdftoppm', ['-r', String(dpi), '-f', '1', '-l', '1', '-singlefile', path, path]);
    const data = readFileSync(ppm);
    const header = /^P6\s+(\d+)\s+(\d+)\s+255\s/.exec(data.toString('latin1', 0, 40))!;
    const width = Number(header[1]);
    const start = header[0].length;
    return (xMm, yMm) => {
      const at = start + 3 * (Math.floor((yMm * dpi) / 25.4) * width + Math.floor((xMm * dpi) / 25.4));
      return [data[at]!, data[at + 1]!, data[at + 2]!];
    };
  });
}

/** Whether every channel is within `by` of what is wanted. */
export function isNear(color: readonly number[], wanted: Color, by = 6): boolean {
  return color.every((channel, i) => Math.abs(channel - wanted[i]!) <= by);
}
