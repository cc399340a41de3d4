// Plain text: every character once, in the order in which the page is read.
import { describe, expect, it } from 'vitest';
import type { Item } from '../../src/display/list.js';
import { textBackend } from '../../src/render/text.js';
import { processorClock } from '../support/processor-time.js';
import { group, line, page, pen } from './lists.js';
import { render } from './output.js';
import { EVEN_FACE, lines, run } from './text-page.js';

async function textOf(...pages: (readonly Item[])[]): Promise<string> {
  const { files } = await render(
    textBackend,
    pages.map((items, i) => page(items, 210, 297, i + 1)),
  );
  expect(files).toHaveLength(1);
  return files[0]!.toString('utf8');
}

/** A grid of ruled lines. */
const grid = (xs: readonly number[], ys: readonly number[]): Item[] => [
  ...xs.map((x) => line([x, ys[0]!, x, ys.at(-1)!], pen(0.2))),
  ...ys.map((y) => line([xs[0]!, y, xs.at(-1)!, y], pen(0.2))),
];

const turned = (degrees: number, x: number, y: number) => {
  const a = (degrees * Math.PI) / 180;
  return [Math.cos(a), Math.sin(a), -Math.sin(a), Math.cos(a), x, y] as const;
};

describe('lines', () => {
  it('come from top to bottom and from left to right, whatever the paint order', async () => {
    expect(await textOf([run('丙', 10, 30), run('乙', 60, 20), run('甲', 10, 20)])).toBe('甲 乙\n丙\n');
  });

  it('of pages are parted by a blank line; pages without text leave none', async () => {
    expect(await textOf([], [run('甲', 10, 10)], [], [run('乙', 10, 10)])).toBe('甲\n\n乙\n');
    expect(await textOf([])).toBe('');
  });

  it('hold runs on nearly the same baseline, raised letters too', async () => {
    expect(await textOf([run('名称：', 10, 20, 4), run('某公司', 22.5, 20.7, 4)])).toBe('名称：某公司\n');
    expect(await textOf([run('面积100m', 10, 20, 4), run('2', 26.1, 18.4, 2.4)])).toBe('面积100m2\n');
  });

  it('that lie over each other stay whole', async () => {
    const text = await textOf([run('甲乙丙丁', 10, 20, 4), run('一二三四', 10.9, 20.8, 4)]);
    expect(text).toBe('甲乙丙丁\n一二三四\n');
  });

  it('keep squeezed signs: the next letter may stand in their cell', async () => {
    expect(await textOf([run('情况，', 10, 20), run('规范', 20, 20)])).toBe('情况，规范\n');
    const label = run('建设单位：', 10, 20);
    expect(await textOf([label, run('某中心', 27.5, 20), run('负责人', 60, 20)])).toBe('建设单位：某中心 负责人\n');
  });

  it('are found through groups and their matrices', async () => {
    const inner = group([run('乙', 0, 0)], { matrix: [1, 0, 0, 1, 10, 5] });
    const outer = group([inner, run('甲', 10, 0)], { matrix: [2, 0, 0, 2, 0, 20] });
    expect(await textOf([outer])).toBe('甲\n乙\n');
  });

  it('hold what is not seen', async () => {
    const { fill: _, ...unpainted } = run('甲乙', 10, 20);
    expect(await textOf([unpainted])).toBe('甲乙\n');
  });
});

describe('letters from right to left', () => {
  const leftward = (text: string, right: number, y: number, more = {}) =>
    run(text, right, y, 4, { stepX: -2, ...more });

  it('are read from the right, whether the run holds them in that order or as they stand', async () => {
    expect(await textOf([leftward('שלום עולם', 60, 20)])).toBe('שלום עולם\n');
    expect(await textOf([run('םולש', 20, 20)])).toBe('שלום\n');
    const words = [run('سلام', 40, 20, 4, { stepX: -2 }), run('دنيا', 28, 20, 4, { stepX: -2 })];
    expect(await textOf(words)).toBe('سلام دنيا\n');
  });

  it('stand among words and numbers that are read from the left', async () => {
    expect(await textOf([run('2024 :םולש', 20, 20)])).toBe('שלום: 2024\n');
    expect(await textOf([run('(םלוע) םולש', 20, 20)])).toBe('שלום (עולם)\n');
    expect(await textOf([run('The word םולש means', 20, 20)])).toBe('The word שלום means\n');
    expect(await textOf([run('名称：', 10, 20), run('הרבח', 22, 20), run('有限公司', 32.5, 20)])).toBe(
      '名称：חברה 有限公司\n',
    );
  });

  it('are those of Chinese text too where the document says so, and never of numbers painted backwards', async () => {
    expect(await textOf([run('中国银行', 60, 20, 4, { stepX: -4, readDirection: 180 })])).toBe('中国银行\n');
    expect(await textOf([leftward('54321', 60, 20)])).toBe('12345\n');
  });
});

