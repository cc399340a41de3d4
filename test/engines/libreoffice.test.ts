// LibreOffice, the real one: every kind of document becomes the PDF that it should (contract B1), and what is no such
// document is told apart before (contract A2).
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findSoffice, LibreOfficeEngine } from '../../src/convert/engines/libreoffice.js';
import { pdfEngine } from '../../src/convert/engines/pdf.js';
import { runEngine } from '../support/engine-run.js';
import { temporaryFolder } from '../support/jobs.js';
import {
  convertBytes,
  docx,
  type Made,
  odt,
  openDocument,
  paragraphXml,
  pdfFonts,
  pdfText,
  pptx,
  textDocx,
  xlsx,
  zipOf,
} from '../support/office.js';

const SOFFICE = findSoffice('') as string;
const TEXT = '中文文档：年度报告 Report 2024';

let folder: { path: string; remove(): void };
let engine: LibreOfficeEngine;

beforeAll(() => {
  folder = temporaryFolder('libreoffice');
  engine = new LibreOfficeEngine({ sofficePath: SOFFICE, profileRoot: folder.path, fontDirs: [] });
});
afterAll(async () => {
  await engine.close();
  folder.remove();
});

const convert = (name: string, bytes: string | Uint8Array): Promise<Made> =>
  convertBytes(engine, folder.path, name, bytes);

/** A document of an older format, by LibreOffice itself. */
function savedAs(extension: string, from: string, bytes: Uint8Array): Buffer {
  const work = temporaryFolder('saved');
  try {
    const script = `cat > in.${from} && "$0" -env:UserInstallation=file://$PWD/profile --headless --convert-to ${extension} --outdir . in.${from}`;
    execFileSync('sh', ['-c', script, SOFFICE], { cwd: work.path, input: bytes, stdio: ['pipe', 'ignore', 'ignore'] });
    return readFileSync(join(work.path, `in.${extension}`));
  } finally {
    work.remove();
  }
}

const ODS_BODY = `<office:spreadsheet><table:table table:name="表"><table:table-row><table:table-cell office:value-type="string"><text:p>${TEXT}</text:p></table:table-cell></table:table-row></table:table></office:spreadsheet>`;
const ODP_BODY = `<office:presentation><draw:page draw:name="p1"><draw:frame svg:x="2cm" svg:y="2cm" svg:width="20cm" svg:height="3cm"><draw:text-box><text:p>${TEXT}</text:p></draw:text-box></draw:frame></draw:page></office:presentation>`;

const DOCUMENTS: readonly (readonly [name: string, make: () => string | Uint8Array])[] = [
  ['a.docx', () => textDocx(TEXT)],
  ['a.doc', () => savedAs('doc', 'docx', textDocx(TEXT))],
  ['a.odt', () => odt(`<text:p>${TEXT}</text:p>`)],
  ['a.rtf', () => savedAs('rtf', 'docx', textDocx(TEXT))],
  ['a.xlsx', () => xlsx([[TEXT]])],
  ['a.xls', () => savedAs('xls', 'xlsx', xlsx([[TEXT]]))],
  ['a.ods', () => openDocument('spreadsheet', ODS_BODY)],
  ['a.csv', () => `${TEXT},1\n`],
  ['a.pptx', () => pptx(TEXT)],
  ['a.ppt', () => savedAs('ppt', 'pptx', pptx(TEXT))],
  ['a.odp', () => openDocument('presentation', ODP_BODY)],
  ['a.txt', () => TEXT],
];

it('keeps characters that no font has, draws boxes for them, and names them', async () => {
  for (const [name, bytes] of [
    ['missing.docx', textDocx('甲𒀀𒀁乙𓀀丙', '𒀀')],
    ['missing.xlsx', xlsx([['甲𒀀𒀁乙𓀀丙'], ['𒀀']])],
  ] as const) {
    const made = await convert(name, bytes);
    const text = pdfText(made.path);
    for (const character of '甲𒀀𒀁乙𓀀丙') expect(text).toContain(character);
    const message = 'No face has these characters; a box is drawn for each';
    expect(made.warnings).toEqual([{ code: 'glyph_missing', message, characters: '𒀀𒀁𓀀' }]);
  }
});

