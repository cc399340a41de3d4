// PDFs as input: what poppler shows and reads is what comes out; forms, fonts, turned pages, passwords, damage (issue 6).
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ConversionOptions } from '../../src/convert/converter-types.js';
import { convertOfd } from '../../src/convert/engines/ofd.js';
import { pdfEngine } from '../../src/convert/engines/pdf.js';
import { OutputFiles } from '../../src/convert/output-files.js';
import { FontBook } from '../../src/fonts/index.js';
import { systemFontBook } from '../../src/fonts/system.js';
import type { FormatId } from '../../src/formats.js';
import { type EngineProducts, runEngine } from '../support/engine-run.js';
import { temporaryFolder } from '../support/jobs.js';
import { buildOfd, textXml } from '../support/ofd-builder.js';
import { HELVETICA, hanFont, utf16Hex, writePdf } from '../support/pdf-writer.js';
import { inkAgreement, rasterOfPdf, rasterOfSvg, readRaster, textOfPdf } from '../support/rendering.js';

let folder: ReturnType<typeof temporaryFolder>;

beforeEach(() => {
  folder = temporaryFolder('pdf-engine');
});
afterEach(() => folder.remove());

function convert(
  input: Uint8Array,
  to: FormatId,
  options?: ConversionOptions,
  fonts?: FontBook,
): Promise<EngineProducts> {
  return runEngine(pdfEngine, input, { from: 'pdf', to }, folder.path, options, fonts);
}

function write(name: string, bytes: Uint8Array): string {
  const path = join(folder.path, name);
  writeFileSync(path, bytes);
  return path;
}

async function pdfOfOfd(): Promise<Buffer> {
  const output = new OutputFiles(folder.path, { document: () => 'ofd.pdf', page: () => '' });
  const fonts = systemFontBook([]);
  const line = '<ofd:PathObject ID="9" Boundary="20 40 100 60" LineWidth="0.5"><ofd:StrokeColor Value="200 0 90"/>';
  const drawing = `${line}<ofd:AbbreviatedData>M 0 0 L 100 60 M 0 60 B 20 0 60 0 100 30</ofd:AbbreviatedData></ofd:PathObject>`;
  const input = buildOfd({
    publicRes: '<ofd:Fonts><ofd:Font ID="1" FontName="宋体"/></ofd:Fonts>',
    pages: [1, 2].map((page) => textXml(`第${page}页：电子发票 invoice`) + drawing),
  });
  await convertOfd({ input, to: 'pdf', options: {}, output, fonts });
  await output.finish();
  return readFileSync(join(folder.path, 'ofd.pdf'));
}

/** Dark pixels of the first page. */
async function inkOf(made: EngineProducts): Promise<number> {
  const { rgba } = await readRaster(made.files.get('page-0001.png')!);
  return rgba.filter((value, i) => i % 4 === 1 && value < 128).length;
}

