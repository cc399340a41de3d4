// Areas that lead somewhere: objects seen and unseen, templates, annotations, whole pages.
import { describe, expect, it } from 'vitest';
import type { LinkArea } from '../../../src/display/link.js';
import { linkUri } from '../../../src/display/uri.js';
import type { OfdSpec } from '../../support/ofd-builder.js';
import { build, FONTS, open, pathXml, rounded } from './support.js';

const action = (content: string, event = 'CLICK'): string =>
  `<ofd:Actions><ofd:Action Event="${event}">${content}</ofd:Action></ofd:Actions>`;
const URI = action('<ofd:URI URI="http://a.b/c"/>');
const GOTO = action('<ofd:Goto><ofd:Dest Type="Fit" PageID="1002"/></ofd:Goto>');
const PAGE_2 = { kind: 'page', pageNumber: 2, view: { kind: 'fit' } };

const LINK = '<ofd:PathObject Boundary="1 2 3 4"><ofd:Actions>';

/** Boxes as left, top, width, height, with where they lead. */
function areas(links: readonly LinkArea[] | undefined): unknown[] {
  return (links ?? []).map(({ box, target }) => [
    [box.x, box.y, box.width, box.height].map(rounded),
    target.kind === 'page' ? target.pageNumber : target.kind === 'uri' ? target.uri : target.name,
  ]);
}

async function links(objects: string, more: Partial<OfdSpec> = {}) {
  const { list, diagnostics } = await build(objects, { pages: [objects, ''], ...more });
  return { areas: areas(list.links), list, codes: diagnostics.map(({ code }) => code) };
}

function annotated(...annotations: readonly string[]): Partial<OfdSpec> {
  return {
    document: '<ofd:Annotations>Annots.xml</ofd:Annotations>',
    files: {
      'Doc_0/Annots.xml': '<Annotations><Page PageID="1001"><FileLoc>A.xml</FileLoc></Page></Annotations>',
      'Doc_0/A.xml': `<PageAnnot>${annotations.join('').replaceAll('ofd:', '')}</PageAnnot>`,
    },
  };
}