/** Points, rounded. */
function pageSize(path: string): readonly number[] {
  const printed = execFileSync('pdfinfo', [path], { encoding: 'utf8' });
  return [...(/Page size: +(.*) pts/.exec(printed)?.[1] ?? '').matchAll(/[\d.]+/g)].map(([side]) =>
    Math.round(Number(side)),
  );
}

const A4 = [595, 842];
const A5 = [420, 595];
const SECTION = '<w:sectPr><w:pgMar w:top="567" w:left="567" w:right="567" w:bottom="567"/></w:sectPr>';
const SMALL_SECTION = '<w:sectPr><w:pgSz w:w="8391" w:h="11906"/></w:sectPr>';

describe.concurrent('paper', () => {
  it.each<readonly [string, string, () => string | Uint8Array, readonly number[]]>([
    ['is A4 where the document says none', 'a.docx', () => textDocx('甲'), A4],
    ['is A4 where a section says none', 'b.docx', () => docx(paragraphXml({ text: '甲' }) + SECTION), A4],
    ['is A4 where the section is empty', 'c.docx', () => docx(`${paragraphXml({ text: '甲' })}<w:sectPr/>`), A4],
    ['is what the document says', 'd.docx', () => docx(paragraphXml({ text: '甲' }) + SMALL_SECTION), A5],
    ['is A4 where the document says none', 'a.rtf', () => '{\\rtf1\\ansi \\u30002?}', A4],
    ['is what the document says', 'b.rtf', () => '{\\rtf1\\ansi\\paperw8391\\paperh11906 \\u30002?}', A5],
    ['is A4 where the document says none', 'a.odt', () => odt('<text:p>甲</text:p>'), A4],
    ['is A4 where the document says none', 'a.xlsx', () => xlsx([['甲']]), A4],
    ['is A4 where the document says none', 'a.csv', () => '甲,乙\n', A4],
  ])('%s (%s)', async (_, name, make, size) => {
    const { path } = await convert(name, make());
    expect(pageSize(path)).toEqual(size);
    expect(pdfText(path)).toContain('甲');
  });
});

describe.concurrent('a document of each kind', () => {
  it.each(DOCUMENTS)('%s', async (name, make) => {
    const made = await convert(name, make());
    expect(pdfText(made.path)).toContain(TEXT);
    expect(made).toMatchObject({ pages: 1, warnings: [], opened: [name.slice(2)] });
    expect(made.log).toContain('[ofd-server] libreoffice: exited with code 0');
    expect(made.alive).toBeGreaterThan(0);
  });
});

describe.concurrent('a product', () => {
  it('is the same every time (contract X1), without date, and valid', async () => {
    const bytes = textDocx(TEXT);
    const [first, second] = await Promise.all([convert('a.docx', bytes), convert('b.docx', bytes)]);
    const pdf = readFileSync(first.path);
    expect(pdf.equals(readFileSync(second.path))).toBe(true);
    expect(pdf.includes('CreationDate')).toBe(false);
    expect(execFileSync('qpdf', ['--check', first.path], { encoding: 'utf8' })).toContain(
      'No syntax or stream encoding errors',
    );
  });

  it('has all its pages counted', async () => {
    const page = (number: number): string =>
      `${paragraphXml({ text: `Page ${number}` })}<w:p><w:r><w:br w:type="page"/></w:r></w:p>`;
    const made = await convert('a.docx', docx(Array.from({ length: 60 }, (_value, index) => page(index)).join('')));
    expect(made.pages).toBe(
      Number(/Pages:\s+(\d+)/.exec(execFileSync('pdfinfo', [made.path], { encoding: 'utf8' }))?.[1]),
    );
    expect(made.pages).toBeGreaterThanOrEqual(60);
    expect((await convert('a.pptx', pptx('one', 'two', 'three'))).pages).toBe(3);
  });

  it('draws Chinese font names in Chinese faces of their kind', async () => {
    const fontsOf = async (...names: readonly string[]): Promise<string[]> =>
      pdfFonts((await convert('a.docx', textDocx(...names.map((font) => ({ text: '永和九年', font }))))).path);
    const [song, hei] = await Promise.all([
      fontsOf('宋体', 'SimSun', '华文中宋', '楷体', 'KaiTi_GB2312', '仿宋', 'FangSong', '方正小标宋简体'),
      fontsOf('黑体', 'SimHei', '微软雅黑', 'Microsoft YaHei', '等线', '华文细黑'),
    ]);
    expect(
      song.every((name) => /Serif|Song|Ming|Kai|Fang/i.test(name)),
      song.join(),
    ).toBe(true);
    expect(
      hei.every((name) => /Sans|Hei/i.test(name) && !/Serif/i.test(name)),
      hei.join(),
    ).toBe(true);
  });
});