const HAN_FONTS = `${HELVETICA} /F2 ${hanFont('STSong-Light')} /F3 ${hanFont('NoSuchHeiti')}`;
const hanPdf = writePdf({
  fonts: HAN_FONTS,
  pages: [
    {
      content: `BT /F2 24 Tf 72 700 Td ${utf16Hex('中文宋体，没有嵌入')} Tj 0 -40 Td /F3 24 Tf ${utf16Hex('黑体')} Tj ET`,
    },
  ],
});
const fivePages = writePdf({
  pages: Array.from({ length: 5 }, (_, i) => ({
    content: `BT /F1 24 Tf 72 700 Td (Page ${i + 1} word${i + 1}) Tj ET`,
  })),
  info: '/Title (Five pages) /Author (Somebody)',
  catalog: '/Outlines 100 0 R',
  objects: [
    '<< /Type /Outlines /First 101 0 R /Last 101 0 R /Count 1 >>',
    '<< /Title <FEFF7B2C4E097AE0> /Parent 100 0 R /Dest [7 0 R /XYZ 72 700 null] >>',
  ],
});
const form = writePdf({
  pages: [
    {
      content: 'BT /F1 12 Tf 72 760 Td (Application) Tj ET',
      extra: '/Annots [101 0 R 102 0 R 103 0 R 104 0 R 105 0 R]',
    },
  ],
  catalog:
    '/AcroForm << /Fields [101 0 R 102 0 R] /NeedAppearances true /DA (/Helv 12 Tf 0 g) ' +
    '/DR << /Font << /Helv << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>',
  objects: [
    'null',
    '<< /Type /Annot /Subtype /Widget /FT /Tx /T (name) /V (Filled value) /DA (/Helv 12 Tf 0 g) /Rect [72 700 272 730] /P 3 0 R /F 4 >>',
    '<< /Type /Annot /Subtype /Widget /FT /Tx /T (u) /V <FEFF4E2D6587> /DA (/Helv 12 Tf 0 g) /Rect [72 660 272 690] /P 3 0 R /F 4 >>',
    '<< /Type /Annot /Subtype /Text /Contents (A note) /T (Reader) /NM (n1) /Rect [300 700 320 720] /P 3 0 R >>',
    '<< /Type /Annot /Subtype /FreeText /Contents (Free text) /DA (/Helv 14 Tf 1 0 0 rg) /Rect [72 600 272 640] /P 3 0 R /F 4 >>',
    '<< /Type /Annot /Subtype /Link /Rect [72 755 140 772] /Border [0 0 0] /A << /S /URI /URI (https://example.org/a) >> >>',
  ],
});

/** A font of drawn glyphs, half an em wide: `o`, `x`, a ligature with a code point (01) and one without (02). */
const LIGATURE_FONT = [
  '<< /Type /Font /Subtype /Type3 /FontBBox [0 -200 1000 800] /FontMatrix [.001 0 0 .001 0 0] /FirstChar 0 /LastChar 4 ' +
    '/Widths [1000 600 900 500 500] /Encoding << /Type /Encoding /Differences [0 /none /fi /th /o /x] >> ' +
    '/CharProcs << /none 101 0 R /fi 102 0 R /th 103 0 R /o 104 0 R /x 104 0 R >> /ToUnicode 105 0 R /Resources << >> >>',
  { dict: '', stream: '1000 0 0 0 1000 700 d1 0 0 1000 700 re f' },
  { dict: '', stream: '600 0 33 0 525 700 d1 33 0 492 700 re f' },
  { dict: '', stream: '900 0 50 0 850 700 d1 50 0 800 700 re f' },
  { dict: '', stream: '500 0 50 0 450 500 d1 50 0 400 500 re f' },
  {
    dict: '',
    stream:
      '/CIDInit /ProcSet findresource begin begincmap /CMapName /X def /CMapType 2 def ' +
      '1 begincodespacerange <00> <ff> endcodespacerange 3 beginbfchar <01> <fb01> <03> <006f> <04> <0078> endbfchar ' +
      'endcmap end',
  },
];
const ligatures = (matrix: string, to: (along: number) => string): string =>
  `BT /F1 10 Tf ${matrix} Tm <03> Tj ${to(5)} Td /Span << /ActualText (fi) >> BDC <01> Tj EMC ${to(6)} Td <04> Tj ` +
  `${to(5)} Td /Span << /ActualText (Th) >> BDC <02> Tj EMC ${to(9)} Td <04> Tj ET`;

