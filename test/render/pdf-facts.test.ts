// What a PDF says beside its pages, as other programs read it.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Attachment, DocumentFacts, OutlineEntry } from '../../src/display/facts.js';
import type { LinkTarget, PageView } from '../../src/display/link.js';
import type { DisplayList } from '../../src/display/list.js';
import { FontBook } from '../../src/fonts/index.js';
import { openOfd } from '../../src/ofd/index.js';
import { DEFAULT_LIMITS } from '../../src/ofd/limits.js';
import { languageOf } from '../../src/render/language.js';
import { srgbProfile } from '../../src/render/pdf/color-profile.js';
import { buildOfd } from '../support/ofd-builder.js';
import { block, faultsOf, group, makePdf, page, pdfObjects, RED, toolOutput, unpacked } from './pdf-support.js';

type Entries = Record<string, unknown>;

const to = (pageNumber: number, view: PageView = { kind: 'fit' }): LinkTarget => ({ kind: 'page', pageNumber, view });

function linked(pageNumber: number, ...targets: LinkTarget[]): DisplayList {
  const links = targets.map((target, i) => ({ box: { x: 10, y: 20 + 10 * i, width: 30, height: 5 }, target }));
  return { ...page([], pageNumber, 100, 100 + pageNumber), links };
}

function attachment(name: string, content: string | undefined, more: Partial<Attachment> = {}): Attachment {
  return { name, isVisible: true, bytes: () => (content === undefined ? undefined : Buffer.from(content)), ...more };
}

/** Objects of a type by their references, and the catalog. */
function read(bytes: Uint8Array) {
  const objects = pdfObjects(bytes);
  const ofType = (key: string, value: string): Entries[] =>
    [...objects.values()].filter((object): object is Entries => (object as Entries | null)?.[key] === value);
  const resolve = (value: unknown): unknown => (typeof value === 'string' ? (objects.get(value) ?? value) : value);
  return { catalog: ofType('/Type', '/Catalog')[0]!, ofType, resolve };
}

/** Annotations of every page, in order. */
function annotations(bytes: Uint8Array): Entries[][] {
  const { ofType, resolve } = read(bytes);
  return ofType('/Type', '/Page').map((one) =>
    ((resolve(one['/Annots']) ?? []) as unknown[]).map((reference) => resolve(reference) as Entries),
  );
}

describe('links', () => {
  it('to addresses stand where they are on the page', async () => {
    const { bytes } = await makePdf([linked(1, { kind: 'uri', uri: 'http://a.b/(c)\\d' })]);
    expect(faultsOf(bytes)).toBe('');
    const [[link]] = annotations(bytes) as [[Entries]];
    expect(link).toMatchObject({ '/Subtype': '/Link', '/F': 4, '/Border': [0, 0, 0] });
    // 101 mm high: the box ends 25 mm from the top.
    expect(link['/Rect']).toEqual([28.35, 215.43, 113.39, 229.61]);
    expect(toolOutput('pdfinfo', ['-url'], bytes)).toContain('http://a.b/(c)\\d');
  });

  it('to pages before, here and later count from the foot of those pages', async () => {
    const xyz: PageView = { kind: 'xyz', left: 10, top: 20, zoom: 2 };
    const { bytes } = await makePdf([linked(1, to(1, xyz), to(3, xyz)), linked(2), linked(3, to(1, xyz), to(9))]);
    expect(faultsOf(bytes)).toBe('');
    const destinations = annotations(bytes).map((links) => links.map((link) => link['/Dest'] as unknown[]));
    expect(destinations.map((of) => of.map((destination) => destination.slice(1)))).toEqual([
      [
        ['/XYZ', 28.35, 229.61, 2],
        ['/XYZ', 28.35, 235.28, 2],
      ],
      [],
      [['/XYZ', 28.35, 229.61, 2]],
    ]);
    const [first, third] = [destinations[0]![0]![0], destinations[0]![1]![0]];
    expect(first).not.toBe(third);
    expect(destinations[2]![0]![0]).toBe(first);
  });

  it.each<[PageView, unknown[]]>([
    [{ kind: 'xyz' }, ['/XYZ', null, null, null]],
    [{ kind: 'fit' }, ['/Fit']],
    [{ kind: 'fitH', top: 1 }, ['/FitH', 283.46]],
    [{ kind: 'fitV' }, ['/FitV', null]],
    [{ kind: 'fitR', left: 0, top: 1, right: 100, bottom: 101 }, ['/FitR', 0, 0, 283.46, 283.46]],
  ])('show %j', async (view, wanted) => {
    const { bytes } = await makePdf([linked(1, to(1, view))]);
    expect((annotations(bytes)[0]![0]!['/Dest'] as unknown[]).slice(1)).toEqual(wanted);
  });

  it('to attachments carry the file', async () => {
    const attachments = [attachment('甲.txt', 'inside'), attachment('gone.txt', undefined)];
    const targets = ['甲.txt', 'gone.txt', 'other'].map((name): LinkTarget => ({ kind: 'attachment', name }));
    const { bytes } = await makePdf([linked(1, ...targets)], {}, { attachments });
    expect(faultsOf(bytes)).toBe('');
    expect(annotations(bytes)[0]).toMatchObject([{ '/Subtype': '/FileAttachment', '/Contents': 'u:甲.txt' }]);
    expect(toolOutput('pdfdetach', ['-list'], bytes)).toContain('甲.txt');
  });
});

