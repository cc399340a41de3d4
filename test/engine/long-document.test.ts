// Long documents: pages come and go one by one, so that memory does not grow with them and time grows no faster.
import { spawnSync } from 'node:child_process';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { convertOfd } from '../../src/convert/engines/ofd.js';
import { OutputFiles } from '../../src/convert/output-files.js';
import { systemFontBook } from '../../src/fonts/system.js';
import { openOfd } from '../../src/ofd/index.js';
import { DEFAULT_LIMITS } from '../../src/ofd/limits.js';
import { buildOfd, textXml } from '../support/ofd-builder.js';
import { pagesOfPdf, withFolder } from '../support/rendering.js';

const PROGRAM = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const FONTS = '<ofd:Fonts><ofd:Font ID="1" FontName="SimSun"/></ofd:Fonts>';
const MAX_MEMORY_KB = 300 * 1024;

/** Lines of text on a template, all pages different. */
function longDocument(pageCount: number): Uint8Array {
  const line = (page: number, row: number): string => {
    const text = Array.from({ length: 30 }, (_, i) =>
      String.fromCodePoint(0x4e00 + ((page * 31 + row * 7 + i * 13) % 900)),
    );
    return textXml(text.join(''), `ID="${row}" Boundary="20 ${30 + row * 8} 150 6" Font="1" Size="4"`);
  };
  const pages = Array.from({ length: pageCount }, (_, page) => {
    const rows = Array.from({ length: 10 }, (_, row) => line(page, row)).join('');
    return `<ofd:Page><ofd:Template TemplateID="2001"/><ofd:Content><ofd:Layer ID="2">${rows}</ofd:Layer></ofd:Content></ofd:Page>`;
  });
  return buildOfd({
    pages,
    templates: [textXml('每页都有')],
    publicRes: FONTS,
    pack: (file) => ({ ...file, method: 'stored' }),
  });
}

interface Cost {
  readonly userSeconds: number;
  readonly memoryKb: number;
}

function costOf(args: readonly string[]): Cost {
  const run = spawnSync('/usr/bin/time', ['-f', '%U %M', process.execPath, PROGRAM, 'convert', ...args], {
    encoding: 'utf8',
  });
  if (run.status !== 0) throw new Error(run.stderr);
  const [userSeconds = 0, memoryKb = 0] = run.stderr.trim().split('\n').at(-1)!.split(' ').map(Number);
  return { userSeconds, memoryKb };
}

describe('a document of 10,000 pages', () => {
  it('takes no more than 300 MB, and time by its pages', { timeout: 300_000 }, async () => {
    await withFolder((folder) => {
      const [short, long, pdf] = ['short.ofd', 'long.ofd', 'out.pdf'].map((name) => join(folder, name)) as [
        string,
        string,
        string,
      ];
      writeFileSync(short, longDocument(1000));
      writeFileSync(long, longDocument(10_000));
      const ofShort = costOf([short, '-o', join(folder, 'short.pdf')]);
      const ofLong = costOf([long, '-o', pdf]);
      expect(ofLong.memoryKb).toBeLessThan(MAX_MEMORY_KB);
      expect(ofLong.userSeconds).toBeLessThan(12 * ofShort.userSeconds);
      expect(pagesOfPdf(pdf)).toHaveLength(10_000);
      const first = costOf([long, '--pages', '1', '-o', join(folder, 'first.pdf')]);
      const late = costOf([long, '--pages', '9000', '-o', join(folder, 'late.pdf')]);
      expect(late.userSeconds).toBeLessThan(1.5 * first.userSeconds + 0.3);
    });
  });
});

describe('pages', () => {
  it('are written one by one, the first before the second is parsed', async () => {
    await withFolder(async (folder) => {
      const directory = join(folder, 'out');
      mkdirSync(directory);
      const file = (page: number): string => join(directory, `${page}.png`);
      const output = new OutputFiles(directory, { document: () => 'out', page: (page) => `${page}.png` });
      const sizes: number[] = [];
      await convertOfd({
        input: longDocument(4),
        to: 'png',
        options: { dpi: 36 },
        output,
        fonts: systemFontBook([]),
        onProgress: (done) => {
          // A page's file is finished when the next one is opened.
          if (done > 1) sizes.push(statSync(file(done - 1)).size);
        },
      });
      await output.finish();
      expect(sizes).toHaveLength(3);
      for (const size of sizes) expect(size).toBeGreaterThan(100);
    });
  });

  it('are parsed when they are asked for', async () => {
    const codes: string[] = [];
    const pages = Array.from({ length: 50 }, (_, i) => textXml(`${i}`));
    const files = Object.fromEntries(
      pages.slice(1).map((_, i) => [`Doc_0/Pages/Page_${i + 1}/Content.xml`, '<Page><Content>']),
    );
    const document = await openOfd(buildOfd({ pages, publicRes: FONTS, files }), {
      limits: DEFAULT_LIMITS,
      fonts: systemFontBook([]),
      report: ({ code }) => codes.push(code),
    });
    expect(codes).toEqual([]);
    document.page(0);
    expect(codes).not.toContain('xml_malformed');
    document.page(40);
    expect(codes.filter((code) => code === 'xml_malformed')).toHaveLength(1);
  });
});
