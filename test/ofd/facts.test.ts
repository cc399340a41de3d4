// What a document says beside its pages.
import { describe, expect, it } from 'vitest';
import { mergeFacts } from '../../src/display/facts.js';
import type { PageView } from '../../src/display/link.js';
import type { OfdSpec } from '../support/ofd-builder.js';
import { open } from './build/support.js';

async function factsOf(spec: Partial<OfdSpec>) {
  const { document, diagnostics } = await open({ pages: ['', '', ''], ...spec });
  const [facts] = document.documents;
  return { facts: facts!, codes: diagnostics.map(({ code }) => code), diagnostics };
}

const goto = (dest: string): string => `<Actions><Action Event="CLICK"><Goto>${dest}</Goto></Action></Actions>`;
const entry = (title: string, inner = '', more = ''): string =>
  `<OutlineElem Title="${title}" ${more}>${inner}</OutlineElem>`;

describe('DocInfo', () => {
  it('is kept field by field', async () => {
    const docInfo =
      '<DocID>ab</DocID><Title>T</Title><Subject>S</Subject><Abstract>long</Abstract><Creator>C</Creator>' +
      '<CreatorVersion>1.2</CreatorVersion><DocUsage>EBook</DocUsage><CustomDatas><CustomData Name="发票号码">71 </CustomData>' +
      '<CustomData Name="空"/><CustomData>without name</CustomData><CustomData Name="合计">***</CustomData></CustomDatas>';
    const { facts } = await factsOf({ docInfo });
    expect(facts.info).toEqual({
      id: 'ab',
      title: 'T',
      subject: 'S',
      abstract: 'long',
      creator: 'C',
      creatorVersion: '1.2',
      usage: 'EBook',
      customData: [
        { name: '发票号码', value: '71' },
        { name: '合计', value: '***' },
      ],
    });
  });
});

describe('characters that text cannot have', () => {
  // A control character, two marks of direction, a mark that stands for no character.
  const odd = '&#1;\u200f\u202e\ufffe';

  it('are in none of the facts', async () => {
    const target = '<Dest Type="Fit" PageID="1002"/>';
    const { facts } = await factsOf({
      docInfo:
        `<Title>甲${odd}乙</Title><Abstract>一${odd}\n二</Abstract><Keywords><Keyword>关${odd}键</Keyword></Keywords>` +
        `<CustomDatas><CustomData Name="名${odd}">值${odd}</CustomData></CustomDatas>`,
      document:
        `<ofd:Bookmarks><Bookmark Name="书${odd}签">${target}</Bookmark></ofd:Bookmarks>` +
        `<ofd:Outlines>${entry(`章${odd}一`, `<Actions><Action><Goto><Bookmark Name="书签"/></Goto></Action></Actions>`)}</ofd:Outlines>` +
        '<ofd:Attachments>A.xml</ofd:Attachments><ofd:CustomTags>T.xml</ofd:CustomTags>',
      files: {
        'Doc_0/A.xml': `<Attachments><Attachment ID="1" Name="文${odd}件" Usage="用${odd}"><FileLoc>d.xml</FileLoc></Attachment></Attachments>`,
        'Doc_0/T.xml': `<CustomTags><CustomTag TypeID="类${odd}"><FileLoc>t.xml</FileLoc></CustomTag></CustomTags>`,
        'Doc_0/t.xml': `<tag note="注${odd}">文${odd}</tag>`,
        'Doc_0/d.xml': '<d/>',
      },
    });
    expect(facts.info).toEqual({
      title: '甲乙',
      abstract: '一\n二',
      keywords: ['关键'],
      customData: [{ name: '名', value: '值' }],
    });
    expect(facts.outline).toMatchObject([{ title: '章一', target: { kind: 'page', pageNumber: 2 } }]);
    expect(facts.destinations.map(({ name }) => name)).toEqual(['书签']);
    expect(facts.attachments).toMatchObject([{ name: '文_件.xml', usage: '用' }]);
    expect(facts.customTags()).toMatchObject([{ type: '类', text: '文', attributes: [{ name: 'note', value: '注' }] }]);
  });
});

