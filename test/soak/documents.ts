/** What a soak sends: good documents of every format, damaged ones of every kind, and how each may end. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Base, readBases } from '../fuzz/bases.js';
import { galleryPackage } from '../fuzz/gallery.js';
import type { Numbers } from '../fuzz/numbers.js';
import { planOf } from '../fuzz/plan.js';
import { makeBmp, makeJpeg, makePng } from '../images/make-images.js';
import { buildOfd, textXml } from '../support/ofd-builder.js';
import { odt, textDocx, xlsx } from '../support/office.js';
import { writePdf } from '../support/pdf-writer.js';
import { PIXEL } from '../support/web.js';

export interface Document {
  readonly name: string;
  readonly bytes: Uint8Array;
  /** Formats that it is turned into. */
  readonly to: readonly string[];
  /** How a conversion may end. */
  readonly expected: readonly string[];
}

const PAGED = ['png', 'jpeg', 'webp', 'svg'];
const WHOLE = ['pdf', 'html', 'json', 'txt', 'md'];
/** Formats of one file, which a stream can carry. */
export const STREAMED: ReadonlySet<string> = new Set(WHOLE);
const ALL = [...WHOLE, ...PAGED];
const GOOD = ['succeeded'];
/** What a damaged document may come to: a result as far as it goes, or a refusal that says why. Never a fault of ours. */
const DAMAGED = ['succeeded', 'conversion_failed', 'invalid_request'];
const MAX_CORPUS_BYTES = 2 * 1024 * 1024;

export interface Library {
  readonly light: readonly Document[];
  readonly damaged: readonly Document[];
  /** By LibreOffice. */
  readonly office: readonly Document[];
  /** By Chromium. */
  readonly web: readonly Document[];
  /** Many pages: it takes its time. */
  readonly long: Document;
  /** Another damaged package each time. */
  fuzzed(number: number): Document;
}

/** @param tree root of the tree, `corpus` a folder with more packages */
export async function openLibrary(tree: string, corpus: string | undefined): Promise<Library> {
  const bases = await readBases(tree);
  const example = readFileSync(join(tree, 'examples/invoice.ofd'));
  return {
    light: [...ofdDocuments(example), ...pdfDocuments(), ...pictures(), markdown(), ...corpusDocuments(corpus)],
    damaged: damagedDocuments(example),
    office: officeDocuments(),
    web: webDocuments(),
    long: { name: 'long.ofd', bytes: linesOfText(60, 45), to: PAGED, expected: GOOD },
    fuzzed: (number) => fuzzedDocument(number, bases),
  };
}

function fuzzedDocument(number: number, bases: readonly Base[]): Document {
  const { bytes } = planOf(number, bases);
  return { name: 'fuzzed.ofd', bytes, to: ALL, expected: DAMAGED };
}

const FONTS = '<ofd:Fonts><ofd:Font ID="1" FontName="DejaVu Sans"/></ofd:Fonts>';

function linesOfText(pages: number, lines: number): Uint8Array {
  const page = (number: number): string =>
    Array.from({ length: lines }, (_unused, line) =>
      textXml(
        `Page ${number}, line ${line}: 发票 0123456789`,
        `ID="${10 + line}" Boundary="10 ${10 + line * 6} 190 6" Font="1" Size="4"`,
      ),
    ).join('');
  return buildOfd({ publicRes: FONTS, pages: Array.from({ length: pages }, (_unused, index) => page(index + 1)) });
}

function ofdDocuments(example: Uint8Array): Document[] {
  const make = (name: string, bytes: Uint8Array): Document => ({ name, bytes, to: ALL, expected: GOOD });
  return [
    make('invoice.ofd', example),
    make('发票 №1.ofd', example),
    make('one-line.ofd', linesOfText(1, 1)),
    make('three-pages.ofd', linesOfText(3, 40)),
    make('gallery.ofd', galleryPackage()),
  ];
}