describe('the outline', () => {
  const entry = (title: string, more: Partial<OutlineEntry> = {}): OutlineEntry => ({
    title,
    isExpanded: true,
    children: [],
    ...more,
  });

  it('is a tree that readers can walk, without what leads out of the file', async () => {
    const outline = [
      entry('一 (x)', { target: to(1), children: [entry('1.1', { target: to(2) }), entry('1.2')] }),
      entry('closed', { isExpanded: false, children: [entry('in', { target: { kind: 'uri', uri: 'http://a' } })] }),
      entry('gone', { target: to(9), children: [entry('gone too', { target: to(8) })] }),
    ];
    const { bytes } = await makePdf([page([]), page([], 2)], {}, { outline });
    expect(faultsOf(bytes)).toBe('');
    const { catalog, resolve } = read(bytes);
    const walk = (parent: unknown): unknown[] => {
      const titles: unknown[] = [];
      for (let item = resolve((parent as Entries)['/First']) as Entries | undefined; item; ) {
        expect(resolve(item['/Parent'])).toBe(parent);
        titles.push([item['/Title'], item['/Count'], ...('/First' in item ? walk(item) : [])]);
        item = item['/Next'] === undefined ? undefined : (resolve(item['/Next']) as Entries);
      }
      return titles;
    };
    const root = resolve(catalog['/Outlines']) as Entries;
    expect(root['/Count']).toBe(4);
    expect(walk(root)).toEqual([
      ['u:一 (x)', 2, ['u:1.1', undefined], ['u:1.2', undefined]],
      ['u:closed', -1, ['u:in', undefined]],
    ]);
  });

  it('is not there where there is nothing to show', async () => {
    const { bytes } = await makePdf([page([])], {}, { outline: [entry('gone', { target: to(9) })] });
    expect(read(bytes).catalog).not.toHaveProperty('/Outlines');
  });
});

describe('names', () => {
  it('are destinations in the order that readers search', async () => {
    const names = ['乙', 'b', 'é', 'a(', '甲', 'gone'];
    const destinations = names.map((name) => ({ name, target: to(name === 'gone' ? 9 : 1) as never }));
    const { bytes } = await makePdf([page([])], {}, { destinations });
    expect(faultsOf(bytes)).toBe('');
    const found = [...toolOutput('pdfinfo', ['-dests'], bytes).matchAll(/"(.+)"/g)].map((match) => match[1]);
    expect(found).toEqual(['a(', 'b', 'é', '乙', '甲']);
  });

  it('of pages are those of the source where only some are shown', async () => {
    const labels = async (...numbers: number[]): Promise<unknown> =>
      read((await makePdf(numbers.map((number) => page([], number)))).bytes).catalog['/PageLabels'];
    expect(await labels(1, 2, 3)).toBeUndefined();
    expect(await labels(3, 4, 7)).toEqual({ '/Nums': [0, { '/S': '/D', '/St': 3 }, 2, { '/S': '/D', '/St': 7 }] });
    expect(await labels(1, 3)).toMatchObject({ '/Nums': [0, {}, 1, { '/St': 3 }] });
  });
});

