// The HTML backend: one file that fetches nothing and runs nothing, whose text, links and outline lead where they should.
import { SaxesParser } from 'saxes';
import { describe, expect, it } from 'vitest';
import { type Attachment, type DocumentFacts, mergeFacts, type OutlineEntry } from '../../src/display/facts.js';
import type { LinkArea, LinkTarget, PageTarget } from '../../src/display/link.js';
import type { DisplayList, GlyphRun } from '../../src/display/list.js';
import { htmlBackend } from '../../src/render/html/index.js';
import { textBackend } from '../../src/render/text.js';
import { box, group, image, page, run } from './lists.js';
import { render } from './output.js';
import { SCENES, smallPicture } from './scenes.js';

const PAGE_ONE: PageTarget = { kind: 'page', pageNumber: 1, view: { kind: 'fit' } };

async function html(lists: readonly DisplayList[], facts: Partial<DocumentFacts> = {}): Promise<string> {
  const documents = [{ ...mergeFacts([]), pageCount: lists.length, ...facts }];
  const { files, diagnostics } = await render(htmlBackend, lists, { documents });
  expect([files.length, diagnostics]).toEqual([1, []]);
  return files[0]!.toString('utf8');
}

/** Letters from (x, y) on, each `step` from the one before. */
function letters(text: string, x: number, y: number, step = 4, more: Partial<GlyphRun> = {}): GlyphRun {
  const characters = Array.from(text);
  const xs = characters.map((_, i) => x + i * step);
  return run(
    characters.map(() => 1),
    xs,
    characters.map(() => y),
    { characters, ...more },
  );
}

function linked(target: LinkTarget, pageNumber = 1): DisplayList {
  const links: LinkArea[] = [{ box: box(1, 2, 3, 4), target }];
  return { ...page([], 40, 40, pageNumber), links };
}

function unescaped(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&');
}

/** What is copied when everything is selected. */
function textOf(file: string): string[] {
  return [...file.matchAll(/<text[^>]*>(.*?)<\/text>/g)].map(([, content]) =>
    unescaped(content!.replace(/<[^>]*>/g, '')),
  );
}

/** Throws where elements do not nest; `meta` is the only one without an end. */
function checkNesting(file: string): void {
  const parser = new SaxesParser();
  parser.on('error', (error) => {
    throw error;
  });
  parser.write(file.replace(/<meta([^>]*)>/g, '<meta$1/>').replaceAll('<details open>', '<details>')).close();
}

