// Markdown to one HTML document: what it understands, what it does not let through, what it can be given (contract B1).
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { markdownEngine } from '../../src/convert/engines/markdown.js';
import { markdownPage } from '../../src/convert/markdown/page.js';
import { runEngine } from '../support/engine-run.js';
import { processorClock } from '../support/processor-time.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'ofd-server-markdown-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const missing: string[] = [];
/** What stands in the body. */
function body(source: string): string {
  missing.length = 0;
  const page = markdownPage(source, (address) => missing.push(address));
  return /<body>\n([\s\S]*)<\/body>/.exec(page)?.[1]?.trim() ?? '';
}

describe('Markdown', () => {
  it.each([
    ['# 标题', '<h1 id="标题">标题</h1>'],
    ['a\n\nb', '<p>a</p>\n<p>b</p>'],
    ['a **b** _c_ ~~d~~ `e`', '<p>a <strong>b</strong> <em>c</em> <s>d</s> <code>e</code></p>'],
    ['[a](https://example.com/?b=c&d "e")', '<p><a href="https://example.com/?b=c&amp;d" title="e">a</a></p>'],
    ['[a](b.html#c)', '<p><a href="b.html#c">a</a></p>'],
    ['```js\na < b\n```', '<pre><code class="language-js">a &lt; b\n</code></pre>'],
    ['a<br>b<BR />c', '<p>a<br>\nb<br>\nc</p>'],
    ['a <!-- hidden --> b', '<p>a  b</p>'],
    ['a <!-- b', '<p>a &lt;!-- b</p>'],
  ])('%j', (source, html) => {
    expect(body(source)).toBe(html);
  });

  it('has tables and tasks', () => {
    expect(body('| a | b |\n|---|--:|\n| 一 | 2 |')).toMatch(
      /<th>a<\/th>\n<th style="text-align:right">b<\/th>[\s\S]*<td>一<\/td>\n<td style="text-align:right">2<\/td>/,
    );
    expect(body('- [ ] a\n- [x] b\n- c [ ] d')).toBe('<ul>\n<li>☐ a</li>\n<li>☑ b</li>\n<li>c [ ] d</li>\n</ul>');
  });

  it('has footnotes behind the text, each with a way there and back, and those that nothing leads to', () => {
    const mark = (id: string, number: number) =>
      `<sup class="footnote-ref"><a href="#fn${number}" id="fnref${id}">[${number}]</a></sup>`;
    const back = (number: number) => ` <a href="#fnref${number}" class="footnote-backref">\u21a9\ufe0e</a>`;
    const note = (number: number, html: string) => `<li id="fn${number}" class="footnote-item">${html}\n</li>\n`;
    const source =
      '脚注[^1]，又[^甲]，再[^1]。^[行内]\n\n[^甲]: 第二\n\n    第二段\n\n[^1]: 注释 **粗**\n[^无]: 没有标记';
    expect(body(source)).toBe(
      `<p>脚注${mark('1', 1)}，又${mark('2', 2)}，再${mark('1:1', 1)}。${mark('3', 3)}</p>\n` +
        '<hr class="footnotes-sep">\n<section class="footnotes">\n<ol class="footnotes-list">\n' +
        note(1, `<p>注释 <strong>粗</strong>${back(1)}</p>`) +
        note(2, `<p>第二</p>\n<p>第二段${back(2)}</p>`) +
        note(3, `<p>行内${back(3)}</p>`) +
        note(4, '<p>没有标记</p>') +
        '</ol>\n</section>',
    );
    expect(body('a[^b]')).toBe('<p>a[^b]</p>');
  });

  it.each([
    ['这是**重点。**后面', '这是<strong>重点。</strong>后面'],
    ['这是**“重点”**后面', '这是<strong>“重点”</strong>后面'],
    ['合同**（一）**号', '合同<strong>（一）</strong>号'],
    ['**重点**后面', '<strong>重点</strong>后面'],
    ['~~旧。~~新', '<s>旧。</s>新'],
    ['2 * 3 * 4', '2 * 3 * 4'],
    ['乘 * 号 * 后', '乘 * 号 * 后'],
    ['snake_case_name', 'snake_case_name'],
    ['𠮷**（一）**𠮷', '𠮷<strong>（一）</strong>𠮷'],
  ])('emphasises between Chinese letters: %s', (source, html) => {
    expect(body(source)).toBe(`<p>${html}</p>`);
  });

  it('joins lines of Chinese without a space, and others with one', () => {
    expect(body('第一行\n第二行')).toBe('<p>第一行第二行</p>');
    expect(body('first\nsecond')).toBe('<p>first\nsecond</p>');
    expect(body('第一行\nsecond')).toBe('<p>第一行\nsecond</p>');
  });

  it('gives headings that links of the document find', () => {
    expect(body('# A b: c!\n# A b: c!\n# 一、概述\n[x](#一概述)')).toBe(
      '<h1 id="a-b-c">A b: c!</h1>\n<h1 id="a-b-c-1">A b: c!</h1>\n<h1 id="一概述">一、概述</h1>\n' +
        '<p><a href="#%E4%B8%80%E6%A6%82%E8%BF%B0">x</a></p>',
    );
  });
});

