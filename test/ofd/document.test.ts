import { describe, expect, it } from 'vitest';
import { OfdError } from '../../src/ofd/error.js';
import type { OfdSpec } from '../support/ofd-builder.js';
import { build, extent, FONTS, groups, images, MEDIA, open, paths, pathXml, png, runs } from './build/support.js';

const TEXT = '<ofd:TextObject ID="9" Font="1" Size="4"><ofd:TextCode>a</ofd:TextCode></ofd:TextObject>';

/** A line whose width tells where it came from. */
function mark(width: number): string {
  return pathXml('M 0 5 L 40 5', `LineWidth="${width}"`);
}

function pageXml(content: string, more = ''): string {
  return `<ofd:Page>${more}<ofd:Content>${content}</ofd:Content></ofd:Page>`;
}

function layer(width: number, type?: string): string {
  return `<ofd:Layer ID="2" ${type === undefined ? '' : `Type="${type}"`}>${mark(width)}</ofd:Layer>`;
}

async function widths(spec: OfdSpec): Promise<(number | undefined)[]> {
  const { items } = (await open(spec)).document.page(0);
  const flat = items.flatMap((item) => (item.kind === 'group' ? item.items : [item]));
  return paths(flat).map((item) => item.stroke?.widthMm);
}

describe('documents', () => {
  it('say what they are', async () => {
    const docInfo =
      '<ofd:DocID>0</ofd:DocID><ofd:Title> 标题 </ofd:Title><ofd:Author>A</ofd:Author><ofd:Subject/>' +
      '<ofd:CreationDate>2020-01-02</ofd:CreationDate><ofd:ModDate>2020年08月05日</ofd:ModDate>' +
      '<ofd:Keywords><ofd:Keyword>x</ofd:Keyword><ofd:Keyword>y</ofd:Keyword></ofd:Keywords><ofd:Creator>C</ofd:Creator>';
    expect((await open({ pages: [''], docInfo })).document.documents[0]!.info).toEqual({
      id: '0',
      title: '标题',
      author: 'A',
      creator: 'C',
      creationDate: '2020-01-02',
      modificationDate: '2020年08月05日',
      keywords: ['x', 'y'],
    });
  });

  it('of one package follow each other, each with its own ids', async () => {
    const first = { pages: [TEXT, ''], publicRes: FONTS };
    const second = {
      'Doc_1/Document.xml':
        '<Document><CommonData><PageArea><PhysicalBox>0 0 50 60</PhysicalBox></PageArea><PublicRes>R.xml</PublicRes></CommonData>' +
        '<Pages><Page ID="1001" BaseLoc="P.xml"/></Pages></Document>',
      'Doc_1/R.xml': '<Res BaseLoc=""><Fonts><Font ID="1" FontName="Other"/></Fonts></Res>',
      'Doc_1/P.xml': `<Page><Content><Layer ID="2">${TEXT.replaceAll('ofd:', '')}</Layer></Content></Page>`,
    };
    const docBody = '</ofd:DocBody><ofd:DocBody><ofd:DocRoot>Doc_1/Document.xml</ofd:DocRoot>';
    const { document, fonts } = await open({ ...first, docBody, files: second });
    expect(document.pageCount).toBe(3);
    const pages = [0, 1, 2].map((index) => document.page(index));
    expect(pages.map((page) => [page.pageNumber, page.widthMm])).toEqual([
      [1, 210],
      [2, 210],
      [3, 50],
    ]);
    expect(runs(pages[2]!.items)).toHaveLength(1);
    expect(fonts.requests.map((request) => request.fontName)).toEqual(['SimSun', 'Other']);
  });

  it('are shown in their current version', async () => {
    const version = (current: boolean) =>
      `<ofd:Versions><ofd:Version ID="v1" Index="1" Current="${current}" BaseLoc="Doc_0/V.xml"/></ofd:Versions>`;
    const files = {
      'Doc_0/V.xml': '<DocVersion ID="v1"><DocRoot>New.xml</DocRoot></DocVersion>',
      'Doc_0/New.xml':
        '<Document><Pages><Page ID="1" BaseLoc="P.xml"/><Page ID="2" BaseLoc="P.xml"/></Pages></Document>',
      'Doc_0/P.xml': '<Page/>',
    };
    expect((await open({ pages: [''], docBody: version(true), files })).document.pageCount).toBe(2);
    expect((await open({ pages: [''], docBody: version(false), files })).document.pageCount).toBe(1);
    const broken = await open({ pages: [''], docBody: version(true), files: {} });
    expect(broken.document.pageCount).toBe(1);
    expect(broken.diagnostics.map(({ code }) => code)).toContain('part_missing');
  });

  it('that cannot be read are passed over, and are an error where none is left', async () => {
    const docBody = '</ofd:DocBody><ofd:DocBody><ofd:DocRoot>gone.xml</ofd:DocRoot>';
    const { document, diagnostics } = await open({ pages: [''], docBody });
    expect(document.pageCount).toBe(1);
    expect(diagnostics).toMatchObject([{ code: 'part_missing' }]);
    const files = { 'OFD.xml': '<OFD><DocBody><DocRoot>gone.xml</DocRoot></DocBody></OFD>' };
    await expect(open({ pages: [], files })).rejects.toThrow(OfdError);
    await expect(open({ pages: [], files: { 'OFD.xml': '<OFD/>' } })).rejects.toThrow(/DocBody/);
  });

  it('have no more pages than allowed', async () => {
    const { document, diagnostics } = await open({ pages: ['', '', ''] }, {}, { maxPages: 2 });
    expect(document.pageCount).toBe(2);
    expect(diagnostics).toMatchObject([{ code: 'pages_cut' }]);
    expect(() => document.page(2)).toThrow(RangeError);
  });
});