function corpusDocuments(corpus: string | undefined): Document[] {
  if (corpus === undefined) return [];
  const names = readdirSync(corpus, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ofd'));
  const paths = names.sort().map((name) => join(corpus, name));
  const small = paths.filter((path) => statSync(path).size <= MAX_CORPUS_BYTES);
  // Some of a corpus are damaged or encrypted: that is theirs.
  return small.map((path) => ({ name: 'corpus.ofd', bytes: readFileSync(path), to: ALL, expected: DAMAGED }));
}

function pdfDocuments(): Document[] {
  const text = (words: string): string => `BT /F1 24 Tf 72 700 Td (${words}) Tj ET 1 0 0 rg 72 500 200 100 re f`;
  const pages = (count: number): Uint8Array =>
    writePdf({ pages: Array.from({ length: count }, (_unused, index) => ({ content: text(`Page ${index + 1}`) })) });
  return [
    { name: 'one.pdf', bytes: pages(1), to: ALL, expected: GOOD },
    { name: 'five.pdf', bytes: pages(5), to: ALL, expected: GOOD },
  ];
}

function picture(): Uint8Array {
  const rows = Array.from({ length: 120 }, (_row, y) => Uint8Array.from({ length: 480 }, (_byte, x) => (x * y) & 255));
  return makePng({ width: 160, height: 120, bitDepth: 8, colorType: 2, rows });
}

function pictures(): Document[] {
  const to = ['pdf', 'png', 'jpeg', 'webp', 'html', 'json'];
  const jpeg = makeJpeg({ blocks: Array.from({ length: 60 }, (_block, index) => [index, 128, 200]) });
  return [
    { name: 'picture.png', bytes: picture(), to, expected: GOOD },
    { name: 'picture.jpg', bytes: jpeg, to, expected: GOOD },
  ];
}

function markdown(): Document {
  const text = '# 标题\n\nA *paragraph* with `code`.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- one\n- two\n';
  return { name: 'notes.md', bytes: Buffer.from(text.repeat(5)), to: ['html'], expected: GOOD };
}

function officeDocuments(): Document[] {
  const to = ['pdf', 'png', 'txt'];
  return [
    { name: 'letter.docx', bytes: textDocx('Dear Sir', '您好', 'x '.repeat(800)), to, expected: GOOD },
    { name: 'letter.odt', bytes: odt('<text:p>Hello 您好</text:p>'), to, expected: GOOD },
    {
      name: 'table.xlsx',
      bytes: xlsx([
        ['a', 'b'],
        ['1', '2'],
      ]),
      to,
      expected: GOOD,
    },
    { name: 'cut.docx', bytes: textDocx('Cut').subarray(0, 400), to, expected: DAMAGED },
    { name: 'table.csv', bytes: Buffer.from('a,b\n1,2\n'), to: ['pdf'], expected: GOOD },
  ];
}

function webDocuments(): Document[] {
  const page = `<!doctype html><meta charset="utf-8"><title>t</title><h1>标题</h1><img src="data:image/png;base64,${PIXEL}">`;
  const to = ['pdf', 'png', 'txt'];
  // Pages reach nothing: what they ask for elsewhere is left out.
  const reaching = `${page}<img src="http://127.0.0.1:9/a.png"><script>fetch('http://127.0.0.1:9/b')</script>`;
  return [
    { name: 'page.html', bytes: Buffer.from(page), to, expected: GOOD },
    { name: 'reaching.html', bytes: Buffer.from(reaching), to, expected: GOOD },
    { name: 'long.html', bytes: Buffer.from(`${page}${'<p>paragraph 段落</p>'.repeat(800)}`), to, expected: GOOD },
    { name: 'notes.md', bytes: markdown().bytes, to: ['pdf', 'png'], expected: GOOD },
  ];
}

function damagedDocuments(example: Uint8Array): Document[] {
  const make = (name: string, bytes: Uint8Array, to: readonly string[], expected: readonly string[]): Document => ({
    name,
    bytes,
    to,
    expected,
  });
  const noise = Uint8Array.from({ length: 5000 }, (_unused, index) => (index * 7919 + (index >> 3) * 31) & 255);
  const halfPdf = writePdf({ pages: [{}, {}, {}] }).subarray(0, 500);
  const refused = ['conversion_failed', 'invalid_request'];
  return [
    make('cut.ofd', example.subarray(0, Math.floor(example.length / 2)), ALL, DAMAGED),
    make('head.ofd', example.subarray(0, 60), ALL, DAMAGED),
    make('noise.ofd', noise, ALL, refused),
    make('empty.ofd', new Uint8Array(0), ALL, refused),
    make('really-a-pdf.ofd', writePdf({ pages: [{}] }), WHOLE, DAMAGED),
    make('no-pages.ofd', buildOfd({ pages: [] }), ALL, DAMAGED),
    make('not-xml.ofd', buildOfd({ pages: [], files: { 'OFD.xml': '<ofd:OFD' } }), ALL, refused),
    make('cut.pdf', halfPdf, ALL, DAMAGED),
    make('noise.pdf', noise, ALL, refused),
    make('cut.png', picture().subarray(0, 300), ['pdf'], DAMAGED),
    make('huge.bmp', makeBmp({ width: 60_000, height: 60_000, bitsPerPixel: 24, data: [1, 2, 3] }), ['pdf'], DAMAGED),
    make('cut.jpeg', makeJpeg({ blocks: Array(60).fill([1, 2, 3]) }).subarray(0, 400), ['pdf'], DAMAGED),
  ];
}

/** One of them with a format that it can become, of one file where a stream is to carry it. */
export function pickDocument(documents: readonly Document[], numbers: Numbers, isStream: boolean): [Document, string] {
  const suitable = documents.filter(({ to }) => !isStream || to.some((format) => STREAMED.has(format)));
  const document = numbers.pick(suitable);
  return [document, numbers.pick(document.to.filter((format) => !isStream || STREAMED.has(format)))];
}