describe('blanks', () => {
  it('of a run make no room that another run may not fill', async () => {
    const form = [run('共', 10, 20), run('4            1', 20, 20), run('页 第', 26, 20), run('页', 52, 20)];
    expect(await textOf(form)).toBe('共 4 页 第 1 页\n');
    expect(await textOf([run('住    址', 10, 20)])).toBe('住    址\n');
  });

  it('stand where words part, not inside them', async () => {
    expect(await textOf([run('Hello', 10, 20), run('World', 21.2, 20), run('!', 31.2, 20)])).toBe('Hello World!\n');
    expect(await textOf([run('甲乙', 10, 20), run('丙丁', 18.5, 20)])).toBe('甲乙丙丁\n');
  });

  it('of the document stay, and its ends are cut off', async () => {
    expect(await textOf([run(' a  b ', 10, 20), run('c', 22, 20)])).toBe('a  b c\n');
  });

  it('are not made between letters spread over a width', async () => {
    expect(await textOf([run('合计', 10, 20, 4, { stepX: 9 }), run('备注', 10, 30, 4)])).toBe('合 计\n备注\n');
    expect(await textOf([run('发票联', 10, 20, 4, { stepX: 8 })])).toBe('发票联\n');
    const single = [...'会议纪要'].map((letter, i) => run(letter, 10 + i * 8, 20));
    expect(await textOf(single)).toBe('会议纪要\n');
  });

  it('that are runs of their own part letters that are runs of their own', async () => {
    const letters = [...'for OFD gets a PDF of a dog'].map((letter, i) => run(letter, 10 + 2 * i, 20));
    expect(await textOf(letters)).toBe('for OFD gets a PDF of a dog\n');
    const turned = letters.map((item) => ({ ...item, matrix: [0, 1, -1, 0, 100, 0] as const }));
    expect(await textOf(turned)).toBe('for OFD gets a PDF of a dog\n');
    expect(await textOf([run('甲', 10, 20), run(' ', 14, 20), run('a', 16, 20)])).toBe('甲 a\n');
    const apart = [run('张', 10, 20), run('三', 14, 20), run(' ', 18, 20), run('李', 20, 20), run('四', 24, 20)];
    expect(await textOf(apart)).toBe('张三 李四\n');
  });

  it('that are runs of their own part nothing where they spread a title, or where the next letter is on their place', async () => {
    const title = [...'会 议 纪 要'].map((letter, i) => run(letter, 10 + i * 4, 20));
    expect(await textOf(title)).toBe('会议纪要\n');
    expect(await textOf([run('ab', 10, 20), run(' ', 14, 20), run('cd', 14, 20)])).toBe('abcd\n');
    expect(await textOf([run('ab', 10, 20), run('      ', 14, 20), run('cd', 14, 20)])).toBe('abcd\n');
    expect(await textOf([run('ab', 10, 20), run(' ', 14, 26), run('cd', 14, 20)])).toBe('abcd\n');
  });

  it('stand between words of one pitch though the substitute face has wider letters', async () => {
    const wide = { ...EVEN_FACE, key: 'wide', advance: (id: number) => (id === 109 ? 950 : id === 114 ? 350 : 450) };
    const items = [run('from', 10, 20, 4, { face: wide, stepX: 2 }), run('here', 20, 20, 4, { face: wide, stepX: 2 })];
    expect(await textOf(items)).toBe('from here\n');
  });

  it('stand between words of a font of one pitch, the shortest words too', async () => {
    const advanceOf = (letter: string) => (letter === 'm' ? 950 : 'itf'.includes(letter) ? 300 : 550);
    const wide = { ...EVEN_FACE, key: 'wide', advance: (id: number) => advanceOf(String.fromCodePoint(id)) };
    const words = ['it', 'can', 'not', 'be', 'that', 'I', 'am', 'so', 'far', 'from', 'him', 'in', 'time', 'that', 'we'];
    let letters = 0;
    const items = words.map((word) => {
      const item = run(word, 10 + letters * 2, 20, 4, { face: wide, stepX: 2 });
      letters += word.length + 1;
      return item;
    });
    expect(await textOf(items)).toBe(`${words.join(' ')}\n`);
  });

  it('part cells', async () => {
    expect(await textOf([run('甲', 10, 20), run('12', 40, 20), run('3.10', 60, 20)])).toBe('甲 12 3.10\n');
    expect(await textOf([run('12', 10, 20), run('34', 14, 20)])).toBe('1234\n');
  });
});