describe('the outline', () => {
  it('is a tree with targets', async () => {
    const outlines =
      entry(' 一\n章 ', goto('<Dest Type="Fit" PageID="1002"/>') + entry('1.1', '', 'Expanded="false"')) +
      entry('web', '<Actions><Action Event="DO"><URI URI="http://a.b/"/></Action></Actions>');
    const { facts } = await factsOf({ document: `<ofd:Outlines>${outlines}</ofd:Outlines>` });
    expect(facts.outline).toEqual([
      {
        title: '一 章',
        isExpanded: true,
        target: { kind: 'page', pageNumber: 2, view: { kind: 'fit' } },
        children: [{ title: '1.1', isExpanded: false, children: [] }],
      },
      { title: 'web', isExpanded: true, target: { kind: 'uri', uri: 'http://a.b/' }, children: [] },
    ]);
  });

  it('is that of the bookmarks where there is no other', async () => {
    const bookmark = '<Bookmark Name="甲"><Dest Type="XYZ" PageID="1003" Top="5"/></Bookmark>';
    const target = { kind: 'page', pageNumber: 3, view: { kind: 'xyz', top: 5 } };
    const document = `<ofd:Bookmarks>${bookmark}<Bookmark Name="乙"><Dest PageID="77"/></Bookmark>${bookmark}</ofd:Bookmarks>`;
    const { facts, codes } = await factsOf({ document });
    expect(facts.destinations).toEqual([{ name: '甲', target }]);
    expect(facts.outline).toEqual([{ title: '甲', target, isExpanded: true, children: [] }]);
    expect(codes).toEqual(['reference_missing']);
    const outlines = `<ofd:Outlines>${entry('x', goto('<Bookmark Name="甲"/>'))}</ofd:Outlines>`;
    expect((await factsOf({ document: document + outlines })).facts.outline).toMatchObject([{ title: 'x', target }]);
  });
});

describe('destinations', () => {
  it.each<[string, PageView]>([
    ['Type="XYZ"', { kind: 'xyz' }],
    ['Type="XYZ" Left="1.5" Top="2" Zoom="0"', { kind: 'xyz', left: 1.5, top: 2 }],
    ['Left="1" Zoom="200"', { kind: 'xyz', left: 1, zoom: 64 }],
    ['Type=" fit "', { kind: 'fit' }],
    ['Type="FitH" Top="7" Left="3"', { kind: 'fitH', top: 7 }],
    ['Type="FitV" Left="3"', { kind: 'fitV', left: 3 }],
    ['Type="FitR" Left="1" Top="2" Right="3" Bottom="4"', { kind: 'fitR', left: 1, top: 2, right: 3, bottom: 4 }],
    ['Type="FitR" Left="1" Top="2" Right="1" Bottom="4"', { kind: 'xyz', left: 1, top: 2 }],
  ])('of %s', async (attributes, view) => {
    const document = `<ofd:Bookmarks><Bookmark Name="a"><Dest PageID="1001" ${attributes}/></Bookmark></ofd:Bookmarks>`;
    expect((await factsOf({ document })).facts.destinations[0]!.target.view).toEqual(view);
  });
});

describe('opening', () => {
  const doAction = (action: string): string => `<ofd:Actions><Action Event="DO">${action}</Action></ofd:Actions>`;

  it('follows the action, else the zoom', async () => {
    const zoom = '<ofd:VPreferences><ZoomMode>FitWidth</ZoomMode></ofd:VPreferences>';
    expect((await factsOf({ document: zoom })).facts.opening).toEqual({
      kind: 'page',
      pageNumber: 1,
      view: { kind: 'fitH' },
    });
    const action = doAction('<Goto><Dest Type="Fit" PageID="1002"/></Goto>');
    expect((await factsOf({ document: zoom + action })).facts.opening).toMatchObject({ pageNumber: 2 });
    const number = '<ofd:VPreferences><Zoom>1.5</Zoom></ofd:VPreferences>';
    expect((await factsOf({ document: number })).facts.opening?.view).toEqual({ kind: 'xyz', zoom: 1.5 });
  });

  it('leads nowhere else', async () => {
    const { facts, codes } = await factsOf({ document: doAction('<URI URI="http://a.b/"/>') });
    expect(facts.opening).toBeUndefined();
    expect(codes).toEqual(['action_dropped']);
  });
});