/** Squares, a tenth of an em apart: 01 𠮷, 02 لا, 03 ع, 04 a blank, 05 x, and 06, which stands for nothing. */
const SQUARE_FONT = [
  '<< /Type /Font /Subtype /Type3 /FontBBox [0 0 1000 1000] /FontMatrix [.001 0 0 .001 0 0] /FirstChar 0 /LastChar 6 ' +
    '/Widths [1000 1000 1000 1000 500 1000 1000] /Encoding << /Type /Encoding /Differences [0 /s /s /s /s /b /s /s] >> ' +
    '/CharProcs << /s 101 0 R /b 102 0 R >> /ToUnicode 103 0 R /Resources << >> >>',
  { dict: '', stream: '1000 0 0 0 900 900 d1 0 0 900 900 re f' },
  { dict: '', stream: '500 0 0 0 0 0 d1' },
  {
    dict: '',
    stream:
      '/CIDInit /ProcSet findresource begin begincmap /CMapName /X def /CMapType 2 def ' +
      '1 begincodespacerange <00> <ff> endcodespacerange 5 beginbfchar ' +
      '<01> <d842dfb7> <02> <06440627> <03> <0639> <04> <0020> <05> <0078> endbfchar endcmap end',
  },
];
const squares = (...shown: readonly string[]): Buffer =>
  writePdf({
    pages: [{ content: `BT /F1 12 Tf 72 700 Td ${shown.join(' ')} ET` }],
    fonts: '/F1 100 0 R',
    objects: SQUARE_FONT,
  });
const actualText = (text: string, shown: string): string =>
  `/Span << /ActualText ${utf16Hex(`\ufeff${text}`)} >> BDC ${shown} EMC`;

describe('pictures of pages', () => {
  it('show what poppler shows', async () => {
    const pdf = await pdfOfOfd();
    const path = write('in.pdf', pdf);
    const made = await convert(pdf, 'png');
    expect([...made.files.keys()]).toEqual(['page-0001.png', 'page-0002.png']);
    expect(made).toMatchObject({ pages: 2, opened: ['pdf'], progress: ['1/2', '2/2'], warnings: [] });
    for (const page of [1, 2]) {
      const ours = await readRaster(made.files.get(`page-000${page}.png`)!);
      expect(inkAgreement(ours, await rasterOfPdf(path, page, folder.path))).toBeGreaterThan(0.97);
    }
  });

  it('have the pixels, resolution, paper and names that the options want', async () => {
    const small = await convert(fivePages, 'png', { width: 200, pages: '2,4' });
    expect([...small.files.keys()]).toEqual(['page-0002.png', 'page-0004.png']);
    expect(await readRaster(small.files.get('page-0002.png')!)).toMatchObject({ widthPx: 200, heightPx: 283 });
    const png = (await convert(fivePages, 'png', { dpi: 300, pages: '1', background: 'transparent' })).bytes(
      'page-0001.png',
    );
    expect(png.readUInt32BE(16)).toBe(Math.round((595 / 72) * 300));
    expect(png.readUInt32BE(png.indexOf('pHYs') + 4)).toBe(11811);
    expect(png[25]! & 4, 'an alpha channel').toBe(4);
    const jpeg = (await convert(fivePages, 'jpeg', { dpi: 72, pages: '1', quality: 40 })).bytes('page-0001.jpeg');
    expect([...jpeg.subarray(0, 3), jpeg.readUInt16BE(14)]).toEqual([0xff, 0xd8, 0xff, 72]);
    const webp = (await convert(fivePages, 'webp', { dpi: 72, pages: '1' })).bytes('page-0001.webp');
    expect(webp.subarray(8, 12).toString()).toBe('WEBP');
  });

  it.each([0, 90, 180, 270])('are turned by %i degrees and cut to the crop box', async (angle) => {
    const pdf = writePdf({
      pages: [
        {
          size: [400, 300],
          content: 'BT /F1 30 Tf 50 200 Td (Turned page) Tj ET 60 60 30 30 re f',
          extra: `/Rotate ${angle} /CropBox [20 40 390 290]`,
        },
      ],
    });
    const made = await convert(pdf, 'png', { dpi: 72 });
    const ours = await readRaster(made.files.get('page-0001.png')!);
    expect([ours.widthPx, ours.heightPx]).toEqual(angle % 180 === 0 ? [370, 250] : [250, 370]);
    execFileSync('pdftoppm', [
      '-r',
      '72',
      '-png',
      '-cropbox',
      '-singlefile',
      write('in.pdf', pdf),
      join(folder.path, 'ref'),
    ]);
    expect(inkAgreement(ours, await readRaster(join(folder.path, 'ref.png')))).toBeGreaterThan(0.97);
    const json = JSON.parse((await convert(pdf, 'json')).text('output.json')) as { documents: { pages: unknown[] }[] };
    expect(json.documents[0]!.pages[0]).toMatchObject({ text: [{ text: 'Turned page', angle }] });
  });

  it('of an enormous page are reduced, strip by strip, and say so', async () => {
    const pdf = writePdf({ pages: [{ size: [14_400, 14_400], content: '0 0 7200 14400 re f' }] });
    const made = await convert(pdf, 'png', { dpi: 100 });
    expect(made.warnings.map(({ code }) => code)).toEqual(['resolution_reduced']);
    expect(made.bytes('page-0001.png').readUInt32BE(16)).toBe(8000);
    const { widthPx, heightPx, rgba } = await readRaster(made.files.get('page-0001.png')!);
    const row = (y: number) => [100, widthPx - 100].map((x) => rgba[4 * (y * widthPx + x)]);
    for (const y of [1, 1999, 2000, 2001, 5000, heightPx - 2]) expect(row(y)).toEqual([0, 255]);
  });
});