describe('objects', () => {
  it('lead from their Boundary, whatever their matrix, seen or not', async () => {
    const { areas: found, list } = await links(
      pathXml('M 0 0 L 9 9', 'Boundary="10 20 30 5" CTM="2 0 0 2 0 0"', URI) +
        `<ofd:PageBlock>${pathXml('M 0 0 L 9 9', 'Boundary="1 2 3 4" Visible="false"', GOTO)}</ofd:PageBlock>`,
    );
    expect(found).toEqual([
      [[10, 20, 30, 5], 'http://a.b/c'],
      [[1, 2, 3, 4], 2],
    ]);
    expect(list.links![1]!.target).toEqual(PAGE_2);
  });

  it('that nobody sees with their layer lead nowhere, nor do those without a place', async () => {
    const hidden = `<ofd:Layer ID="2" Visible="false">${pathXml('M 0 0', '', URI)}</ofd:Layer>`;
    const placeless = pathXml('M 0 0', 'Boundary="5 5 0 9"', URI) + pathXml('M 0 0', 'Boundary="1e300 5 9 9"', URI);
    const page = `<ofd:Page><ofd:Content>${hidden}<ofd:Layer ID="3">${placeless}</ofd:Layer></ofd:Content></ofd:Page>`;
    const { list } = await links(page);
    expect(list).not.toHaveProperty('links');
  });

  it('lead from the areas of a Region, in their own space', async () => {
    const region =
      '<ofd:Region><ofd:Area Start="1 1"><ofd:Line Point1="5 1"/><ofd:Line Point1="5 4"/><ofd:Close/></ofd:Area>' +
      '<ofd:Area Start="10 10"><ofd:Arc EllipseSize="2" EndPoint="14 10" SweepDirection="true"/></ofd:Area></ofd:Region>';
    const click = action(`${region}<ofd:URI URI="http://a"/>`);
    const { areas: found } = await links(pathXml('M 0 0', 'Boundary="100 50 20 20" CTM="2 0 0 1 0 0"', click));
    expect(found).toEqual([
      [[102, 51, 8, 3], 'http://a'],
      [[120, 58, 8, 2], 'http://a'],
    ]);
  });

  it('take the first click that leads anywhere', async () => {
    const actions =
      '<ofd:Actions><ofd:Action Event="CLICK"><ofd:Sound ResourceID="1"/></ofd:Action>' +
      '<ofd:Action Event="PO"><ofd:URI URI="http://po"/></ofd:Action>' +
      '<ofd:Action Event="click"><ofd:URI URI="http://first"/></ofd:Action>' +
      '<ofd:Action Event="CLICK"><ofd:URI URI="http://second"/></ofd:Action></ofd:Actions>';
    const { areas: found, codes } = await links(pathXml('M 0 0', 'Boundary="1 2 3 4"', actions));
    expect(found).toEqual([[[1, 2, 3, 4], 'http://first']]);
    // The action on opening, the sound, and the second address.
    expect(codes).toEqual(['action_dropped', 'action_dropped', 'action_dropped']);
  });

  it('that do what nobody knows lead nowhere, and it is told', async () => {
    const actions = action('<ofd:Region/><ofd:Dance/>');
    const { areas: found, codes } = await links(pathXml('M 0 0', 'Boundary="1 2 3 4"', actions));
    expect([found, codes]).toEqual([[], ['action_dropped']]);
  });

  it('lead to what is there, and one that does not is told once a kind', async () => {
    const dests = ['77', '78'].map((id) => action(`<ofd:Goto><ofd:Dest PageID="${id}"/></ofd:Goto>`));
    const others = ['<ofd:Goto><ofd:Bookmark Name="b"/></ofd:Goto>', '<ofd:GotoA AttachID="a"/>'].map((it) =>
      action(it),
    );
    const objects = [...dests, ...others].map((it) => pathXml('M 0 0', 'Boundary="1 2 3 4"', it)).join('');
    const { areas: found, codes } = await links(objects);
    expect(found).toEqual([]);
    expect(codes).toEqual(['reference_missing', 'reference_missing', 'reference_missing']);
  });

  it('lead to attachments by the names that these have', async () => {
    const { areas: found } = await links(
      pathXml('M 0 0', 'Boundary="1 2 3 4"', action('<ofd:GotoA AttachID=" a1 "/>')),
      {
        document: '<ofd:Attachments>A.xml</ofd:Attachments>',
        files: {
          'Doc_0/A.xml':
            '<Attachments><Attachment Name="f"><FileLoc>f.txt</FileLoc></Attachment>' +
            '<Attachment ID="a1" Name="f"><FileLoc>f.txt</FileLoc></Attachment></Attachments>',
          'Doc_0/f.txt': 'x',
        },
      },
    );
    expect(found).toEqual([[[1, 2, 3, 4], 'f (2).txt']]);
  });
});