describe('preferences and permissions', () => {
  it('are read in any spelling', async () => {
    const document =
      '<ofd:VPreferences><PageMode>UseAttatchs</PageMode><PageLayout>TwoColumnR</PageLayout><TabDisplay>DocTitle</TabDisplay>' +
      '<HideToolbar>1</HideToolbar><HideMenubar>false</HideMenubar><HideWindowUI> True </HideWindowUI></ofd:VPreferences>' +
      '<ofd:Permissions><Edit>false</Edit><Export>true</Export><Print Printable="true" Copies="3"/>' +
      '<ValidPeriod EndDate="2030-01-01"/></ofd:Permissions>';
    const { facts } = await factsOf({ document });
    expect(facts.preferences).toEqual({
      pageMode: 'attachments',
      pageLayout: 'twoColumnRight',
      showsTitle: true,
      hidesToolbar: true,
      hidesWindow: true,
    });
    expect(facts.permissions).toEqual({ edit: false, export: true, print: true, copies: 3, validUntil: '2030-01-01' });
  });

  it('are nothing where nothing is said', async () => {
    const { facts } = await factsOf({ document: '<ofd:VPreferences><PageMode>None</PageMode></ofd:VPreferences>' });
    expect(facts.preferences).toEqual({});
    expect(facts.permissions).toBeUndefined();
    expect(facts.opening).toBeUndefined();
  });
});

describe('attachments', () => {
  const attached = (list: string, files: Record<string, string> = {}): Partial<OfdSpec> => ({
    document: '<ofd:Attachments>Attachs/Attachments.xml</ofd:Attachments>',
    files: { 'Doc_0/Attachs/Attachments.xml': `<Attachments>${list}</Attachments>`, ...files },
  });

  it('have file names with extension, no two alike', async () => {
    const names = ['a', 'A.TXT', '../a', 'b.xml', '', '..', 'c'];
    const list = names.map((name) => `<Attachment Name="${name}"><FileLoc>f.txt</FileLoc></Attachment>`).join('');
    const more =
      '<Attachment Name="a" Format=".txt"><FileLoc>f.txt</FileLoc></Attachment>' +
      '<Attachment Name="p" Format="image/png"><FileLoc>f.txt</FileLoc></Attachment>' +
      '<Attachment Name="q" Format="xbrl"><FileLoc>f.txt</FileLoc></Attachment>';
    const { facts } = await factsOf(attached(list + more, { 'Doc_0/Attachs/f.txt': 'x' }));
    expect(facts.attachments.map(({ name }) => name)).toEqual([
      ...['a.txt', 'A.TXT', '.._a.txt', 'b.xml.txt', 'f.txt', 'f (2).txt', 'c.txt'],
      ...['a (2).txt', 'p.txt', 'q.xbrl'],
    ]);
  });

  it('that are one file are read by one function', async () => {
    const one = '<Attachment Name="a"><FileLoc>f.txt</FileLoc></Attachment>';
    const { facts } = await factsOf(attached(one + one, { 'Doc_0/Attachs/f.txt': 'x' }));
    expect(facts.attachments[0]!.bytes).toBe(facts.attachments[1]!.bytes);
  });

  it('have names without marks that turn them round', async () => {
    const list = '<Attachment Name="\u202egpj.\u2066exe\u200f\u061c"><FileLoc>f.txt</FileLoc></Attachment>';
    const { facts } = await factsOf(attached(list, { 'Doc_0/Attachs/f.txt': 'x' }));
    expect(facts.attachments[0]!.name).toBe('gpj.exe.txt');
  });

  it('have names that fit into any folder', async () => {
    const list = `<Attachment Name="${'甲'.repeat(100)}"><FileLoc>f.txt</FileLoc></Attachment>`;
    const { facts } = await factsOf(attached(list, { 'Doc_0/Attachs/f.txt': 'x' }));
    expect(facts.attachments[0]!.name).toBe(`${'甲'.repeat(66)}.txt`);
  });

  it('are found from the list, the document and the root, and read when asked for', async () => {
    const list =
      '<Attachment ID="1" Name="one" Format="xml" CreationDate="2020-08-17T19:13:09 " Visible="false" Usage="data" Size="9">' +
      '<FileLoc>one.xml</FileLoc></Attachment><Attachment ID="2" Name="two" ModDate="2021"><FileLoc>Res/two.bin</FileLoc></Attachment>' +
      '<Attachment Name="three"><FileLoc>../../three</FileLoc></Attachment><Attachment Name="gone"><FileLoc>no.txt</FileLoc></Attachment>';
    const files = { 'Doc_0/Attachs/one.xml': '<a/>', 'Doc_0/Res/two.bin': '2', three: '3' };
    const { facts, diagnostics } = await factsOf(attached(list, files));
    expect(facts.attachments).toMatchObject([
      { name: 'one.xml', format: 'xml', creationDate: '2020-08-17T19:13:09', isVisible: false, usage: 'data' },
      { name: 'two.bin', modificationDate: '2021', isVisible: true },
      { name: 'three' },
    ]);
    expect(facts.attachments.map(({ bytes }) => Buffer.from(bytes()!).toString())).toEqual(['<a/>', '2', '3']);
    expect(diagnostics).toMatchObject([{ code: 'attachment_missing', message: expect.stringContaining('"gone"') }]);
  });
});