describe('fonts that are not embedded', () => {
  it('are drawn with those of the machine, and named', async () => {
    const made = await convert(hanPdf, 'png');
    expect(made.warnings.map(({ message }) => message)).toEqual([
      expect.stringMatching(/"STSong-Light" is not embedded and not installed; drawn with .*Serif/),
      expect.stringMatching(/"NoSuchHeiti" is not embedded and not installed; drawn with .*Sans/),
    ]);
    // Eleven letters of a third of an inch, of which strokes cover a tenth or more.
    expect(await inkOf(made)).toBeGreaterThan(11 * 50 * 50 * 0.1);
    expect((await convert(hanPdf, 'txt')).text('output.txt')).toBe('中文宋体，没有嵌入\n黑体\n');
  });

  it('are left to the library where the machine has none', async () => {
    const none = new FontBook({ faces: [] }, () => ({ byteLength: 0, read: () => new Uint8Array(0) }));
    const made = await convert(hanPdf, 'png', {}, none);
    expect(made.warnings).toHaveLength(2);
    expect(await inkOf(made), 'the library has no Chinese face').toBe(0);
    const standard = await convert(fivePages, 'png', { pages: '1' }, none);
    expect(standard.warnings, 'every reader has Helvetica').toEqual([]);
  });
});

describe('forms and annotations', () => {
  it('show the values of fields, and lose what annotations add where that is wanted', async () => {
    expect((await convert(form, 'txt')).text('output.txt')).toBe('Application\nFilled value\n中文\nFree text\n');
    const plain = await convert(form, 'txt', { annotations: false });
    expect(plain.text('output.txt')).toBe('Application\nFilled value\n中文\n');
    const ink = async (options: ConversionOptions): Promise<number> =>
      inkOf(await convert(form, 'png', { dpi: 72, ...options }));
    expect(await ink({})).toBeGreaterThan((await ink({ annotations: false })) + 50);
    expect(await ink({ annotations: false })).toBeGreaterThan(150);
  });

  it('stand in json as notes and links', async () => {
    const { documents } = JSON.parse((await convert(form, 'json')).text('output.json'));
    expect(documents[0].pages[0]).toMatchObject({
      links: [{ target: { kind: 'uri', uri: 'https://example.org/a' } }],
      annotations: [
        { id: 'n1', type: 'Text', creator: 'Reader', remark: 'A note', visible: true },
        { type: 'FreeText', remark: 'Free text' },
      ],
    });
  });
});