describe('the page', () => {
  it.each([
    ['# 年度 *报告*\n\n文字', '年度 报告', 'zh-CN'],
    ['words\n\n## Later `title`', 'Later title', 'en'],
    ['words', 'Document', 'en'],
    ['---\ntitle: "前言 <1>"\nother: x\n---\n# Heading', '前言 &lt;1&gt;', 'en'],
    ['---\nno front matter\n---\n# A', 'no front matter', 'en'],
  ])('of %j has a title and a language', (source, title, language) => {
    const page = markdownPage(source, () => undefined);
    expect(page).toContain(`<title>${title}</title>`);
    expect(page).toContain(`<html lang="${language}">`);
  });

  it('needs nothing beside it', () => {
    const page = markdownPage('# a', () => undefined);
    expect(page).toMatch(/^<!DOCTYPE html>/);
    expect(page).not.toMatch(/<script|src=|@import|url\(|<link/);
  });
});

describe('what is not let through', () => {
  it.each([
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '<div\nonclick="alert(1)">a</div>',
    '<a href="javascript:alert(1)">a</a>',
    '[a](javascript:alert(1))',
    '[a](JaVaScRiPt:alert(1))',
    '[a](&#106;avascript:alert(1))',
    '[a](vbscript:x)',
    '[a](file:///etc/passwd)',
    '[a](data:text/html,<script>alert(1)</script>)',
    '![a](data:text/html;base64,PHNjcmlwdD4=)',
    '![a](data:image/svg+xml;base64,PHN2Zz4=)',
    '![a](x" onerror="alert(1))',
    '```"><script>alert(1)</script>\n```',
    '---\ntitle: </title><script>alert(1)</script>\n---\n',
    '# </title><script>alert(1)</script>',
    '<javascript:alert(1)>',
    '<br onclick="alert(1)">',
  ])('%j', (source) => {
    const page = markdownPage(source, () => undefined);
    expect(page).not.toMatch(/<script|<img|<div|<a [^>]*(?:script|data|file):|<\w[^>]*\son\w+=/i);
  });

  it('a picture that is not in the text: it is named', () => {
    expect(body('![远程](http://a.example/x.png) ![](../b.png)')).toBe(
      '<p><span class="missing-picture">远程</span> <span class="missing-picture">../b.png</span></p>',
    );
    expect(missing).toEqual(['http://a.example/x.png', '../b.png']);
    expect(body('![a](data:image/png;base64,AAAA)')).toBe('<p><img src="data:image/png;base64,AAAA" alt="a"></p>');
    expect(missing).toEqual([]);
  });
});

describe('the engine', () => {
  const pair = { from: 'md', to: 'html' } as const;

  it.each([
    ['UTF-8', Buffer.from('# 中文')],
    ['UTF-8 with a mark', Buffer.from('\ufeff# 中文')],
    ['UTF-16', Buffer.from('\ufeff# 中文', 'utf16le')],
    ['GB18030', Buffer.from([0x23, 0x20, 0xd6, 0xd0, 0xce, 0xc4])],
  ])('reads %s', async (_encoding, bytes) => {
    const made = await runEngine(markdownEngine, bytes, pair, folder);
    expect(made.text('output.html')).toContain('<h1 id="中文">中文</h1>');
    expect(made).toMatchObject({ pages: 1, warnings: [], opened: ['md'], progress: ['1/1'] });
  });

  it('tells of what it left out and of bytes that are no text', async () => {
    const made = await runEngine(markdownEngine, Buffer.from('![a](b.png) \xff\xff', 'latin1'), pair, folder);
    expect(made.warnings.map(({ code }) => code)).toEqual(['text_undecodable', 'resource_blocked']);
    await expect(
      runEngine(markdownEngine, Buffer.from('![a](b.png)'), pair, folder, { failOn: ['resource_blocked'] }),
    ).rejects.toMatchObject({ code: 'conversion_failed', reason: 'unsupported' });
  });

  it('refuses what is too large and what is no text', async () => {
    await expect(
      runEngine(markdownEngine, Buffer.alloc(8 * 1024 * 1024 + 1, 0x61), pair, folder),
    ).rejects.toMatchObject({ code: 'conversion_failed', reason: 'too_large' });
    await expect(runEngine(markdownEngine, Buffer.from('PK\x03\x04\0\0'), pair, folder)).rejects.toMatchObject({
      code: 'conversion_failed',
      reason: 'corrupt',
    });
  });

  it.each([
    ['quotes in quotes', `${'>'.repeat(100_000)}x`],
    ['lists in lists', `${'- '.repeat(20_000)}x`],
    ['brackets', '['.repeat(100_000)],
    ['emphasis', '*a **b '.repeat(50_000)],
    ['comments without an end', '<!--'.repeat(100_000)],
    ['code marks of all lengths', Array.from({ length: 1500 }, (_value, length) => '`'.repeat(length)).join(' ')],
    ['footnotes', Array.from({ length: 30_000 }, (_value, number) => `[^${number}]: x`).join('\n')],
    ['footnotes in the text', '^[a]'.repeat(30_000)],
    ['footnotes without an end', '^['.repeat(50_000)],
    ['front matter without an end', `---\n${'a: b\n'.repeat(100_000)}`],
  ])('takes %s in little time', (_what, source) => {
    const took = processorClock();
    markdownPage(source, () => undefined);
    expect(took()).toBeLessThan(5000);
  });
});