describe('custom tags', () => {
  const list = (tags: string): Record<string, string> => ({
    'Doc_0/Tags/CustomTags.xml': `<CustomTags>${tags}</CustomTags>`,
  });
  const document = '<ofd:CustomTags>Tags/CustomTags.xml</ofd:CustomTags>';

  it('are trees that point at objects of pages', async () => {
    const tag =
      '<fp:eInvoice xmlns:fp="http://fp" Version="1.0"><fp:TypeCode><ofd:ObjectData> 04 </ofd:ObjectData></fp:TypeCode>' +
      '<fp:Buyer><fp:BuyerName><ofd:ObjectRef PageRef="1002">65</ofd:ObjectRef><ObjectRef PageRef="1001"> 66 </ObjectRef>' +
      '</fp:BuyerName></fp:Buyer><fp:Note><ObjectRef PageRef="1001">0</ObjectRef><ObjectRef PageRef="9">7</ObjectRef></fp:Note>' +
      '<fp:Plain>text</fp:Plain></fp:eInvoice>';
    const files = {
      ...list('<CustomTag TypeID="fp"><FileLoc>Tag.xml</FileLoc></CustomTag>'),
      'Doc_0/Tags/Tag.xml': tag,
    };
    const { facts, codes } = await factsOf({ document, files });
    const leaf = { attributes: [], text: '', objects: [], children: [] };
    expect(facts.customTags()).toEqual([
      {
        ...leaf,
        type: 'fp',
        name: 'eInvoice',
        attributes: [{ name: 'Version', value: '1.0' }],
        children: [
          { ...leaf, name: 'TypeCode', text: '04' },
          {
            ...leaf,
            name: 'Buyer',
            children: [
              {
                ...leaf,
                name: 'BuyerName',
                objects: [
                  { pageNumber: 2, objectId: '65' },
                  { pageNumber: 1, objectId: '66' },
                ],
              },
            ],
          },
          { ...leaf, name: 'Note' },
          { ...leaf, name: 'Plain', text: 'text' },
        ],
      },
    ]);
    expect(codes).toEqual([]);
  });

  it('whose file is missing are left out, with a warning when they are asked for', async () => {
    const files = list('<CustomTag NameSpace="n"><FileLoc>no.xml</FileLoc></CustomTag>');
    const { facts, diagnostics } = await factsOf({ document, files });
    expect(diagnostics).toEqual([]);
    expect(facts.customTags()).toEqual([]);
    expect(diagnostics).toMatchObject([{ code: 'part_missing', part: 'no.xml' }]);
  });
});