describe('pages', () => {
  it('whose part is missing are blank, with a warning', async () => {
    const document = '</ofd:Document>';
    const files = {
      'Doc_0/Document.xml': `<ofd:Document xmlns:ofd="http://www.ofdspec.org/2016"><ofd:Pages><ofd:Page ID="1" BaseLoc="gone.xml"/><ofd:Page ID="2" BaseLoc="Pages/Page_0/Content.xml"/></ofd:Pages>${document}`,
    };
    const opened = await open({ pages: [mark(1)], files });
    expect(opened.document.page(0).items).toEqual([]);
    expect(opened.document.page(1).items).toHaveLength(1);
    expect(opened.diagnostics[0]).toMatchObject({ code: 'page_missing', page: 1, part: 'gone.xml' });
  });

  const area = (boxes: string) => `<ofd:Area>${boxes}</ofd:Area>`;
  const box = (name: string, value: string) => `<ofd:${name}>${value}</ofd:${name}>`;

  it.each([
    ['their own area', area(box('PhysicalBox', '0 0 100 50')), [100, 50]],
    ['an origin that says nothing', area(box('PhysicalBox', '5 5 100 50')), [100, 50]],
    ['ApplicationBox without PhysicalBox', area(box('ApplicationBox', '0 0 80 40')), [80, 40]],
    ['ContentBox last', area(box('ContentBox', '0 0 70 30')), [70, 30]],
    [
      'PhysicalBox before ApplicationBox',
      area(box('ApplicationBox', '9 9 80 40') + box('PhysicalBox', '0 0 100 50')),
      [100, 50],
    ],
    ['the document', '', [120, 130]],
    ['the document where their own is none', area(box('PhysicalBox', '0 0 0 50')), [120, 130]],
    ['the document where their own is no number', area(box('PhysicalBox', 'NaN')), [120, 130]],
    ['what can be shown of an absurd one', area(box('PhysicalBox', '0 0 1e9 50')), [50_800, 50]],
  ])('have the size of %s', async (_, xml, [width, height]) => {
    const { list } = await build('', { pages: [pageXml('', xml)], physicalBox: '0 0 120 130' });
    expect([list.widthMm, list.heightMm]).toEqual([width, height]);
  });

  it('have the size of their topmost template that has one', async () => {
    const pages = [
      pageXml('', '<ofd:Template TemplateID="2001"/><ofd:Template TemplateID="2002" ZOrder="Foreground"/>'),
    ];
    const templates = [80, 90].map((size) => pageXml('', area(box('PhysicalBox', `0 0 ${size} 50`))));
    expect((await open({ pages, templates })).document.page(0).widthMm).toBe(90);
  });

  it('are A4 where nobody says anything, with a warning where it was nonsense', async () => {
    const bare = {
      'Doc_0/Document.xml': '<Document><Pages><Page ID="1" BaseLoc="Pages/Page_0/Content.xml"/></Pages></Document>',
    };
    expect((await open({ pages: [''], files: bare })).document.page(0)).toMatchObject({ widthMm: 210, heightMm: 297 });
    const nonsense = await build('', { physicalBox: '0 0 -5 0' });
    expect(nonsense.list).toMatchObject({ widthMm: 210, heightMm: 297 });
    expect(nonsense.codes).toEqual(['page_size_invalid']);
  });
});

