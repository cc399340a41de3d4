import { describe, expect, it } from 'vitest';
import type { Diagnostic } from '../../src/display/list.js';
import { DEFAULT_LIMITS, type OfdLimits } from '../../src/ofd/limits.js';
import { parseNumbers, parseXml, type XmlElement } from '../../src/ofd/xml.js';
import { processorClock } from '../support/processor-time.js';

interface Parsed {
  readonly root: XmlElement | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

function parse(source: string | Uint8Array, limits: Partial<OfdLimits> = {}): Parsed {
  const bytes = typeof source === 'string' ? Buffer.from(source, 'utf8') : source;
  const diagnostics: Diagnostic[] = [];
  const root = parseXml(bytes, 'part.xml', { ...DEFAULT_LIMITS, ...limits }, (d) => diagnostics.push(d));
  return { root, diagnostics };
}

/** `name(attributes)[text; children]`, short enough to compare by eye. */
function outline(element: XmlElement | undefined): string {
  if (element === undefined) return 'nothing';
  const attributes = element.attributeNames().map((name) => `${name}=${element.attribute(name)}`);
  const inside = [element.text, ...element.children.map(outline)].filter((part) => part !== '').join(' ');
  return `${element.name}(${attributes.join(' ')})[${inside}]`;
}

describe('well-formed parts', () => {
  it.each<[string, string, string]>([
    ['prefixes', '<ofd:A xmlns:ofd="u" ofd:ID="1" Name="n"><x:B/></ofd:A>', 'A(ID=1 Name=n)[B()[]]'],
    ['no namespace', '<A><B/></A>', 'A()[B()[]]'],
    ['raw text', '<A>  two  blanks\n</A>', 'A()[  two  blanks\n]'],
    ['text of blanks alone', '<A><B> </B></A>', 'A()[B()[ ]]'],
    ['blanks between elements', '<A>\n  <B/>\n</A>', 'A()[B()[]]'],
    ['character data', '<A>a<![CDATA[<b>&amp;]]>c</A>', 'A()[a<b>&amp;c]'],
    ['entities', '<A x="&quot;&#x4E2D;">&lt;&#25991;&amp;</A>', 'A(x="中)[<文&]'],
    ['comments and instructions', '<?xml version="1.0"?><!-- a --><A><?x y?><!-- > --></A>', 'A()[]'],
    ['a document type', '<!DOCTYPE A [<!ELEMENT A ANY>]><A/>', 'A()[]'],
    ['characters beyond the first plane', '<A>𠀀😀</A>', 'A()[𠀀😀]'],
  ])('reads %s', (_name, source, expected) => {
    const { root, diagnostics } = parse(source);
    expect(outline(root)).toBe(expected);
    expect(diagnostics).toEqual([]);
  });

  it('finds children by name', () => {
    const root = parse('<R><A n="1"/><B> b </B><A n="2"/></R>').root!;
    expect(root.child('A')?.attribute('n')).toBe('1');
    expect(root.childrenNamed('A').map((a) => a.attribute('n'))).toEqual(['1', '2']);
    expect(root.childText('B')).toBe('b');
    expect(root.child('C')).toBeUndefined();
    expect(root.childText('C')).toBeUndefined();
  });
});

describe('malformed parts', () => {
  it.each<[string, string, string]>([
    ['a duplicate attribute (the first counts)', '<A x="1" x="2"/>', 'A(x=1 x=1)[]'],
    ['a bare ampersand', '<A>AT&T &amp; x</A>', 'A()[AT&T & x]'],
    ['an unknown entity', '<A>&nbsp;</A>', 'A()[&nbsp;]'],
    ['an entity of its own', '<!DOCTYPE A [<!ENTITY e SYSTEM "file:///etc/passwd">]><A>&e;</A>', 'A()[&e;]'],
    ['a bare less-than sign', '<A>1 < 2<B/></A>', 'A()[1 < 2 B()[]]'],
    ['an end tag too many', '<A><B>x</C></B><D/></A>', 'A()[B()[x] D()[]]'],
    ['an end tag too few', '<A><B><C>x</B><D/></A>', 'A()[B()[C()[x]] D()[]]'],
    ['the end cut off', '<A><B>x</B><D x="1', 'A()[B()[x] D(x=1)[]]'],
    ['attributes without quotes', '<A x=1 y/>', 'A(x=1 y=)[]'],
    ['a lost quote', '<R><A x="1/><B z="3"/></R>', 'R()[A(x=1)[] B(z=3)[]]'],
    ['a less-than sign in an attribute', '<A x="a<b"/>', 'A(x=a<b)[]'],
    ['control characters', '<A>a\u0001b</A>', 'A()[a\u0001b]'],
    ['an empty prefix', '<:A xmlns:=""><:B>1</ :B></:A>', 'A()[B()[1]]'],
    ['junk around the root', 'junk<A/>\0\0', 'A()[]'],
    ['a second root', '<A/><B/>', 'A()[]'],
    ['an unclosed comment', '<A><B/><!-- </A>', 'A()[B()[]]'],
    ['unclosed character data', '<A><![CDATA[x</A>', 'A()[x</A>]'],
  ])('reads %s and says so', (_name, source, expected) => {
    const { root, diagnostics } = parse(source);
    expect(outline(root)).toBe(expected);
    expect(diagnostics).toMatchObject([{ code: 'xml_malformed', part: 'part.xml' }]);
  });

  it.each(['', 'no markup', '<', '\0\0\0\0'])('gives nothing for %j', (source) => {
    const { root, diagnostics } = parse(source);
    expect(root).toBeUndefined();
    expect(diagnostics).toMatchObject([{ code: 'xml_malformed' }]);
  });
});

describe('encodings', () => {
  const chinese = Buffer.from([0xd6, 0xd0, 0xce, 0xc4]); // 中文 in GBK
  const around = (head: string, text: Uint8Array): Buffer =>
    Buffer.concat([Buffer.from(`${head}<A>`), text, Buffer.from('</A>')]);
  const utf16 = Buffer.from('<A>中文</A>', 'utf16le');

  it.each<[string, Uint8Array]>([
    ['UTF-8 with a mark', around('\ufeff', Buffer.from('中文'))],
    ['a mark against the declaration', around('\ufeff<?xml version="1.0" encoding="GBK"?>', Buffer.from('中文'))],
    ['GBK declared', around('<?xml version="1.0" encoding="GBK"?>', chinese)],
    ['gb2312 declared', around("<?xml version='1.0' encoding='gb2312'?>", chinese)],
    ['UTF-16 with a mark', Buffer.concat([Buffer.from([0xff, 0xfe]), utf16])],
    ['UTF-16 without', utf16],
    ['UTF-16, big end first', Buffer.concat([Buffer.from([0xfe, 0xff]), Buffer.from(utf16).swap16()])],
    ['UTF-8 that declares UTF-16', around('<?xml version="1.0" encoding="UTF-16"?>', Buffer.from('中文'))],
    ['an unknown encoding', around('<?xml version="1.0" encoding="klingon"?>', Buffer.from('中文'))],
  ])('reads %s', (_name, bytes) => {
    const { root, diagnostics } = parse(bytes);
    expect(root?.text).toBe('中文');
    expect(diagnostics).toEqual([]);
  });

  it('reads GBK that declares UTF-8, or nothing, and says so', () => {
    for (const head of ['', '<?xml version="1.0" encoding="UTF-8"?>']) {
      const { root, diagnostics } = parse(around(head, chinese));
      expect(root?.text).toBe('中文');
      expect(diagnostics).toMatchObject([{ code: 'xml_encoding' }]);
    }
  });

  it('keeps UTF-8 with a spoilt byte UTF-8', () => {
    const { root, diagnostics } = parse(around('', Buffer.concat([Buffer.from('中文字'), Buffer.from([0xff])])));
    expect(root?.text).toBe('中文字\ufffd');
    expect(diagnostics).toMatchObject([{ code: 'xml_encoding' }]);
  });

  it('reads long UTF-8 that declares GBK as UTF-8', () => {
    const text = '没有改声明的转码文件';
    expect(parse(around('<?xml version="1.0" encoding="GBK"?>', Buffer.from(text))).root?.text).toBe(text);
  });
});

describe('values', () => {
  const root = (attribute: string): XmlElement => parse(`<A v="${attribute}"/>`).root!;

  it.each<[string, number | undefined]>([
    ['.5', 0.5],
    ['5.', 5],
    ['1e-3', 0.001],
    ['+3', 3],
    [' -2 ', -2],
    ['', undefined],
    ['x', undefined],
    ['NaN', undefined],
    ['0x10', undefined],
    ['Infinity', undefined],
    ['1e999', undefined],
    ['1 2', undefined],
  ])('reads %j as a number', (text, expected) => {
    expect(root(text).number('v')).toBe(expected);
  });

  it('reads whole numbers, booleans and IDs', () => {
    expect(root('255.0').integer('v')).toBe(255);
    expect(root('-90').integer('v')).toBe(-90);
    for (const yes of ['true', 'True', 'TRUE', '1', 'yes', ' true ']) expect(root(yes).boolean('v')).toBe(true);
    for (const no of ['false', 'False', '0', 'no']) expect(root(no).boolean('v')).toBe(false);
    expect(root('maybe').boolean('v')).toBeUndefined();
    expect(root(' 12 ').id('v')).toBe('12');
    expect(root('  ').id('v')).toBeUndefined();
    expect(root('1').id('w')).toBeUndefined();
  });

  it.each<[string, number[] | undefined]>([
    ['1 2\n3\t4', [1, 2, 3, 4]],
    [' 1,2 , 3 ', [1, 2, 3]],
    ['1 NaN 3', [1, 0, 3]],
    ['null', undefined],
    ['', undefined],
  ])('reads %j as an array', (text, expected) => {
    expect(parseNumbers(text)).toEqual(expected);
    expect(root(text.replace('\n', '&#10;')).array('v')).toEqual(expected);
  });

  it('reads boxes, positions and matrices', () => {
    expect(root('1 2 3 4').box('v')).toEqual({ x: 1, y: 2, width: 3, height: 4 });
    expect(root('90 58 -3 5').box('v')).toEqual({ x: 90, y: 58, width: -3, height: 5 });
    expect(root('1 2 3').box('v')).toEqual({ x: 1, y: 2, width: 3, height: 0 });
    expect(root('1e1,2,3,4').box('v')).toEqual({ x: 10, y: 2, width: 3, height: 4 });
    expect(root('1').box('v')).toBeUndefined();
    expect(root('1 2').position('v')).toEqual({ x: 1, y: 2 });
    expect(root('1').position('v')).toBeUndefined();
    expect(root('1 0 0 1 5 6').matrix('v')).toEqual([1, 0, 0, 1, 5, 6]);
    expect(root('1 0 0 1 5').matrix('v')).toBeUndefined();
    expect(root('1').box('w')).toBeUndefined();
  });
});

describe('limits', () => {
  it.each<[string, string, Partial<OfdLimits>]>([
    ['depth', '<a>'.repeat(300), {}],
    ['depth in malformed markup', `<a>&${'<a>'.repeat(300)}`, {}],
    ['elements', `<a>${'<b/>'.repeat(20)}</a>`, { maxXmlElements: 10 }],
    ['attributes', `<a ${Array.from({ length: 20 }, (_, i) => `a${i}=""`).join(' ')}/>`, { maxXmlAttributes: 10 }],
    ['bytes', `<a>${'x'.repeat(1000)}</a>`, { maxXmlBytes: 100 }],
  ])('refuses more than the limit of %s', (_name, source, limits) => {
    const { root, diagnostics } = parse(source, limits);
    expect(root).toBeUndefined();
    expect(diagnostics).toMatchObject([{ code: 'xml_too_large', part: 'part.xml' }]);
  });

  it.each<[string, string]>([
    ['less-than signs', '<'.repeat(500_000)],
    ['unclosed comments', `<r>${'<!--'.repeat(200_000)}`],
    ['unclosed character data', `<r>${'<![CDATA['.repeat(100_000)}`],
    ['ampersands', `<r>${'&'.repeat(500_000)}`],
    ['document types', '<!DOCTYPE ['.repeat(100_000)],
    ['unclosed end tags', `<r>${'</'.repeat(300_000)}>`],
    ['stray end tags', `<r>${'</x>'.repeat(200_000)}`],
    ['unclosed quotes', `<r>${'<b x="></b>'.repeat(100_000)}`],
    ['quotes of both kinds', `<r>${`<b x='></b><b y="></b>`.repeat(50_000)}`],
    ['attributes', `<r ${'a '.repeat(500_000)}`],
    ['entity bombs', `<!DOCTYPE r [${'<!ENTITY a "&b;&b;">'.repeat(10_000)}]><r>${'&a;'.repeat(100_000)}</r>`],
  ])('reads any number of %s in good time', (_name, source) => {
    const took = processorClock();
    parse(source);
    expect(took()).toBeLessThan(3000);
  });
});