describe('text', () => {
  it('is what poppler reads, in each text format', async () => {
    const pdf = await pdfOfOfd();
    const letters = (text: string): string => text.replace(/\s/g, '');
    const wanted = letters(textOfPdf(write('in.pdf', pdf)));
    expect(letters((await convert(pdf, 'txt')).text('output.txt'))).toBe(wanted);
    expect(letters((await convert(pdf, 'md')).text('output.md'))).toBe(wanted);
    const { documents } = JSON.parse((await convert(pdf, 'json')).text('output.json'));
    const runs = documents[0].pages.flatMap((page: { text: { text: string; visible: boolean }[] }) => page.text);
    expect(letters(runs.map(({ text }: { text: string }) => text).join(''))).toBe(wanted);
    expect(runs.every(({ visible }: { visible: boolean }) => visible)).toBe(true);
  });

  it.each([
    ['level', '1 0 0 1 72 700'],
    ['upwards', '0 1 -1 0 72 300'],
    ['downwards', '0 -1 1 0 72 700'],
    ['upside down', '-1 0 0 -1 300 700'],
  ])('of ligatures that the document spells out is one word, each as wide as its glyph (%s)', async (_, matrix) => {
    const content = ligatures(matrix, (along) => `${along} 0`);
    const pdf = writePdf({ pages: [{ content }], fonts: '/F1 100 0 R', objects: LIGATURE_FONT });
    expect((await convert(pdf, 'txt')).text('output.txt')).toBe('ofixThx\n');
    const { documents } = JSON.parse((await convert(pdf, 'json')).text('output.json'));
    const runs: { text: string; glyphs: { width_mm: number[] } }[] = documents[0].pages[0].text;
    const width = (ofText: string) => runs.find(({ text }) => text === ofText)?.glyphs.width_mm;
    expect([width('fi'), width('Th'), width('x')]).toEqual([[2.117], [3.175], [1.764]]);
  });

  it.each([
    ['between letters from left to right', ['<05040104> Tj <05> Tj'], 'x 𠮷 x\n'],
    ['between letters from right to left', ['<0304> Tj <01> Tj <0403> Tj'], 'ع 𠮷 ع\n'],
    ['instead of glyphs that stand for nothing', ['<0504> Tj', actualText('𪚥', '<06> Tj'), '<05> Tj'], 'x 𪚥x\n'],
    [
      'and instead of glyphs that stand for something else',
      ['<05> Tj', actualText('👨\u200d👩', '<06> Tj <06> Tj'), '<05> Tj'],
      'x👨\u200d👩x\n',
    ],
  ])('has characters beyond U+FFFF %s', async (_, shown, text) => {
    const pdf = squares(...shown);
    expect((await convert(pdf, 'txt')).text('output.txt')).toBe(text);
    expect((await convert(pdf, 'md')).text('output.md')).toBe(text);
  });

  it('of glyphs that stand for several letters from right to left is in the order that it is read in', async () => {
    expect((await convert(squares('<0203> Tj'), 'txt')).text('output.txt')).toBe('علا\n');
    const spelled = squares('<03> Tj', actualText('ﻻ', '<06> Tj'));
    expect((await convert(spelled, 'txt')).text('output.txt')).toBe('لاع\n');
  });

  it('stays one line where letters of another font stand in the gap of a piece', async () => {
    const content = `BT /F1 12 Tf 72 700 Td [<01> -1000 <05>] TJ /F2 12 Tf 12 0 Td (W) Tj ET`;
    const pdf = writePdf({
      pages: [{ content }],
      fonts: `/F1 100 0 R ${HELVETICA.replace('/F1', '/F2')}`,
      objects: SQUARE_FONT,
    });
    expect((await convert(pdf, 'txt')).text('output.txt')).toBe('𠮷Wx\n');
  });

  it('has the tables that lines rule', async () => {
    const rules = [700, 670, 640].map((y) => `72 ${y} m 372 ${y} l S`).join(' ');
    const posts = [72, 222, 372].map((x) => `${x} 640 m ${x} 700 l S`).join(' ');
    const cell = (x: number, y: number, text: string): string => `BT /F1 12 Tf ${x} ${y} Td (${text}) Tj ET`;
    const cells = [cell(80, 680, 'Item'), cell(230, 680, 'Price'), cell(80, 650, 'Pen'), cell(230, 650, '12.50')];
    const pdf = writePdf({ pages: [{ content: `${rules} ${posts} ${cells.join(' ')}` }] });
    expect((await convert(pdf, 'md')).text('output.md')).toBe('| Item | Price |\n| --- | --- |\n| Pen | 12.50 |\n');
  });

  it('is missed where a page shows something without any', async () => {
    const pdf = writePdf({ pages: [{ content: '10 10 100 100 re f' }, { content: '' }] });
    const made = await convert(pdf, 'txt');
    expect(made.text('output.txt')).toBe('');
    expect(made.warnings).toMatchObject([{ code: 'page_without_text', page: 1 }]);
  });
});