describe('composite units', () => {
  const unit = (id: number, content: string): string =>
    `<ofd:CompositeGraphicUnit ID="${id}" Width="50" Height="50"><ofd:Content>${content}</ofd:Content></ofd:CompositeGraphicUnit>`;
  const use = (id: number, attributes: string): string =>
    `<ofd:CompositeObject ID="5" ResourceID="${id}" ${attributes}/>`;
  const withUnits = (...units: readonly string[]): Partial<OfdSpec> => ({
    documentRes: `<ofd:CompositeGraphicUnits>${units.join('')}</ofd:CompositeGraphicUnits>`,
  });
  const linked = pathXml('M 0 0 L 9 9', 'Boundary="2 3 10 4"', URI);

  it('lead from where they are placed, through all units that they stand in', async () => {
    const units = withUnits(unit(20, linked), unit(21, use(20, 'Boundary="10 10 30 30" CTM="2 0 0 2 0 0"')));
    const objects = use(20, 'Boundary="100 100 40 40"') + use(21, 'Boundary="5 5 90 90"');
    const { areas: found, codes } = await links(objects, units);
    expect(found).toEqual([
      [[102, 103, 10, 4], 'http://a.b/c'],
      [[19, 21, 20, 8], 'http://a.b/c'],
    ]);
    expect(codes).not.toContain('action_dropped');
  });

  it('lead no further than their Boundary, and below what the object itself does', async () => {
    const cut = `<ofd:CompositeObject ID="5" ResourceID="20" Boundary="100 100 6 40">${GOTO}</ofd:CompositeObject>`;
    const away = use(20, 'Boundary="0 0 1 1"');
    const { areas: found } = await links(cut + away, withUnits(unit(20, linked)));
    expect(found).toEqual([
      [[102, 103, 4, 4], 'http://a.b/c'],
      [[100, 100, 6, 40], 2],
    ]);
  });

  it('lead from templates and appearances too', async () => {
    const page = '<ofd:Page><ofd:Template TemplateID="2001"/><ofd:Content/></ofd:Page>';
    const { areas: found } = await links(page, {
      ...withUnits(unit(20, linked)),
      templates: [use(20, 'Boundary="50 0 20 20"')],
      ...annotated(
        `<Annot ID="9" Type="Stamp"><Appearance Boundary="10 20 50 40">${use(20, 'Boundary="1 1 20 20"')}</Appearance></Annot>`,
      ),
    });
    expect(found).toEqual([
      [[52, 3, 10, 4], 'http://a.b/c'],
      [[13, 24, 10, 4], 'http://a.b/c'],
    ]);
  });

  it('end where they contain themselves', async () => {
    const ring = unit(20, linked + use(20, 'Boundary="0 0 50 50"'));
    const { areas: found, codes } = await links(use(20, 'Boundary="0 0 90 90"'), withUnits(ring));
    expect(found).toEqual([[[2, 3, 10, 4], 'http://a.b/c']]);
    expect(codes).toContain('reference_ring');
  });

  it.each([
    ['somewhere', linked],
    ['nowhere', pathXml('M 0 0 L 9 9', 'Boundary="2 3 0 0"', URI)],
  ])('that double each other lead %s no more often than the limits allow', async (_where, leaf) => {
    const twice = (id: number) => use(id, 'Boundary="0 0 50 50"').repeat(2);
    const units = Array.from({ length: 25 }, (_, i) => unit(30 + i, i === 24 ? leaf : twice(31 + i)));
    const limits = { maxLinks: 7, maxObjectsPerPage: 100 };
    const { document } = await open({ pages: [use(30, 'Boundary="0 0 90 90"')], ...withUnits(...units) }, {}, limits);
    expect(document.page(0).links ?? []).toHaveLength(leaf === linked ? 7 : 0);
  });
});

describe('templates', () => {
  it('lead from every page that stands on them, below its own links', async () => {
    const page = (own: string): string =>
      `<ofd:Page><ofd:Template TemplateID="2001"/><ofd:Content><ofd:Layer ID="2">${own}</ofd:Layer></ofd:Content></ofd:Page>`;
    const { document } = await open({
      pages: [page(pathXml('M 0 0', 'Boundary="5 5 5 5"', URI)), page('')],
      templates: [pathXml('M 0 0 L 9 9', 'Boundary="1 2 3 4"', GOTO)],
      publicRes: FONTS,
    });
    const template = [[1, 2, 3, 4], 2];
    expect(areas(document.page(0).links)).toEqual([template, [[5, 5, 5, 5], 'http://a.b/c']]);
    expect(areas(document.page(1).links)).toEqual([template]);
  });
});

describe('a document', () => {
  it('has no more links than the limit, those of templates counted for each page', async () => {
    const page = '<ofd:Page><ofd:Template TemplateID="2001"/><ofd:Content/></ofd:Page>';
    const { document, diagnostics } = await open(
      {
        pages: [page, page, page],
        templates: [
          (GOTO + URI)
            .replaceAll('<ofd:Actions>', LINK)
            .replaceAll('</ofd:Actions>', '</ofd:Actions></ofd:PathObject>'),
        ],
      },
      {},
      { maxLinks: 3 },
    );
    expect([0, 1, 2].map((index) => document.page(index).links?.length)).toEqual([2, 1, undefined]);
    expect(diagnostics.map(({ code }) => code)).toEqual(['links_cut']);
  });
});

