// Markdown of whole documents: headings that the outline names, links, and what pages repeat at their edges.
import { describe, expect, it } from 'vitest';
import type { OutlineEntry } from '../../src/display/facts.js';
import type { LinkArea, LinkTarget } from '../../src/display/link.js';
import type { DisplayList, Item } from '../../src/display/list.js';
import type { RenderOptions } from '../../src/render/backend.js';
import { markdownBackend } from '../../src/render/markdown.js';
import { textBackend } from '../../src/render/text.js';
import { line, page, pen } from './lists.js';
import { render } from './output.js';
import { lines, run } from './text-page.js';

const A4 = (items: readonly Item[], pageNumber = 1): DisplayList => page(items, 210, 297, pageNumber);

async function blocksOf(pages: readonly DisplayList[], options: Partial<RenderOptions> = {}): Promise<string[]> {
  const { files } = await render(markdownBackend, pages, options);
  return files[0]!.toString('utf8').trimEnd().split('\n\n');
}

const BODY = lines(['正文的第一行文字较长一些', '正文的第二行文字也较长的'], 20, 60);
const BODY_TEXT = '正文的第一行文字较长一些正文的第二行文字也较长的';

describe('links', () => {
  const uri = (address: string, x: number, y: number, width: number, height = 5): LinkArea => {
    return { box: { x, y, width, height }, target: { kind: 'uri', uri: address } };
  };
  const linked = (items: readonly Item[], ...links: LinkArea[]) => blocksOf([{ ...A4(items), links }]);

  it('to addresses are written round the letters that they lie over', async () => {
    const items = [run('详见官网说明。', 20, 20)];
    expect(await linked(items, uri('https://example.com/a', 28, 16, 8))).toEqual([
      '详见[官网](https://example.com/a)说明。',
    ]);
  });

  it('go on from line to line, with the blanks between their words', async () => {
    const items = lines(['The quick brown fox jumps over the la-', 'zy dog and runs into the dark forest'], 20, 20);
    const over = [uri('http://example.com/', 82, 16, 40), uri('http://example.com/', 20, 22, 13)];
    expect(await linked(items, ...over)).toEqual([
      'The quick brown fox jumps over [the lazy dog](http://example.com/) and runs into the dark forest',
    ]);
  });

  it('keep the signs of an address and of the text from being Markdown', async () => {
    const items = [run('甲[乙]丙', 20, 20)];
    expect(await linked(items, uri('https://example.com/a_(b)?c=<d>', 20, 16, 16))).toEqual([
      '[甲\\[乙\\]丙](<https://example.com/a_(b)?c=%3Cd%3E>)',
    ]);
  });

  it('whose text is the address say it once', async () => {
    const items = [run('http://example.com/', 20, 20)];
    expect(await linked(items, uri('http://example.com/', 20, 16, 60))).toEqual(['<http://example.com/>']);
  });

  it('take the words and the ends of lines that their areas cut', async () => {
    const sample = [run('Every name is made up.', 20, 20)];
    const to = 'https://example.com/';
    expect(await linked(sample, uri(to, 20, 16, 39.2))).toEqual([`[Every name is made up.](${to})`]);
    expect(await linked(sample, uri(to, 22, 16, 15))).toEqual([`[Every name](${to}) is made up.`]);
    expect(await linked([run('样例与说明。', 20, 20)], uri(to, 20, 16, 17.5))).toEqual([`[样例与说明。](${to})`]);
    const two = lines(['The quick brown fox jumps over the la-', 'zy dog and runs into the dark forest'], 20, 20);
    expect(await linked(two, uri(to, 90, 16, 6))).toEqual([
      `The quick brown fox jumps over the [lazy](${to}) dog and runs into the dark forest`,
    ]);
  });

  it('leave what lies beside an area that cuts nothing, and words of which they have less than half', async () => {
    const to = 'https://example.com/';
    expect(await linked([run('Name.', 20, 20)], uri(to, 20, 16, 8))).toEqual([`[Name](${to}).`]);
    expect(await linked([run('see note1 there', 20, 20)], uri(to, 36, 16, 2))).toEqual([`see note[1](${to}) there`]);
    expect(await linked([run('样例与说明。', 20, 20)], uri(to, 20, 16, 8))).toEqual([`[样例](${to})与说明。`]);
    expect(await linked([run('样例与说明。', 20, 20)], uri(to, 20, 16, 9.5))).toEqual([`[样例](${to})与说明。`]);
    expect(await linked([run('Made up now.', 20, 20)], uri(to, 30, 16, 2.5))).toEqual([`Made [up](${to}) now.`]);
  });

  it('stand in lists, headings, tables and turned text', async () => {
    const target = (x: number, y: number, width: number, height = 6) => uri('http://a.example/', x, y, width, height);
    const grid = [
      ...[140, 150, 160].map((y) => line([10, y, 100, y], pen(0.2))),
      ...[10, 50, 100].map((x) => line([x, 140, x, 160], pen(0.2))),
    ];
    const down = run('侧边', 0, 0, 4, { matrix: [0, 1, -1, 0, 190, 100] });
    const items = [
      run('题目', 20, 30, 8),
      ...BODY,
      run('• 项目', 20, 80),
      ...grid,
      run('名称', 12, 147),
      run('值', 52, 147),
      run('乙', 12, 157),
      down,
    ];
    const links = [target(20, 23, 16, 9), target(24, 76, 12), target(52, 143, 4), target(189, 100, 5, 8)];
    expect(await linked(items, ...links)).toEqual([
      '# [题目](http://a.example/)',
      BODY_TEXT,
      '- [项目](http://a.example/)',
      '| 名称 | [值](http://a.example/) |\n| --- | --- |\n| 乙 |  |',
      '[侧边](http://a.example/)',
    ]);
  });

  it('within the document are plain text', async () => {
    const target: LinkTarget = { kind: 'page', pageNumber: 1, view: { kind: 'fit' } };
    expect(await linked(BODY, { box: { x: 0, y: 0, width: 210, height: 297 }, target })).toEqual([BODY_TEXT]);
  });
});

