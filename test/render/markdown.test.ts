// Markdown: lines become paragraphs, large lines headings, ruled lines tables; the document's characters stay themselves.
import { describe, expect, it } from 'vitest';
import type { Item } from '../../src/display/list.js';
import { markdownBackend } from '../../src/render/markdown.js';
import { line, page, pen } from './lists.js';
import { render } from './output.js';
import { lines, run } from './text-page.js';

async function markdownOf(...pages: (readonly Item[])[]): Promise<string> {
  const { files } = await render(
    markdownBackend,
    pages.map((items, i) => page(items, 210, 297, i + 1)),
  );
  return files[0]!.toString('utf8');
}

const blocks = async (...pages: (readonly Item[])[]) => (await markdownOf(...pages)).trimEnd().split('\n\n');

describe('paragraphs', () => {
  it('are joined from full lines, and end at a short one or before an indented one', async () => {
    const items = lines(['本标准规定了版式文档的存', '储格式以及它们之间的关系', '适用于归档。'], 20, 20);
    expect(await blocks([...items, ...lines(['另起一段说明。'], 28, 38)])).toEqual([
      '本标准规定了版式文档的存储格式以及它们之间的关系适用于归档。',
      '另起一段说明。',
    ]);
  });

  it('may begin with an indent, even where the page is wider than the text', async () => {
    const items = [run('根据第八条规定，经审', 28, 20), run('查，准予施工。', 20, 26), run('别处', 180, 200)];
    expect((await blocks(items))[0]).toBe('根据第八条规定，经审查，准予施工。');
  });

  it('of words are joined by blanks, and hyphens between small letters go', async () => {
    const items = lines(
      ['The quick brown fox jumps over the la-', 'zy dog and runs into the dark forest', 'again.'],
      20,
      20,
    );
    expect(await blocks(items)).toEqual([
      'The quick brown fox jumps over the lazy dog and runs into the dark forest again.',
    ]);
  });

  it('are not made of labels, nor over a sentence that ends at an edge which no other line shows', async () => {
    expect(await blocks(lines(['姓名', '生日'], 20, 20))).toEqual(['姓名', '生日']);
    expect(await blocks([run('微软雅黑', 20, 20, 4, { stepX: 4.01 }), run('新宋', 20, 26)])).toEqual([
      '微软雅黑',
      '新宋',
    ]);
    const items = ['此文档用于测试各种批注和水印。', '正文第一行', '正文第二行。'];
    expect(await blocks(lines(items, 20, 20))).toEqual(items);
  });

  it('begin at the markers of articles and lists', async () => {
    const full = [
      '第一条为了规范管理办法',
      '第二条本办法适用于本市',
      '（一）本市行政区域之内',
      '1、在册登记之各类单位',
    ];
    expect(await blocks(lines(full, 20, 20))).toEqual(full);
  });

  it('are parted by gaps', async () => {
    const items = [...lines(['甲乙丙丁戊己庚辛', '壬癸子丑寅卯辰巳'], 20, 20), ...lines(['午未申酉戌亥天地'], 20, 40)];
    expect(await blocks(items)).toEqual(['甲乙丙丁戊己庚辛壬癸子丑寅卯辰巳', '午未申酉戌亥天地']);
  });
});

describe('headings', () => {
  const body = lines(['正文的第一行文字较长一些', '正文的第二行文字也较长的'], 20, 60);

  it.each([
    [8, '# '],
    [7, '## '],
    [6, '### '],
    [5.3, '#### '],
    [4.7, '##### '],
    [4.2, ''],
  ])('of %d mm over text of 4 mm begin with "%s"', async (sizeMm, mark) => {
    expect((await blocks([run('章节标题', 20, 30, sizeMm), ...body]))[0]).toBe(`${mark}章节标题`);
  });

  it('are no sentences and no numbers', async () => {
    expect((await blocks([run('这是一句话。', 20, 30, 8), ...body]))[0]).toBe('这是一句话。');
    expect((await blocks([run('2024', 20, 30, 8), ...body]))[0]).toBe('2024');
  });

  it('are no fields of a form, side by side', async () => {
    const fields = [run('工程名称：某中心', 20, 30, 8), run('编号：', 120, 30, 8)];
    expect((await blocks([...fields, ...body]))[0]).toBe('工程名称：某中心 编号：');
    expect((await blocks([run('附则：补充规定', 20, 30, 8), ...body]))[0]).toBe('# 附则：补充规定');
  });

  it('are measured by the text of the pages before, too', async () => {
    expect((await blocks(body, [run('章节标题', 20, 30, 8)])).at(-1)).toBe('# 章节标题');
  });
});

describe('lists', () => {
  it('keep bullets as list items and numbers as they are', async () => {
    expect(await markdownOf([...lines(['• 铅笔', '● 钢笔', '1. 墨水'], 20, 20)])).toBe('- 铅笔\n\n- 钢笔\n\n1. 墨水\n');
  });
});