describe('the order of painting', () => {
  it('goes class by class, templates below layers', async () => {
    const content =
      layer(6, 'Foreground') + layer(4) + layer(2, 'Background') + layer(4.5, 'Custom') + layer(2.5, 'Background');
    const used =
      '<ofd:Template TemplateID="2003" ZOrder="Foreground"/><ofd:Template TemplateID="2001"/>' +
      '<ofd:Template TemplateID="2002" ZOrder="Body"/>';
    const templates = [1, 3, 5].map((width) => pageXml(layer(width)));
    expect(await widths({ pages: [pageXml(content, used)], templates })).toEqual([1, 2, 2.5, 3, 4, 4.5, 5, 6]);
  });

  it('inside a template goes by its layers', async () => {
    const templates = [pageXml(layer(3, 'Foreground') + layer(2) + layer(1, 'Background'))];
    const pages = [pageXml(layer(9), '<ofd:Template TemplateID="2001" ZOrder="Background"/>')];
    expect(await widths({ pages, templates })).toEqual([1, 2, 3, 9]);
  });

  it('takes ZOrder of the page before that of the template page', async () => {
    const common = (order: string) => ({
      pages: [pageXml(layer(2, 'Background'), `<ofd:Template TemplateID="7" ${order}/>`)],
      commonData: '<ofd:TemplatePage ID="7" BaseLoc="T.xml" ZOrder="Foreground"/>',
      files: { 'Doc_0/T.xml': `<Page><Content>${layer(1).replaceAll('ofd:', '')}</Content></Page>` },
    });
    expect(await widths(common(''))).toEqual([2, 1]);
    expect(await widths(common('ZOrder="Background"'))).toEqual([1, 2]);
  });

  it('mixes kinds of objects as they stand', async () => {
    const image = '<ofd:ImageObject ID="4" Boundary="0 0 9 9" ResourceID="10"/>';
    const files = { 'Doc_0/Res/a.png': png(4, 4) };
    const { items } = await build(mark(1) + image + TEXT + mark(2), { publicRes: FONTS + MEDIA, files });
    expect(items.map((item) => item.kind)).toEqual(['path', 'image', 'glyphs', 'path']);
  });

  it('goes through blocks and nested layers in place', async () => {
    const pages = [`${mark(1)}<ofd:PageBlock>${mark(2)}<ofd:Layer>${mark(3)}</ofd:Layer></ofd:PageBlock>${mark(4)}`];
    expect(await widths({ pages })).toEqual([1, 2, 3, 4]);
  });

  it('takes objects that stand in no layer', async () => {
    expect(await widths({ pages: [pageXml(mark(1))] })).toEqual([1]);
  });
});