describe('svg and html', () => {
  it('are the picture of a page with its text over it, and say so', async () => {
    const pdf = await pdfOfOfd();
    const made = await convert(pdf, 'svg', { pages: '1' });
    expect(made.warnings.map(({ code }) => code)).toEqual(['page_rasterised']);
    const path = write('in.pdf', pdf);
    const drawn = await rasterOfSvg(made.files.get('page-0001.svg')!, folder.path);
    expect(inkAgreement(drawn, await rasterOfPdf(path, 1, folder.path))).toBeGreaterThan(0.95);
    expect(made.text('page-0001.svg')).toMatch(/<text[^>]*>第1页：电子发票 invoice<\/text>/);
    const html = (await convert(pdf, 'html')).text('output.html');
    expect(html.match(/<section /g)).toHaveLength(2);
    expect(html.replace(/<[^>]*>/g, '')).toContain('第2页：电子发票 invoice');
  });

  it('lead where the links and the outline lead', async () => {
    expect((await convert(form, 'html')).text('output.html')).toContain('href="https://example.org/a"');
    const html = (await convert(fivePages, 'html')).text('output.html');
    expect(html).toMatch(/<title>Five pages<\/title>/);
    expect(html).toMatch(/<a href="#[^"]+">第三章<\/a>/);
  });
});

describe('pdf', () => {
  it('is the same bytes where nothing is taken away', async () => {
    expect((await convert(fivePages, 'pdf')).bytes('output.pdf').equals(fivePages)).toBe(true);
  });

  it('has the pages that are wanted and nothing of the others, each time the same', async () => {
    const made = await convert(fivePages, 'pdf', { pages: '2,4' });
    const path = made.files.get('output.pdf')!;
    execFileSync('qpdf', ['--check', path]);
    expect(textOfPdf(path).match(/word\d/g)).toEqual(['word2', 'word4']);
    expect(execFileSync('pdfinfo', [path], { encoding: 'utf8' })).toMatch(/Title: +Five pages\nAuthor: +Somebody/);
    const plain = execFileSync('qpdf', ['--qdf', path, '-'], { encoding: 'latin1' });
    expect(plain).not.toMatch(/word[135]/);
    const again = await convert(fivePages, 'pdf', { pages: '2,4' });
    expect(again.bytes('output.pdf').equals(made.bytes('output.pdf'))).toBe(true);
  });

  it('loses annotations and keeps the form', async () => {
    const made = await convert(form, 'pdf', { annotations: false });
    const plain = execFileSync('qpdf', ['--qdf', made.files.get('output.pdf')!, '-'], { encoding: 'latin1' });
    expect(plain).toMatch(/Filled value/);
    expect(plain).not.toMatch(/Free text|A note|example\.org/);
  });
});