describe('annotations', () => {
  const annotation = (content: string, type = 'Link', more = ''): string =>
    `<Annot ID="9" Type="${type}" ${more}><Appearance Boundary="10 20 50 40">${content}</Appearance></Annot>`;
  const zone = (boundary: string, actions: string): string =>
    pathXml('M 0 0', `Boundary="${boundary}" Visible="false" Stroke="false"`, actions);

  it('of type Link lead from their Boundary', async () => {
    const { areas: found } = await links('', annotated(annotation(zone('1 1 5 5', GOTO))));
    expect(found).toEqual([[[10, 20, 50, 40], 2]]);
  });

  it('with several actions, or of other types, lead from the objects', async () => {
    const two = zone('1 1 5 5', GOTO) + zone('20 1 5 5', URI);
    const { areas: found } = await links(
      '',
      annotated(
        annotation(two),
        annotation(zone('1 1 5 5', GOTO), 'Stamp'),
        annotation(two, 'Link', 'Visible="false"'),
      ),
    );
    expect(found).toEqual([
      [[11, 21, 5, 5], 2],
      [[30, 21, 5, 5], 'http://a.b/c'],
      [[11, 21, 5, 5], 2],
    ]);
  });

  it('may carry the action themselves', async () => {
    const own = `<Annot ID="9" Type="Link">${URI}<Appearance Boundary="10 20 50 40"/></Annot>`;
    expect((await links('', annotated(own))).areas).toEqual([[[10, 20, 50, 40], 'http://a.b/c']]);
  });
});

describe('pages', () => {
  it('lead as a whole, and do nothing by themselves', async () => {
    const page = (actions: string): string => `<ofd:Page>${actions}<ofd:Content/></ofd:Page>`;
    expect((await links(page(GOTO))).areas).toEqual([[[0, 0, 210, 297], 2]]);
    const opening = await links(page(GOTO.replace('CLICK', 'PO')));
    expect(opening.areas).toEqual([]);
    expect(opening.codes).toEqual(['action_dropped']);
  });
});

describe('addresses', () => {
  it.each([
    ['http://a.b/c?d=e#f', undefined, 'http://a.b/c?d=e#f'],
    [' HTTPS://a.b/\n\tc ', undefined, 'HTTPS://a.b/c'],
    ['http://甲.cn/乙 丙%20', undefined, 'http://%E7%94%B2.cn/%E4%B9%99%20%E4%B8%99%20'],
    ['www.a.b', undefined, 'http://www.a.b'],
    ['mailto:a@b.c', undefined, 'mailto:a@b.c'],
    ['c/d.html', 'http://a.b/x/y.html', 'http://a.b/x/c/d.html'],
    ['c/d.html', 'no base', 'c/d.html'],
    ['c/d.html', undefined, 'c/d.html'],
    ['http://a.b/', 'http://c.d/', 'http://a.b/'],
  ])('%j (base %j) is %s', (uri, base, wanted) => {
    expect(linkUri(uri, base)).toBe(wanted);
  });

  it.each([
    '',
    ' ',
    'javascript:alert(1)',
    'java\nscript:alert(1)',
    'file:///etc/passwd',
    'data:text/html,x',
    'C:\\a.exe',
    '\\\\evil\\share',
    '//evil/share',
    '/\\evil/share',
    '\\/evil/share',
    '/\t/evil/share',
    'a\\..\\b',
    'java script:alert(1)',
    '\u200bjavascript:alert(1)',
    '1:x',
    'vbscript:x',
    'smb://evil/share',
    'ms-msdt:x',
  ])('%j is none', (uri) => {
    expect(linkUri(uri, undefined)).toBeUndefined();
  });

  it.each([
    ['alert(1)', 'javascript:x'],
    ['alert(1)', 'javascript:'],
    ['x', 'file:///etc/'],
    ['x', 'data:text/html,'],
    ['x', '//evil/'],
    ['x', '\\\\evil\\share'],
    ['//evil/x', 'no base'],
  ])('%j relative to %j is none', (uri, base) => {
    expect(linkUri(uri, base)).toBeUndefined();
  });

  it.each(['/a', '?a', '#a', 'a/b:c', '../a'])('%j is a path', (uri) => {
    expect(linkUri(uri, undefined)).toBe(uri);
  });

  it('have an end', () => {
    expect(linkUri(`http://${'a'.repeat(9000)}`, undefined)).toBeUndefined();
  });
});