describe('attached files', () => {
  it('are there whole, with their names, dates, types and sums', async () => {
    const attachments = [
      attachment('发票.xml', '<a>甲</a>', { creationDate: '2020-08-17 19:13:09', isVisible: false }),
      attachment('b (1).jpg', 'x'.repeat(1000), { modificationDate: '2021-01-02' }),
      attachment('gone.txt', undefined),
    ];
    const { bytes } = await makePdf([page([])], { creationDate: '2019-01-01' }, { attachments });
    expect(faultsOf(bytes)).toBe('');
    const folder = mkdtempSync(join(tmpdir(), 'ofd-server-pdf-'));
    try {
      writeFileSync(join(folder, 'a.pdf'), bytes);
      execFileSync('pdfdetach', ['-saveall', '-o', folder, join(folder, 'a.pdf')]);
      expect(readFileSync(join(folder, '发票.xml'), 'utf8')).toBe('<a>甲</a>');
      expect(readFileSync(join(folder, 'b (1).jpg'), 'utf8')).toBe('x'.repeat(1000));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
    const { catalog, ofType, resolve } = read(bytes);
    expect(ofType('/Type', '/EmbeddedFile')).toMatchObject([
      {
        '/Subtype': '/text/xml',
        '/Params': {
          '/Size': 10,
          '/CheckSum': expect.stringMatching(/^b:[0-9a-f]{32}$/),
          '/CreationDate': "u:D:20200817191309+08'00",
          '/ModDate': "u:D:20200817191309+08'00",
        },
      },
      { '/Subtype': '/image/jpeg', '/Params': { '/Size': 1000, '/ModDate': 'u:D:20210102' } },
    ]);
    expect((catalog['/AF'] as unknown[]).map(resolve)).toMatchObject([
      { '/F': 'u:__.xml', '/UF': 'u:发票.xml', '/AFRelationship': '/Data' },
      { '/F': 'u:b (1).jpg', '/UF': 'u:b (1).jpg', '/AFRelationship': '/Unspecified' },
    ]);
  });

  it('that are one file are written once', async () => {
    const one = attachment('a.txt', 'x'.repeat(5000));
    const { bytes } = await makePdf([page([])], {}, { attachments: [one, { ...one, name: 'b.txt' }] });
    expect(faultsOf(bytes)).toBe('');
    expect(toolOutput('pdfdetach', ['-list'], bytes)).toMatch(/a\.txt[\s\S]+b\.txt/);
    expect(read(bytes).ofType('/Type', '/EmbeddedFile')).toHaveLength(1);
  });
});

describe('the catalog', () => {
  it('says how to show the file', async () => {
    const facts: Partial<DocumentFacts> = {
      preferences: {
        pageMode: 'bookmarks',
        pageLayout: 'twoPageRight',
        showsTitle: true,
        hidesToolbar: true,
        hidesMenubar: true,
        hidesWindow: true,
      },
      opening: to(1, { kind: 'fitH' }) as never,
    };
    const { bytes } = await makePdf([page([])], {}, facts);
    expect(faultsOf(bytes)).toBe('');
    expect(read(bytes).catalog).toMatchObject({
      '/PageMode': '/UseOutlines',
      '/PageLayout': '/TwoPageRight',
      '/ViewerPreferences': {
        '/DisplayDocTitle': true,
        '/HideToolbar': true,
        '/HideMenubar': true,
        '/HideWindowUI': true,
      },
      '/OpenAction': [expect.stringMatching(/ R$/), '/FitH', null],
    });
  });

  it('says nothing of what the document does not say', async () => {
    const { bytes } = await makePdf([page([])]);
    expect(Object.keys(read(bytes).catalog).sort()).toEqual(['/Metadata', '/OutputIntents', '/Pages', '/Type']);
  });

  it.each([
    [['甲', '乙', 'a', '1', '。'], 'zh'],
    [['甲', 'a', 'b'], undefined],
    [['甲', '乙', 'の'], undefined],
    [['1', '.'], undefined],
  ])('takes %j for %s', (characters, language) => {
    expect(languageOf(characters)).toBe(language);
  });
});

describe('the metadata', () => {
  const metadata = (bytes: Uint8Array): string => toolOutput('pdfinfo', ['-meta'], bytes);

  it('say the same as the information dictionary', async () => {
    const { bytes } = await makePdf([page([])], {
      id: 'ab12',
      title: '发票 <①> & "x"\u0001\ud800',
      author: 'A',
      subject: 'S',
      abstract: 'long',
      keywords: ['甲', 'b'],
      creator: 'C',
      creatorVersion: '2',
      creationDate: '2020-01-25 15:31:56',
      modificationDate: '2021年2月3日',
      usage: 'EBook',
      customData: [{ name: '发票号码', value: '71' }],
    });
    expect(faultsOf(bytes)).toBe('');
    const packet = metadata(bytes);
    for (const part of [
      '<rdf:li xml:lang="x-default">发票 &lt;①> &amp; &quot;x&quot;</rdf:li>',
      '<dc:creator><rdf:Seq><rdf:li>A</rdf:li></rdf:Seq></dc:creator>',
      '<rdf:li xml:lang="x-default">S</rdf:li>',
      '<dc:subject><rdf:Bag><rdf:li>甲</rdf:li><rdf:li>b</rdf:li></rdf:Bag></dc:subject>',
      '<dc:identifier>ab12</dc:identifier>',
      'pdf:Keywords="甲, b"',
      'pdf:Producer="ofd-server"',
      'xmp:CreatorTool="C 2"',
      'xmp:CreateDate="2020-01-25T15:31:56+08:00"',
      'xmp:ModifyDate="2021-02-03"',
      'pdfaid:part="2" pdfaid:conformance="B"',
      '<ofd:Abstract>long</ofd:Abstract>',
      '<ofd:DocUsage>EBook</ofd:DocUsage>',
      '<ofd:CustomDatas><rdf:Seq><rdf:li>发票号码=71</rdf:li></rdf:Seq></ofd:CustomDatas>',
    ]) {
      expect(packet).toContain(part);
    }
    const info = toolOutput('pdfinfo', ['-rawdates'], bytes);
    expect(info).toMatch(/^Creator: +C 2$/m);
    expect(info).toMatch(/^CreationDate: +D:20200125153156\+08'00$/m);
    expect(info).toMatch(/^ModDate: +D:20210203$/m);
  });

  it('are short where there is little to say, and found without knowing PDF', async () => {
    const { bytes } = await makePdf([page([])]);
    const packet = /<\?xpacket begin[\s\S]+<\?xpacket end="r"\?>/.exec(bytes.toString('latin1'))?.[0] ?? '';
    expect(packet.length).toBeGreaterThan(0);
    expect(packet.length).toBeLessThan(600);
  });

  it('note what the document allows', async () => {
    const permissions = { edit: false, print: true, copies: 3, validUntil: '2030-01-01' };
    const { bytes } = await makePdf([page([])], {}, { permissions });
    expect(metadata(bytes)).toContain('Edit=false; Print=true; Copies=3; EndDate=2030-01-01');
  });

  it('cut texts that are longer than strings may be', async () => {
    const { bytes } = await makePdf([page([])], {
      title: '甲'.repeat(20_000),
      author: `${'a'.repeat(16_381)}\u{20000}`,
    });
    expect(faultsOf(bytes)).toBe('');
    expect(metadata(bytes)).toContain(`>${'甲'.repeat(16_382)}<`);
    expect(metadata(bytes)).toContain(`>${'a'.repeat(16_381)}<`);
  });
});

describe('PDF/A', () => {
  it('is named with the colours it means, and with its third part where files are attached', async () => {
    const plain = await makePdf([page([])]);
    const { catalog, resolve } = read(plain.bytes);
    const [intent] = catalog['/OutputIntents'] as [Entries];
    expect(intent).toMatchObject({ '/S': '/GTS_PDFA1', '/OutputConditionIdentifier': 'u:sRGB IEC61966-2.1' });
    expect(resolve(intent['/DestOutputProfile'])).toMatchObject({ '/N': 3 });
    const { bytes } = await makePdf([page([])], {}, { attachments: [attachment('a.txt', 'x')] });
    expect(toolOutput('pdfinfo', ['-meta'], bytes)).toContain('pdfaid:part="3"');
    expect(plain.diagnostics).toEqual([]);
  });

  it.each([
    ['a page that is too large', page([], 1, 6000, 100), 'pdfa_not_reached'],
    ['a page that is too small', page([], 1, 100, 1), 'pdfa_not_reached'],
    ['groups in groups', page([nested(29)]), 'pdfa_not_reached'],
    ['fewer groups in groups', page([nested(28)]), undefined],
  ])('is not said of %s', async (_what, list, code) => {
    const { bytes, diagnostics } = await makePdf([list, { ...list, pageNumber: 2 }]);
    expect(diagnostics.map((diagnostic) => diagnostic.code)).toEqual(code === undefined ? [] : [code]);
    expect(toolOutput('pdfinfo', ['-meta'], bytes).includes('pdfaid')).toBe(code === undefined);
    expect('/OutputIntents' in read(bytes).catalog).toBe(code === undefined);
  });

  it('has a small profile with the tags of its version', () => {
    const profile = srgbProfile();
    expect(profile.length).toBe(profile.readUInt32BE());
    expect(profile.length).toBeLessThan(600);
    const tags = Array.from({ length: profile.readUInt32BE(128) }, (_, i) => {
      const at = 132 + 12 * i;
      const [offset, length] = [profile.readUInt32BE(at + 4), profile.readUInt32BE(at + 8)];
      expect(offset % 4).toBe(0);
      expect(offset + length).toBeLessThanOrEqual(profile.length);
      return profile.toString('latin1', at, at + 4);
    });
    expect(tags).toEqual(['desc', 'cprt', 'wtpt', 'chad', 'rXYZ', 'gXYZ', 'bXYZ', 'rTRC', 'gTRC', 'bTRC']);
  });
});

/** A block in groups that move it, one in the other. */
function nested(depth: number) {
  let item = group([block(0, 0, 5, 5, RED)], { matrix: [1, 0, 0, 1, 1, 0] });
  for (let i = 1; i < depth; i++) item = group([item], { matrix: [1, 0, 0, 1, 1, 0] });
  return item;
}

describe('a package', () => {
  it('becomes the same bytes each time, with all that it says', async () => {
    const click = '<Actions><Action Event="CLICK"><Goto><Bookmark Name="尾"/></Goto></Action></Actions>';
    const package_ = buildOfd({
      pages: [`<ofd:PathObject ID="5" Boundary="10 20 30 5" Visible="false">${click}</ofd:PathObject>`, ''],
      docInfo: '<ofd:Title>标题</ofd:Title><ofd:CreationDate>2020-01-02</ofd:CreationDate>',
      document:
        '<ofd:Bookmarks><Bookmark Name="尾"><Dest Type="XYZ" PageID="1002" Left="0" Top="97"/></Bookmark></ofd:Bookmarks>' +
        '<ofd:Attachments>A.xml</ofd:Attachments>',
      files: {
        'Doc_0/A.xml': '<Attachments><Attachment Name="数据"><FileLoc>d.xml</FileLoc></Attachment></Attachments>',
        'Doc_0/d.xml': '<d/>',
      },
    });
    const make = async () => {
      const fonts = new FontBook({ faces: [] }, () => {
        throw new Error('nothing is written');
      });
      const document = await openOfd(package_, { limits: DEFAULT_LIMITS, fonts, report: () => {} });
      const [facts] = document.documents;
      return (await makePdf([document.page(0), document.page(1)], facts!.info, facts)).bytes;
    };
    const bytes = await make();
    expect(bytes.equals(await make())).toBe(true);
    expect(faultsOf(bytes)).toBe('');
    expect(annotations(bytes)[0]![0]!['/Dest']).toEqual([expect.any(String), '/XYZ', 0, 566.93, null]);
    expect(toolOutput('pdfinfo', ['-dests'], bytes)).toContain('"尾"');
    expect(toolOutput('pdfinfo', [], bytes)).toMatch(/^Title: +标题$/m);
    expect(toolOutput('pdfdetach', ['-list'], bytes)).toContain('数据.xml');
    expect(unpacked(bytes)).toContain('/Outlines');
  });
});