describe('two pages on one sheet', () => {
  const left = [
    '营业执照',
    '根据有关规定，经审查，本工程符合施工条件，',
    '准予施工，特发此证，请妥善保管。',
    '发证机关某某局',
    '发证日期某年',
  ];
  const right = Array.from({ length: 9 }, (_, i) => `第${i}条规定：未经许可，不得变更。`);
  const sheet = (x: number) => [...lines(left, 20, 40, 4, 33), ...lines(right, x, 44.5, 4, 15)];
  const textOfSheet = async (items: readonly Item[]) =>
    (await render(textBackend, [page(items, 297, 210)])).files[0]!.toString('utf8');

  it('are read one after the other', async () => {
    expect(await textOfSheet(sheet(160))).toBe(`${[...left, ...right].join('\n')}\n`);
    const frame = [line([5, 5, 292, 5], pen(0.2)), line([5, 205, 292, 205], pen(0.2))];
    expect(await textOfSheet([...frame, ...sheet(160)])).toBe(`${[...left, ...right].join('\n')}\n`);
  });

  it('are one page where something stands across the fold, or line stands beside line', async () => {
    const title = run('本工程施工许可证的正本与副本在一张纸上', 110, 30, 5);
    expect(await textOfSheet([title, ...sheet(160)])).not.toContain(left.join('\n'));
    const rule = line([20, 100, 280, 100], pen(0.2));
    expect(await textOfSheet([rule, ...sheet(160)])).not.toContain(left.join('\n'));
    const fields = right.map((_, i) => `第${i}项某某`);
    const beside = [...lines(fields, 20, 40, 4, 15), ...lines(fields, 160, 40, 4, 15)];
    expect((await textOfSheet(beside)).split('\n')[0]).toBe(`${fields[0]} ${fields[0]}`);
  });
});

describe('letters', () => {
  it('drawn twice for boldness come once', async () => {
    const twice = [run('重要', 10, 20), run('重要', 10.2, 20.1)];
    expect(await textOf(twice)).toBe('重要\n');
    expect(await textOf([run('重要', 10, 20), run('重要', 12, 20)])).not.toBe('重要\n');
  });

  it('drawn so far out that whole numbers have gaps come to an end', async () => {
    for (const far of [1e17, -1e17, 1e300]) {
      await textOf([run('重要', far, 20), run('重要', far, 20), run('重要', 10, far), run('重要', 10, far)]);
    }
  });

  it('of one run on one spot all stay', async () => {
    expect((await textOf([run('甲甲甲', 10, 20, 4, { stepX: 0 })])).trim()).toBe('甲甲甲');
  });

  it('of ligatures keep their order; glyphs without characters add none', async () => {
    const items = [run('xxxx', 10, 20, 4, { characters: ['fi', '', 'n', 'e'] })];
    expect(await textOf(items)).toBe('fine\n');
  });

  it('that are control characters go, those of private use and of the astral planes stay', async () => {
    expect(await textOf([run('a\u0007b\ufeffc', 10, 20)])).toBe('a b c\n');
    expect(await textOf([run('\ue001\u{20000}𝒳', 10, 20)])).toBe('\ue001\u{20000}𝒳\n');
  });

  it('at places that are no numbers are passed over', async () => {
    expect(await textOf([{ ...run('甲乙', 10, 20), x: [10, Number.NaN] }])).toBe('甲\n');
  });
});

describe('turned text', () => {
  it('comes after the level text, read along its own lines', async () => {
    const items = [
      run('右行', 0, 0, 4, { matrix: turned(90, 150, 50) }),
      run('次行', 0, 6, 4, { matrix: turned(90, 150, 50) }),
      run('正文', 10, 20),
    ];
    expect(await textOf(items)).toBe('正文\n右行\n次行\n');
  });

  it('round a seal is one word, from whichever end it is painted, level letters included', async () => {
    const letters = [...'国家税务总局'].map((letter, i) => {
      const angle = -50 + i * 20;
      const a = ((angle - 90) * Math.PI) / 180;
      return run(letter, 0, 0, 3, { matrix: turned(angle, 100 + 10 * Math.cos(a), 100 + 10 * Math.sin(a)) });
    });
    expect(await textOf([run('正文', 10, 20), ...letters])).toBe('正文\n国家税务总局\n');
    expect(await textOf([run('正文', 10, 20), ...letters.reverse()])).toBe('正文\n国家税务总局\n');
  });

  it('that slopes by a degree or two is level', async () => {
    expect(await textOf([run('甲乙', 0, 0, 4, { matrix: turned(1.2, 10, 20) }), run('丙', 30, 20)])).toBe('甲乙 丙\n');
  });
});