function checkReferences(file: string): void {
  const ids = [...file.matchAll(/\sid="([^"]*)"/g)].map((match) => match[1]!);
  expect(new Set(ids).size).toBe(ids.length);
  const wanted = [...file.matchAll(/(?:href="#|url\(#)([^")]*)[")]/g)].map((match) => match[1]!);
  expect(wanted.filter((id) => !ids.includes(id))).toEqual([]);
}

describe('the file', () => {
  it('nests, refers to what it holds, fetches nothing, runs nothing, and is the same twice', async () => {
    const lists = SCENES.map(({ list }, i) => ({ ...list, pageNumber: i + 1 }));
    const file = await html(lists);
    checkNesting(file);
    checkReferences(file);
    expect(file).not.toMatch(/<script|\son\w+=|javascript:|@import|<iframe|<link/);
    expect([...file.matchAll(/(?:src|href)="(?!#|data:image\/)[^"]*"/g)]).toEqual([]);
    expect(file).toContain(`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:;`);
    expect(await html(lists)).toBe(file);
  });

  it('says whose it is, in Chinese where the text is', async () => {
    const info = { title: 'A <b> & "c"', author: '某', keywords: ['x', 'y'], abstract: 'short' };
    const file = await html([page([letters('增值税发票', 1, 5)])], { info });
    expect(file.startsWith('<!DOCTYPE html>\n<html lang="zh">\n')).toBe(true);
    expect(file).toContain('<title>A &lt;b&gt; &amp; &quot;c&quot;</title>');
    expect(file).toContain('<meta name="author" content="某">');
    expect(file).toContain('<meta name="description" content="short">');
    expect(file).toContain('<meta name="keywords" content="x, y">');
    expect(file).toContain('aria-label="第 1 页"');
    const latin = await html([page([letters('invoice', 1, 5)])]);
    expect(latin).toContain('<html>\n');
    expect(latin).toContain('<title>Document</title>');
    expect(latin).toContain('aria-label="Page 1"');
  });

  it('has the pages in their own sizes and under their own numbers', async () => {
    const file = await html([page([], 210, 297, 3), page([], 210, 297, 4), page([], 297, 210, 9)]);
    expect(
      [...file.matchAll(/<section class="page ([\w-]+)" id="([^"]+)"/g)].map(([, size, id]) => [size, id]),
    ).toEqual([
      ['size-1', 'page-3'],
      ['size-1', 'page-4'],
      ['size-2', 'page-9'],
    ]);
    expect(file.match(/@page size-\d{1,3}\{size:[^;]*/g)).toEqual([
      '@page size-1{size:210mm 297mm',
      '@page size-2{size:297mm 210mm',
    ]);
    expect(file.match(/<svg width="297mm" height="210mm" viewBox="0 0 297 210">/g)).toHaveLength(1);
  });

  it('grows page by page', async () => {
    let written = 0;
    const file = {
      write: (bytes: Uint8Array) => {
        written += bytes.length;
      },
    };
    const backendRun = htmlBackend.start(
      { openDocument: () => file, openPage: () => file },
      {
        dpi: 96,
        quality: 90,
        maxPixels: 1e8,
        background: { color: [255, 255, 255], alpha: 1 },
        pageNumbers: [1, 2],
        documents: [mergeFacts([])],
        report: () => undefined,
      },
    );
    await backendRun.page(page([letters('one', 1, 5)]));
    const afterOne = written;
    await backendRun.page(page([letters('two', 1, 5)], 40, 40, 2));
    expect(afterOne).toBeGreaterThan(1000);
    expect(written).toBeGreaterThan(afterOne);
  });

  it('holds an outline and a picture once, on however many pages they are drawn', async () => {
    const picture = await smallPicture();
    const items = [run([2], [5], [20]), image(picture, [10, 0, 0, 10, 5, 5], { smooth: true })];
    const file = await html([1, 2, 3].map((number) => page(items, 40, 40, number)));
    expect(file.match(/<path id=/g)).toHaveLength(1);
    expect(file.match(/data:image\/png/g)).toHaveLength(1);
    expect(file.match(/<use /g)).toHaveLength(5);
    checkReferences(file);
  });
});

describe('text', () => {
  it('is copied line by line in reading order, as plain text has it', async () => {
    const lists = [
      page([letters('second line', 10, 40), letters('first', 10, 20), letters('of two', 60, 20)], 210, 297),
      page([letters('<&>"', 10, 20), letters('一二三四五', 10, 40), letters('٣', 30, 60)], 210, 297, 2),
      page([], 210, 297, 3),
    ];
    const file = await html(lists);
    const { files } = await render(textBackend, lists);
    expect(textOf(file)).toEqual(
      files[0]!
        .toString()
        .split('\n')
        .filter((line) => line !== ''),
    );
    expect(textOf(file)[0]).toBe('first of two');
    checkNesting(file);
  });

  it('stands where the letters are', async () => {
    const file = await html([page([letters('abc', 10, 20, 2.5), letters('价税合计', 10, 30)], 100, 100)]);
    expect(file).toContain('<text font-size="4"><tspan x="10 12.5 15" y="20">abc</tspan></text>');
    // Full-width letters behind each other follow by themselves.
    expect(file).toContain('<text font-size="4"><tspan x="10" y="30">价税合计</tspan></text>');
  });

  it('gives places to full-width letters that are set wide, and to what follows them', async () => {
    const file = await html([page([letters('价税', 10, 20, 5), letters('共9页', 10, 40)], 100, 100)]);
    expect(file).toContain('<tspan x="10 15" y="20">价税</tspan>');
    expect(file).toContain('<tspan x="10" y="40">共9</tspan><tspan x="18" y="40">页</tspan>');
  });

  it('lets no letter beyond the basic plane shift those after it', async () => {
    const file = await html([page([letters('a𠀀b', 10, 20, 5)], 100, 100)]);
    expect(file).toContain('<tspan x="10 15" y="20">a𠀀</tspan><tspan x="20" y="20">b</tspan>');
  });

  it('is turned, and goes down, with its letters', async () => {
    const turned = letters('abc', 0, 0, 3, { matrix: [0, 1, -1, 0, 50, 10] });
    const down = run([1, 1, 1], [80, 80, 80], [10, 15, 20], { characters: ['上', '中', '下'] });
    const file = await html([page([turned, down], 100, 100)]);
    expect(file).toContain('<text transform="rotate(90)" font-size="4"><tspan x="10 13 16" y="-50">abc</tspan></text>');
    expect(file).toContain('<tspan x="80 80 80" y="10 15 20">上中下</tspan>');
  });

  it('follows a curve, letter by letter', async () => {
    const items = Array.from('发票专用章', (character, i) => {
      const angle = (i - 2) * 0.35;
      const matrix = [Math.cos(angle), Math.sin(angle), -Math.sin(angle), Math.cos(angle), 50, 50] as const;
      return group([run([1], [-2], [-20], { characters: [character] })], { matrix });
    });
    const file = await html([page(items, 100, 100)]);
    expect(textOf(file)).toEqual(['发票专用章']);
    expect(file).toContain('<tspan x="48" y="30">专</tspan><tspan x="54.98" y="30.53" rotate="20">用</tspan>');
  });

  it('has nothing that no file may hold', async () => {
    const file = await html([
      page([run([1, 1, 1], [1, 5, 9], [5, 5, 5], { characters: ['a\u0000', '\ud800', 'b\uffff'] })]),
    ]);
    expect(textOf(file)).toEqual(['ab']);
  });
});

describe('links', () => {
  it('lead to pages, to places on them, to the world and to attached files', async () => {
    const view = { kind: 'xyz', top: 12.34 } as const;
    const attachment: Attachment = { name: 'a "b".xml', isVisible: false, bytes: () => Buffer.from('<a/>') };
    const file = await html(
      [
        linked({ kind: 'page', pageNumber: 2, view: { kind: 'fit' } }),
        linked({ kind: 'page', pageNumber: 1, view }, 2),
        linked({ kind: 'uri', uri: 'https://example.com/?a=1&b="' }, 3),
        linked({ kind: 'attachment', name: 'a "b".xml' }, 4),
      ],
      { attachments: [attachment] },
    );
    const area = '<rect x="1" y="2" width="3" height="4" fill="transparent"/></a>';
    expect(file).toContain(`<a href="#page-2"><title>Page 2</title>${area}`);
    expect(file).toContain(`<a href="#page-1-12.3"><title>Page 1</title>${area}`);
    expect(file).toContain('<span class="place" id="page-1-12.3" style="top:16.3mm"></span>');
    expect(file).toContain('<a href="https://example.com/?a=1&amp;b=&quot;" rel="noopener noreferrer">');
    expect(file).toContain('<a href="#attachment-1"><title>a &quot;b&quot;.xml</title>');
    expect(file).toContain(
      '<a id="attachment-1" download="a &quot;b&quot;.xml" href="data:application/octet-stream;base64,PGEvPg=="',
    );
    checkNesting(file);
    checkReferences(file);
  });

  it('are left out where the file lacks what they lead to', async () => {
    const file = await html([
      linked({ kind: 'page', pageNumber: 7, view: { kind: 'fit' } }),
      linked({ kind: 'attachment', name: 'none' }, 2),
    ]);
    expect(file).not.toContain('<a ');
  });
});

describe('the outline', () => {
  const entry = (title: string, more: Partial<OutlineEntry> = {}): OutlineEntry => ({
    title,
    isExpanded: true,
    children: [],
    ...more,
  });

  it('is a list that unfolds, before the first page', async () => {
    const outline = [
      entry('<script>alert(1)</script>', { target: PAGE_ONE }),
      entry('Part', {
        isExpanded: false,
        children: [entry('elsewhere', { target: { ...PAGE_ONE, pageNumber: 9 } }), entry(' ')],
      }),
    ];
    const file = await html([page([])], { outline });
    expect(file.slice(file.indexOf('<nav'), file.indexOf('<main>'))).toBe(
      `<nav aria-label="Contents">
<details open>
<summary>Contents</summary>
<ul>
<li><a href="#page-1">&lt;script&gt;alert(1)&lt;/script&gt;</a></li>
<li><details><summary>Part</summary>
<ul>
<li>elsewhere</li>
<li>…</li>
</ul>
</details></li>
</ul>
</details>
</nav>
`,
    );
    checkNesting(file);
  });

  it('is not there where there is none', async () => {
    expect(await html([page([])])).not.toContain('<nav');
  });
});

describe('attached files', () => {
  const attached = (name: string, bytes: Uint8Array | undefined, isVisible = true): Attachment => ({
    name,
    isVisible,
    bytes: () => bytes,
  });

  it('are inside, those that the document wants seen', async () => {
    const large = Uint8Array.from({ length: 500_001 }, (_, i) => (i * 7) & 255);
    const attachments = [
      attached('data.bin', large),
      attached('lost.txt', undefined),
      attached('secret.xml', large, false),
    ];
    const file = await html([page([])], { attachments });
    const [, base64] = /download="data\.bin" href="data:application\/octet-stream;base64,([^"]*)"/.exec(file)!;
    expect(Buffer.from(base64!, 'base64').equals(large)).toBe(true);
    expect(file.includes('(500001 B)')).toBe(true);
    expect(file.includes('<li id="attachment-2">lost.txt</li>')).toBe(true);
    expect(file.includes('secret')).toBe(false);
    checkNesting(file);
  });
});