describe.concurrent('text', () => {
  const CHINESE = '合同编号：甲方（盖章）\n第二行，金额 1,234.50 元\n';
  const GB18030 = Buffer.from(
    'bacfcdacb1e0bac5a3babcd7b7bda3a8b8c7d5c2a3a90ab5dab6fed0d0a3acbdf0b6ee20312c3233342e353020d4aa0a',
    'hex',
  );

  it.each([
    ['UTF-8', Buffer.from(CHINESE)],
    ['UTF-8 with a mark', Buffer.from(`\ufeff${CHINESE}`)],
    ['UTF-16', Buffer.from(`\ufeff${CHINESE}`, 'utf16le')],
    ['UTF-16 big-endian', Buffer.from(`\ufeff${CHINESE}`, 'utf16le').swap16()],
    ['GB18030', GB18030],
  ])('in %s', async (_name, bytes) => {
    const made = await convert('a.txt', bytes);
    expect(pdfText(made.path)).toContain('合同编号：甲方（盖章）');
    expect(pdfText(made.path)).toContain('第二行，金额 1,234.50 元');
    expect(made.warnings).toEqual([]);
  });

  it('with a few wrong bytes is what it is, with a warning', async () => {
    const made = await convert('a.txt', Buffer.concat([Buffer.from(CHINESE.repeat(20)), Buffer.from([0xff, 0xc3])]));
    expect(pdfText(made.path)).toContain('合同编号：甲方（盖章）');
    expect(made.warnings).toMatchObject([{ code: 'text_undecodable' }]);
  });

  it.each([
    ['commas, UTF-8', Buffer.from('姓名,证号,金额\n张三,110101199003078515,12.50\n李四,0042,"1,234"\n')],
    ['semicolons', Buffer.from('姓名;证号;金额\n张三;110101199003078515;12.50\n李四;0042;1,234\n')],
    ['tabs', Buffer.from('姓名\t证号\t金额\n张三\t110101199003078515\t12.50\n李四\t0042\t1,234\n')],
    [
      'commas, GB18030',
      Buffer.from(
        'd0d5c3fb2cd6a4bac52cbdf0b6ee0ad5c5c8fd2c3131303130313139393030333037383531352c31322e35300ac0eecbc42c303034322c22312c323334220a',
        'hex',
      ),
    ],
  ])('a table with %s keeps every digit', async (_name, bytes) => {
    const text = pdfText((await convert('a.csv', bytes)).path);
    // The first line: a name of ours stands nowhere.
    expect(text).toMatch(/^\s*姓名\s+证号\s+金额/);
    expect(text).toMatch(/张三\s+110101199003078515\s+12\.50/);
    expect(text).toMatch(/李四\s+0042\s+1,234/);
  });

  it('a table has nothing but its fields, each in a cell of its own', async () => {
    const { path } = await convert('table.csv', '甲, 乙 & <b>\tc\n"1\n2",\n');
    expect(pdfText(path).replace(/\s+/g, ' ').trim()).toBe('甲 乙 & <b> c 1 2');
    const other = temporaryFolder('libreoffice-table');
    const made = await runEngine(pdfEngine, readFileSync(path), { from: 'pdf', to: 'md' }, other.path);
    const text = made.text('output.md');
    other.remove();
    expect(text).toBe('| 甲 | 乙 & \\<b> c |\n| --- | --- |\n| 1<br>2 |  |\n');
  });

  it('a table whose longest line comes late keeps every digit', async () => {
    const long = 'b,1.50,"x\ny",110101199003078515,0012,=1+1\n';
    const text = pdfText((await convert('a.csv', Buffer.from(`${'a,1.50\n'.repeat(10_000)}${long}`))).path);
    expect(text).toMatch(/110101199003078515\s+0012\s+=1\+1/);
  });
});