describe('headings of the outline', () => {
  const entry = (title: string, pageNumber: number, children: readonly OutlineEntry[] = []): OutlineEntry => {
    return { title, target: { kind: 'page', pageNumber, view: { kind: 'fit' } }, isExpanded: true, children };
  };
  const documents = (...outline: readonly OutlineEntry[]) => [
    {
      firstPage: 1,
      pageCount: 2,
      info: {},
      outline,
      destinations: [],
      attachments: [],
      customTags: () => [],
      signatures: () => [],
      preferences: {},
    },
  ];

  it('have its depth, whatever their size', async () => {
    const items = [run('第一章 总则', 20, 30), ...BODY, run('目的', 20, 90, 8)];
    const options = { documents: documents(entry('第一章总则', 1, [entry('目的', 1)])) };
    expect(await blocksOf([A4(items)], options)).toEqual(['# 第一章 总则', BODY_TEXT, '## 目的']);
  });

  it('stand apart from the lines after them, and may take several lines', async () => {
    const items = lines(['关于进一步加强管理工作的若干', '意见', '正文的第一行文字较长一些吗？'], 20, 20);
    const options = { documents: documents(entry('关于进一步加强管理工作的若干意见', 1)) };
    expect(await blocksOf([A4(items)], options)).toEqual([
      '# 关于进一步加强管理工作的若干意见',
      '正文的第一行文字较长一些吗？',
    ]);
  });

  it('may have numbers that the outline lacks, and are looked for on their page only', async () => {
    const options = { documents: documents(entry('适用范围', 2)) };
    const [first, second] = [[run('适用范围', 20, 30)], [run('1.2 适用范围', 20, 30), ...BODY]];
    expect(await blocksOf([A4(first, 1), A4(second, 2)], options)).toEqual(['适用范围', '# 1.2 适用范围', BODY_TEXT]);
  });

  it('are made once', async () => {
    const items = [run('目的', 20, 30), ...BODY, run('目的', 20, 90)];
    expect(await blocksOf([A4(items)], { documents: documents(entry('目的', 1)) })).toEqual([
      '# 目的',
      BODY_TEXT,
      '目的',
    ]);
  });
});

describe('what pages repeat at their edges', () => {
  const texts = [
    '甲方的第一页说了些什么。',
    '乙方的第二页说了些什么。',
    '丙方的第三页说了些什么。',
    '丁方的第四页说了些什么。',
  ];
  const pages = (edges: (n: number) => readonly Item[], count = 4) =>
    texts.slice(0, count).map((text, i) => A4([...edges(i + 1), run(text, 20, 150)], i + 1));

  it('is a comment from the second time on', async () => {
    const comment = '<!-- 某某公司年度报告 -->';
    const repeated = pages(() => [run('某某公司年度报告', 20, 15, 3)]);
    const [first, ...others] = texts;
    expect(await blocksOf(repeated)).toEqual(['某某公司年度报告', first, ...others.flatMap((text) => [comment, text])]);
    expect((await blocksOf(repeated.slice(0, 2))).filter((text) => text === comment)).toEqual([]);
  });

  it('is nothing but a comment where it is the number of the page', async () => {
    const numbered = pages((n) => [run(`第 ${n} 页 共 4 页`, 90, 290, 3)]);
    expect(await blocksOf(numbered)).toEqual(texts.flatMap((text, i) => [text, `<!-- 第 ${i + 1} 页 共 4 页 -->`]));
    const bare = pages((n) => [run(`- ${n + 6} -`, 100, 285, 3)], 2);
    expect(await blocksOf(bare)).toEqual([texts[0], '<!-- - 7 - -->', texts[1], '<!-- - 8 - -->']);
  });

  it('stays what it is where numbers do not count the pages, where letters are large, or further in', async () => {
    const years = pages((n) => [run(String(2024 + 2 * n), 100, 285, 3)]);
    expect((await blocksOf(years)).filter((text) => text.startsWith('<'))).toEqual([]);
    const titles = pages(() => [run('电子发票', 80, 20, 8)]);
    expect((await blocksOf(titles)).filter((text) => text.startsWith('<'))).toEqual([]);
    const inner = pages(() => [run('每页都有这么一行', 20, 60)]);
    expect((await blocksOf(inner)).filter((text) => text.startsWith('<'))).toEqual([]);
    const fields = pages(() => [run('开票日期：2020年2月', 150, 20, 3)]);
    expect((await blocksOf(fields)).filter((text) => text.startsWith('<'))).toEqual([]);
    const numbers = pages((n) => [run(`发票号码：0012${n}`, 150, 20, 3)]);
    expect((await blocksOf(numbers)).filter((text) => text.startsWith('<'))).toEqual([]);
  });

  it('loses no letter', async () => {
    const all = pages((n) => [
      run('某某公司--年度报告', 20, 15, 3),
      run('内部资料', 160, 15, 3),
      run(`${n}/4`, 100, 290, 3),
    ]);
    const letters = (text: string) => text.replace(/<!-- | -->|\s/g, '');
    const [plain] = (await render(textBackend, all)).files;
    const [written] = (await render(markdownBackend, all)).files;
    expect(letters(written!.toString('utf8'))).toBe(letters(plain!.toString('utf8')));
  });
});