describe('vertical text', () => {
  it('beside much level text is read from its right column to its left one, too', async () => {
    const column = (text: string, x: number) => run(text, x, 20, 4, { stepY: 5 });
    const level = lines(['横排文字的第一行很长', '横排文字的第二行也长'], 20, 60);
    expect(await textOf([column('左列', 100), column('右列', 106), column('远处', 150), ...level])).toBe(
      '右列\n左列\n远处\n横排文字的第一行很长\n横排文字的第二行也长\n',
    );
  });

  it('is read from right to left', async () => {
    const column = (text: string, x: number) => run(text, x, 20, 4, { stepY: 5 });
    expect(await textOf([column('左行之文字', 100), column('右行之文字', 120)])).toBe('右行之文字\n左行之文字\n');
  });

  it('between level lines is one word at its place', async () => {
    const items = [
      run('购买方', 10, 20, 4, { stepY: 5 }),
      ...lines(['名称：某某有限公司', '地址：某某市'], 30, 20, 4, 10),
    ];
    expect(await textOf(items)).toBe('购买方\n名称：某某有限公司\n地址：某某市\n');
  });
});

describe('columns', () => {
  const prose = (letter: string) => Array.from({ length: 12 }, (_, i) => `${letter}${i % 10}`.padEnd(15, letter));

  it('of prose are read one after the other, below a title over both', async () => {
    const items = [run('标题', 80, 20, 6), ...lines(prose('左'), 20, 40), ...lines(prose('右'), 110, 40)];
    const text = await textOf(items);
    expect(text.split('\n')).toEqual(['标题', ...prose('左'), ...prose('右'), '']);
  });

  it('of a list stay together row by row', async () => {
    const items = [
      ...lines(['甲', '乙', '丙', '丁', '戊', '己'], 20, 40),
      ...lines(['1', '2', '3', '4', '5', '6'], 110, 40),
    ];
    expect(await textOf(items)).toBe('甲 1\n乙 2\n丙 3\n丁 4\n戊 5\n己 6\n');
  });
});

describe('ruled tables', () => {
  it('are read cell by cell where a cell has several lines', async () => {
    const items = [
      ...grid([10, 20, 100, 110, 200], [10, 40, 60]),
      ...[...'购买方'].map((letter, i) => run(letter, 13, 18 + i * 8)),
      ...lines(['名称：甲', '电话：乙'], 22, 20, 4, 10),
      ...[...'备注'].map((letter, i) => run(letter, 103, 20 + i * 10)),
      run('无', 112, 25),
      run('合计', 22, 52),
      run('100.00', 112, 52),
    ];
    expect(await textOf(items)).toBe('购买方\n名称：甲\n电话：乙\n备注\n无\n合计 100.00\n');
  });

  it('are read across where lines of several cells stand side by side', async () => {
    const items = [
      ...grid([10, 60, 120], [10, 20, 60]),
      run('品名', 12, 17),
      run('金额', 62, 17),
      ...lines(['铅笔', '钢笔', '墨水'], 12, 27, 4, 10),
      ...lines(['1.00', '2.00', '3.00'], 62, 27.1, 4, 10),
    ];
    expect(await textOf(items)).toBe('品名 金额\n铅笔 1.00\n钢笔 2.00\n墨水 3.00\n');
  });

  it('stand between the lines above and below', async () => {
    const items = [
      run('下', 10, 90),
      run('上', 10, 10),
      ...grid([10, 60, 120], [20, 40, 60]),
      run('甲', 12, 30),
      run('乙', 62, 30),
      run('丙', 12, 50),
    ];
    expect(await textOf(items)).toBe('上\n甲 乙\n丙\n下\n');
  });
});

describe('large pages', () => {
  it('of very many letters, all on one spot or all apart, take little time', async () => {
    const spot = Array.from({ length: 3000 }, (_, i) => run('一二三四五'[i % 5]!, 10 + (i % 7) * 0.01, 20));
    const apart = Array.from({ length: 8000 }, (_, i) => run('字', 10 + (i % 100) * 4, 20 + Math.floor(i / 100) * 6));
    const took = processorClock();
    await textOf(spot);
    expect((await textOf(apart)).replace(/\s/g, '')).toHaveLength(8000);
    expect(took()).toBeLessThan(5000);
  });
});