describe('characters', () => {
  it.each([
    '400.00',
    '007',
    '1e5',
    '0x1F',
    '-0',
    '+5',
    '3.10',
    '1,000.50',
    'NaN',
    '(1)',
    'a&b',
    'C:\u3000D',
    'x_y',
    '5>3',
  ])('%s stays as it is', async (text) => {
    expect(await markdownOf([run(text, 20, 20)])).toBe(`${text}\n`);
  });

  it.each([
    ['*a*', '\\*a\\*'],
    ['[a](b)', '\\[a\\](b)'],
    ['a|b', 'a\\|b'],
    ['`a`', '\\`a\\`'],
    ['C:\\a', 'C:\\\\a'],
    ['<b>', '\\<b>'],
    ['&lt;', '&amp;lt;'],
    ['_a_', '\\_a\\_'],
    ['# a', '\\# a'],
    ['> a', '\\> a'],
    ['- a', '\\- a'],
    ['+ a', '\\+ a'],
    ['1.', '1\\.'],
    ['---', '\\---'],
    ['~~a~~', '\\~\\~a\\~\\~'],
  ])('%s is escaped', async (text, escaped) => {
    expect(await markdownOf([run(text, 20, 20)])).toBe(`${escaped}\n`);
  });
});

describe('tables', () => {
  const rules = (xs: readonly number[], ys: readonly number[]): Item[] => [
    ...xs.map((x) => line([x, ys[0]!, x, ys.at(-1)!], pen(0.2))),
    ...ys.map((y) => line([xs[0]!, y, xs.at(-1)!, y], pen(0.2))),
  ];

  it('come from ruled lines, with pipes escaped and lines of a cell joined or broken', async () => {
    const items = [
      ...rules([10, 50, 100], [10, 20, 40]),
      run('名称', 12, 17),
      run('a|b', 52, 17),
      ...lines(['某某市某某区某', '路'], 12, 27, 5, 7),
      ...lines(['一', '二'], 52, 29, 4, 8),
    ];
    expect(await markdownOf(items)).toBe('| 名称 | a\\|b |\n| --- | --- |\n| 某某市某某区某路 | 一<br>二 |\n');
  });

  it('join the lines of a label that is centred in its cell, where it fills it', async () => {
    const items = [
      ...rules([10, 40, 100], [10, 25, 40]),
      run('来文单位附件', 13, 17),
      run('注', 23, 22),
      run('甲', 42, 17),
      run('签发', 21, 32),
      run('会签人', 19, 37),
    ];
    expect(await markdownOf(items)).toBe('| 来文单位附件注 | 甲 |\n| --- | --- |\n| 签发<br>会签人 |  |\n');
  });

  it('part what was painted across them in one run, but no word that sticks out of its cell', async () => {
    const items = [
      ...rules([10, 30, 50, 80], [10, 20, 30, 40]),
      run('名称   数量   单价', 14, 17, 4, { stepX: 3.9 }),
      run('钢笔芯      120    2.50', 12, 27, 4),
      run('长钢笔芯笔记', 12, 37, 4),
    ];
    expect(await markdownOf(items)).toBe(
      '| 名称 | 数量 | 单价 |\n| --- | --- | --- |\n| 钢笔芯 | 120 | 2.50 |\n| 长钢笔芯笔记 |  |  |\n',
    );
  });

  it('leave the other cells of a merged area empty', async () => {
    const items = [
      line([10, 10, 100, 10], pen(0.2)),
      line([10, 20, 100, 20], pen(0.2)),
      line([10, 30, 100, 30], pen(0.2)),
      line([10, 10, 10, 30], pen(0.2)),
      line([50, 20, 50, 30], pen(0.2)),
      line([100, 10, 100, 30], pen(0.2)),
      run('横跨两列', 40, 17),
      run('甲', 12, 27),
      run('乙', 52, 27),
    ];
    expect(await markdownOf(items)).toBe('| 横跨两列 |  |\n| --- | --- |\n| 甲 | 乙 |\n');
  });

  it('are no frames: a box round text, or lines under it, makes none', async () => {
    const items = [...rules([10, 100], [10, 40]), ...lines(['甲乙', '丙丁'], 12, 20)];
    expect(await markdownOf(items)).not.toContain('|');
    expect(await markdownOf([line([10, 21, 60, 21], pen(0.2)), run('甲乙', 12, 20)])).toBe('甲乙\n');
  });
});

describe('stamps', () => {
  it('that repeat a slanted word over the page come once', async () => {
    const a = Math.PI / 4;
    const matrix = (x: number) => [Math.cos(a), Math.sin(a), -Math.sin(a), Math.cos(a), x, 100] as const;
    const marks = [20, 80, 140].map((x) => run('保密资料', 0, 0, 6, { matrix: matrix(x) }));
    expect(await blocks([run('正文', 20, 20, 6), ...marks])).toEqual(['正文', '保密资料']);
  });
});