describe.concurrent('a document under the name of another', () => {
  it.each([
    ['a.doc', 'docx', () => textDocx(TEXT)],
    ['a.docx', 'odt', () => odt(`<text:p>${TEXT}</text:p>`)],
    ['a.doc', 'rtf', () => `{\\rtf1\\ansi ${'Report 2024'}\\par}`],
    ['a.xls', 'xlsx', () => xlsx([[TEXT]])],
  ])('of its family is opened as what it is: %s is %s', async (name, format, make) => {
    const made = await convert(name, make());
    expect(made.opened).toEqual([format]);
    expect(pdfText(made.path)).toContain('Report 2024');
  });
});

describe('is refused without a product', () => {
  const flat =
    '<?xml version="1.0"?><office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"/>';
  const encryptedOdt = zipOf({
    mimetype: 'application/vnd.oasis.opendocument.text',
    'content.xml': 'x',
    'META-INF/manifest.xml':
      '<manifest:manifest xmlns:manifest="urn:m"><manifest:file-entry manifest:full-path="content.xml"><manifest:encryption-data/></manifest:file-entry></manifest:manifest>',
  });
  const cases: readonly (readonly [string, string, string | Uint8Array, string, RegExp])[] = [
    ['noise', 'a.docx', Buffer.alloc(5000, 0xa5), 'corrupt', /no docx document/],
    ['an empty file', 'a.xlsx', '', 'corrupt', /the file is empty/],
    ['plain text', 'a.doc', 'Dear Sir', 'corrupt', /no doc document/],
    ['an archive that is cut off', 'a.docx', textDocx(TEXT).subarray(0, 600), 'corrupt', /cut off or damaged/],
    ['an archive of something else', 'a.docx', zipOf({ 'a.txt': 'x' }), 'corrupt', /no such document/],
    [
      'a document whose text is cut off',
      'a.docx',
      docx('<w:p><w:r><w:t>'),
      'corrupt',
      /cannot read the document as docx/,
    ],
    ['a web page', 'a.docx', '<!DOCTYPE html><html><body>x</body></html>', 'corrupt', /input.format "html"/],
    ['a table of a web page', 'a.xls', '<table><tr><td>1</td></tr></table>', 'corrupt', /input.format "html"/],
    ['a flat document', 'a.odt', flat, 'corrupt', /flat XML/],
    ['a PDF', 'a.docx', '%PDF-1.7\n', 'corrupt', /input.format "pdf"/],
    ['a table under the name of a text', 'a.docx', xlsx([['x']]), 'corrupt', /input.format "xlsx"/],
    ['a docx', 'a.txt', textDocx(TEXT), 'corrupt', /no plain text: it holds bytes that no text has/],
    [
      'a picture',
      'a.csv',
      Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 0, 0, 13]),
      'corrupt',
      /no CSV table/,
    ],
    ['a part of more than 256 MiB', 'a.docx', docx(' '.repeat(257 * 2 ** 20)), 'too_large', /word\/document\.xml/],
    ['an encrypted odt', 'a.odt', encryptedOdt, 'encrypted', /protected by a password/],
  ];

  it.each(cases)('%s under %s', async (_name, name, bytes, reason, message) => {
    const before = readdirSync(folder.path).length;
    await expect(convert(name, bytes)).rejects.toMatchObject({
      code: 'conversion_failed',
      reason,
      message: expect.stringMatching(message),
    });
    const work = readdirSync(folder.path).filter((entry) => entry.startsWith('run-'));
    expect(readdirSync(folder.path).length).toBe(before + 1);
    for (const entry of work) expect(readdirSync(join(folder.path, entry, 'scratch'))).toEqual([]);
  });
});

it('finds the program by PATH or by its path, and says where there is none', () => {
  expect(findSoffice('')).toMatch(/\/soffice$/);
  expect(findSoffice(SOFFICE)).toBe(SOFFICE);
  expect(findSoffice('/no/soffice')).toBeUndefined();
  expect(findSoffice('/etc')).toBeUndefined();
});