describe('a document that is encrypted', () => {
  let encrypted: Buffer;

  beforeEach(() => {
    const [plain, path] = [write('plain.pdf', fivePages), join(folder.path, 'encrypted.pdf')];
    execFileSync('qpdf', ['--encrypt', 'user', 'owner', '256', '--', plain, path]);
    encrypted = readFileSync(path);
  });

  it.each([
    [undefined, /encrypted; give its password/],
    ['wrong', /the password is not the right one/],
  ])('is refused with the password %s', async (password, message) => {
    await expect(convert(encrypted, 'txt', password === undefined ? {} : { password })).rejects.toMatchObject({
      code: 'conversion_failed',
      reason: 'encrypted',
      message: expect.stringMatching(message),
    });
  });

  it.each(['user', 'owner'])('opens with the password of the %s', async (password) => {
    expect((await convert(encrypted, 'txt', { password, pages: '3' })).text('output.txt')).toBe('Page 3 word3\n');
    const made = await convert(encrypted, 'pdf', { password });
    const path = made.files.get('output.pdf')!;
    expect(execFileSync('pdfinfo', [path], { encoding: 'utf8' })).toMatch(/Encrypted: +no/);
    expect(textOfPdf(path).match(/word\d/g)).toHaveLength(5);
  });

  it('opens without one where only the owner has one', async () => {
    const path = join(folder.path, 'owner.pdf');
    execFileSync('qpdf', ['--encrypt', '', 'owner', '128', '--use-aes=y', '--', join(folder.path, 'plain.pdf'), path]);
    expect((await convert(readFileSync(path), 'txt', { pages: '1' })).text('output.txt')).toBe('Page 1 word1\n');
  });
});

describe('what is no PDF that can be converted', () => {
  it.each([
    ['is empty', Buffer.alloc(0)],
    ['is cut', fivePages.subarray(0, 300)],
    ['is text', Buffer.from('%PDF-1.7 is what it says')],
    ['has no page', writePdf({ pages: [] })],
  ])('fails where it %s', async (_what, bytes) => {
    await expect(convert(bytes, 'png')).rejects.toMatchObject({ code: 'conversion_failed', reason: 'corrupt' });
  });

  it('names the page that is not there', async () => {
    await expect(convert(fivePages, 'png', { pages: '9' })).rejects.toMatchObject({
      code: 'invalid_request',
      message: 'output.options.pages: "9" names no page of a document of 5',
    });
  });

  it('fails on warnings that must not be', async () => {
    await expect(convert(hanPdf, 'png', { failOn: ['font_substituted'] })).rejects.toMatchObject({
      reason: 'unsupported',
      message: expect.stringMatching(/^fail_on: font_substituted: Font "STSong-Light"/),
    });
  });

  it('is mended where only the table of its objects is wrong', async () => {
    const bytes = Buffer.from(fivePages.toString('latin1').replace(/startxref\n\d+/, 'startxref\n7'), 'latin1');
    expect((await convert(bytes, 'txt', { pages: '2' })).text('output.txt')).toBe('Page 2 word2\n');
  });

  it('fails where it claims pages that it does not have', async () => {
    const claim = (count: number): Buffer =>
      Buffer.from(fivePages.toString('latin1').replace('/Count 5', `/Count ${count}`), 'latin1');
    const made = await convert(claim(7), 'txt');
    expect(made.warnings).toMatchObject([
      { code: 'page_failed', page: 6 },
      { code: 'page_failed', page: 7 },
    ]);
    await expect(convert(claim(99_999), 'png', { dpi: 36 })).rejects.toMatchObject({
      reason: 'corrupt',
      message: 'The PDF claims 99999 pages, but 100 cannot be read',
    });
  });

  it('takes no more memory than it may, and the next one is converted', async () => {
    const form = (i: number): string =>
      `/Type /XObject /Subtype /Form /BBox [0 0 600 900] /Resources << /XObject << /X ${101 + i} 0 R >> >>`;
    const bomb = writePdf({
      pages: [{ content: '/X Do', resources: '/XObject << /X 100 0 R >>' }],
      objects: Array.from({ length: 14 }, (_, i) => ({
        dict: form(i),
        stream: i < 13 ? '/X Do '.repeat(10) : '0 0 9 9 re f',
      })),
    });
    await expect(convert(bomb, 'png')).rejects.toMatchObject({ code: 'conversion_failed', reason: 'too_large' });
    expect((await convert(fivePages, 'txt', { pages: '1' })).text('output.txt')).toBe('Page 1 word1\n');
  });
});