describe('signatures', () => {
  it('say who made them, how, over what and where they stand', async () => {
    const signatures =
      '<Signatures><Signature ID="s1" Type="Sign" BaseLoc="S1/Signature.xml"/><Signature ID="s2" BaseLoc="/Doc_0/Signs/S2.xml"/>' +
      '<Signature ID="s3" BaseLoc="gone.xml"/></Signatures>';
    const first =
      '<Signature><SignedInfo><Provider ProviderName="P" Version="2" Company="C"/><SignatureMethod>1.2.3</SignatureMethod>' +
      '<SignatureDateTime>20200817111329Z</SignatureDateTime><References CheckMethod="SM3"><Reference FileRef="/OFD.xml"/>' +
      '<Reference/></References><StampAnnot ID="1" PageRef="1003" Boundary="1 2 3 4"/><StampAnnot ID="2" PageRef="9"/>' +
      '</SignedInfo></Signature>';
    const second =
      '<Signature><SignedInfo><Provider><ProviderName>Q</ProviderName></Provider></SignedInfo></Signature>';
    const { facts } = await factsOf({
      docBody: '<ofd:Signatures>/Doc_0/Signs/Signatures.xml</ofd:Signatures>',
      files: {
        'Doc_0/Signs/Signatures.xml': signatures,
        'Doc_0/Signs/S1/Signature.xml': first,
        'Doc_0/Signs/S2.xml': second,
      },
    });
    expect(facts.signatures()).toEqual([
      {
        id: 's1',
        hasSeal: false,
        provider: { name: 'P', version: '2', company: 'C' },
        method: '1.2.3',
        dateTime: '20200817111329Z',
        digestMethod: 'SM3',
        signedParts: ['/OFD.xml'],
        stamps: [{ pageNumber: 3, box: { x: 1, y: 2, width: 3, height: 4 } }],
      },
      { id: 's2', hasSeal: true, provider: { name: 'Q' }, signedParts: [], stamps: [] },
    ]);
  });
});

describe('several documents', () => {
  it('keep their facts apart, and give those of one when merged', async () => {
    const body = (n: number): string => `</ofd:DocBody><ofd:DocBody><ofd:DocRoot>Doc_${n}/Document.xml</ofd:DocRoot>`;
    const list = '<Attachments><Attachment ID="1" Name="a"><FileLoc>/f.txt</FileLoc></Attachment></Attachments>';
    const beside =
      '<Bookmarks><Bookmark Name="b"><Dest Type="Fit" PageID="1"/></Bookmark></Bookmarks><Attachments>/A.xml</Attachments>';
    const other = `<Document><CommonData/><Pages><Page ID="1" BaseLoc="P.xml"/></Pages>${beside}</Document>`;
    const { document } = await open({
      pages: ['', ''],
      docInfo: '<ofd:Title>First</ofd:Title>',
      docBody: body(1) + body(2),
      files: { 'Doc_1/Document.xml': other, 'Doc_2/Document.xml': other, 'A.xml': list, 'f.txt': 'x' },
    });
    const facts = document.documents;
    expect(facts.map(({ firstPage, pageCount }) => [firstPage, pageCount])).toEqual([
      [1, 2],
      [3, 1],
      [4, 1],
    ]);
    expect(facts[2]!.destinations[0]!.target.pageNumber).toBe(4);
    const merged = mergeFacts(facts);
    expect(merged.pageCount).toBe(4);
    expect(merged.info.title).toBe('First');
    expect(merged.destinations.map(({ name }) => name)).toEqual(['b', 'b (2)']);
    expect(merged.attachments.map(({ name }) => name)).toEqual(['a.txt', 'a (2).txt']);
    expect(merged.outline.map(({ title, target, children }) => [title, target, children.length])).toMatchObject([
      ['First', { pageNumber: 1 }, 0],
      ['Document 2', { pageNumber: 3 }, 1],
      ['Document 3', { pageNumber: 4 }, 1],
    ]);
  });
});