describe('templates', () => {
  it('are the same group on all pages', async () => {
    const pages = [pageXml('', '<ofd:Template TemplateID="2001"/>'), pageXml('', '<ofd:Template TemplateID="2001"/>')];
    const { document } = await open({ pages, templates: [pageXml(layer(1))] });
    const [first] = groups(document.page(0).items);
    expect(first!.isShared).toBe(true);
    expect(groups(document.page(1).items)[0]).toBe(first);
  });

  it('that are missing are a warning, once', async () => {
    const pages = [0, 1].map(() => pageXml(layer(1), '<ofd:Template TemplateID="77"/>'));
    const { document, diagnostics } = await open({ pages });
    expect([0, 1].map((index) => document.page(index).items.length)).toEqual([1, 1]);
    expect(diagnostics.filter(({ code }) => code === 'reference_missing')).toHaveLength(1);
  });

  it('ignore templates of their own, and have resources of their own', async () => {
    const template = pageXml(
      '<ofd:Layer ID="2"><ofd:ImageObject ID="4" Boundary="1 2 9 9" ResourceID="10"/></ofd:Layer>',
      '<ofd:Template TemplateID="2001"/><ofd:PageRes>Res.xml</ofd:PageRes>',
    );
    const { document } = await open({
      pages: [pageXml('', '<ofd:Template TemplateID="2001"/>')],
      templates: [template],
      files: {
        'Doc_0/Tpls/Tpl_0/Res.xml': `<Res BaseLoc="R">${MEDIA.replaceAll('ofd:', '')}</Res>`,
        'Doc_0/Tpls/Tpl_0/R/a.png': png(4, 4),
      },
    });
    expect(images(groups(document.page(0).items)[0]!.items)).toHaveLength(1);
  });
});

describe('resources', () => {
  const image = (id: number) => `<ofd:ImageObject ID="4" Boundary="0 0 9 9" ResourceID="${id}"/>`;
  const media = (id: number, file: string) =>
    `<ofd:MultiMedias><ofd:MultiMedia ID="${id}" Type="Image"><ofd:MediaFile>${file}</ofd:MediaFile></ofd:MultiMedia></ofd:MultiMedias>`;

  it('of the page win over those of the document, DocumentRes over PublicRes, later over earlier', async () => {
    const { items } = await build('', {
      pages: [
        pageXml(`<ofd:Layer ID="2">${[1, 2, 3].map(image).join('')}</ofd:Layer>`, '<ofd:PageRes>Res.xml</ofd:PageRes>'),
      ],
      publicRes: media(1, 'p.png') + media(2, 'p.png') + media(3, 'p.png') + media(3, 'q.png'),
      documentRes: media(1, 'd.png') + media(2, 'd.png'),
      files: {
        'Doc_0/Pages/Page_0/Res.xml': `<Res BaseLoc="/Doc_0/Res">${media(1, 'own.png').replaceAll('ofd:', '')}</Res>`,
        ...Object.fromEntries(['p', 'q', 'd', 'own'].map((name) => [`Doc_0/Res/${name}.png`, png(4, 4)])),
      },
    });
    expect(images(items).map((item) => item.image.part)).toEqual(
      ['own', 'd', 'q'].map((name) => `Doc_0/Res/${name}.png`),
    );
  });

  it('are read from all files that are named, and found in odd groups', async () => {
    const { items } = await build(image(7), {
      publicRes: FONTS,
      commonData: '<ofd:PublicRes>More.xml</ofd:PublicRes>',
      files: {
        'Doc_0/More.xml': `<Res BaseLoc="Res"><Fonts>${media(7, 'a.png').replaceAll('ofd:', '')}</Fonts></Res>`,
        'Doc_0/Res/a.png': png(4, 4),
      },
    });
    expect(images(items)).toHaveLength(1);
  });
});

describe('limits', () => {
  it('end a page that has too many objects, with a warning', async () => {
    const page = await build(mark(1).repeat(50), {}, {}, { maxObjectsPerPage: 10 });
    expect(page.items).toHaveLength(10);
    expect(page.codes.filter((code) => code === 'objects_cut')).toHaveLength(1);
  });

  it('keep what lies far off out of the list', async () => {
    const { items } = await build(pathXml('M 0 0 L 9 9', 'CTM="1e12 0 0 1e12 0 0"') + mark(1));
    expect(items).toHaveLength(1);
    expect(extent(paths(items)[0]!.path)).toEqual([0, 5, 40, 5]);
  });
});
