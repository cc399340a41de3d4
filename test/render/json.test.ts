// The JSON backend: what it says of documents, pages, text, pictures; every field as docs/json.md has it.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Attachment, type DocumentFacts, mergeFacts, type TagField } from '../../src/display/facts.js';
import { rectanglePath } from '../../src/display/geometry.js';
import type { PageTarget } from '../../src/display/link.js';
import type { DisplayList, GlyphRun } from '../../src/display/list.js';
import { jsonBackend } from '../../src/render/json/index.js';
import { axial, BLUE, box, clip, group, image, page, pen, rectangle, run, solid } from './lists.js';
import { render } from './output.js';
import { SCENES, smallPicture } from './scenes.js';

/** Whatever the file holds. */
type Json = ReturnType<typeof JSON.parse>;

/** Names of all fields, but for those that a custom tag brings along. */
const fieldsMet = new Set<string>();

async function json(lists: readonly DisplayList[], documents: readonly Partial<DocumentFacts>[] = [{}]): Promise<Json> {
  const whole = documents.map((facts) => ({ ...mergeFacts([]), pageCount: lists.length, ...facts }));
  const { files, diagnostics } = await render(jsonBackend, lists, { documents: whole });
  expect([files.length, diagnostics]).toEqual([1, []]);
  return JSON.parse(files[0]!.toString('utf8'), (name, value: unknown) => {
    if (!/^\d*$/.test(name) && name !== 'Version') fieldsMet.add(name);
    return value;
  });
}

async function pageOf(list: DisplayList): Promise<Json> {
  return (await json([list])).documents[0].pages[0];
}

const letters = (more: Partial<GlyphRun> = {}): GlyphRun =>
  run([1, 1, 2], [10, 14, 18], [20, 20, 20], { characters: ['发', '票', 'A'], ...more });

const target: PageTarget = { kind: 'page', pageNumber: 2, view: { kind: 'xyz', left: 1, top: 2.34567, zoom: 1.5 } };

describe('the file', () => {
  it('has documents with pages, apart from each other', async () => {
    const lists = [1, 2, 4, 5].map((number) => page([], 210, 297.12345, number));
    const file = await json(lists, [
      { firstPage: 1, pageCount: 2 },
      { firstPage: 3, pageCount: 1 },
      { firstPage: 4, pageCount: 3 },
      { firstPage: 7, pageCount: 1 },
    ]);
    expect({ format: file.format, version: file.version }).toEqual({ format: 'ofd-server/document', version: 1 });
    expect(
      file.documents.map((document: Json) => [
        document.first_page,
        document.page_count,
        document.pages.map(({ number }: Json) => number),
      ]),
    ).toEqual([
      [1, 2, [1, 2]],
      [3, 1, []],
      [4, 3, [4, 5]],
      [7, 1, []],
    ]);
    expect(file.documents[0].pages[0]).toMatchObject({ width_mm: 210, height_mm: 297.123 });
  });

  it('is the same twice, with a page in each line', async () => {
    const lists = SCENES.map(({ list }, i) => ({ ...list, pageNumber: i + 1 }));
    const [one, two] = [await render(jsonBackend, lists), await render(jsonBackend, lists)];
    expect(one.files).toEqual(two.files);
    const lines = one.files[0]!.toString('utf8').split('\n');
    expect(lines.filter((line) => line.startsWith('{"number":'))).toHaveLength(lists.length);
  });

  it('holds no number that no page has', async () => {
    const text = JSON.stringify(await json(SCENES.map(({ list }, i) => ({ ...list, pageNumber: i + 1 }))));
    expect(text).not.toMatch(/null|-0[,\]}]|e-\d|\d\.\d{7}/);
  });
});

describe('what a document says', () => {
  it('is there field by field', async () => {
    const file = await json(
      [page([])],
      [
        {
          info: {
            id: 'ab',
            title: 'T',
            creatorVersion: '1',
            creationDate: '2020',
            modificationDate: '2021',
            keywords: ['k'],
            customData: [{ name: '发票号码', value: '1' }],
          },
          outline: [
            { title: 'one', target, isExpanded: false, children: [{ title: 'two', isExpanded: true, children: [] }] },
          ],
          destinations: [
            { name: 'here', target: { ...target, view: { kind: 'fitR', left: 1, top: 2, right: 3, bottom: 4 } } },
          ],
          preferences: { pageMode: 'fullScreen', pageLayout: 'twoColumnLeft', showsTitle: true, hidesToolbar: false },
          permissions: { print: true, copies: 2, printScreen: false, validFrom: '2020-01-01' },
          opening: { kind: 'page', pageNumber: 1, view: { kind: 'fitH', top: 5 } },
        },
      ],
    );
    const { pages, ...document } = file.documents[0];
    const view = { kind: 'xyz', left_mm: 1, top_mm: 2.346, zoom: 1.5 };
    expect(document).toEqual({
      first_page: 1,
      page_count: 1,
      info: {
        id: 'ab',
        title: 'T',
        creator_version: '1',
        creation_date: '2020',
        modification_date: '2021',
        keywords: ['k'],
        custom_data: [{ name: '发票号码', value: '1' }],
      },
      outline: [
        {
          title: 'one',
          target: { kind: 'page', page: 2, view },
          expanded: false,
          children: [{ title: 'two', expanded: true, children: [] }],
        },
      ],
      destinations: [
        {
          name: 'here',
          target: {
            kind: 'page',
            page: 2,
            view: { kind: 'fit_rectangle', left_mm: 1, top_mm: 2, right_mm: 3, bottom_mm: 4 },
          },
        },
      ],
      attachments: [],
      signatures: [],
      preferences: {
        page_mode: 'full_screen',
        page_layout: 'two_column_left',
        shows_title: true,
        hides_toolbar: false,
      },
      permissions: { print: true, copies: 2, print_screen: false, valid_from: '2020-01-01' },
      opening: { kind: 'page', page: 1, view: { kind: 'fit_width', top_mm: 5 } },
      custom_tags: [],
    });
    expect(pages).toHaveLength(1);
  });

  it('tells attached files by their bytes', async () => {
    const bytes = Buffer.from('<invoice/>');
    const attachments: Attachment[] = [
      { name: 'a.xml', format: 'xml', isVisible: false, usage: 'data', creationDate: '2020', bytes: () => bytes },
      { name: 'lost', isVisible: true, bytes: () => undefined },
    ];
    expect((await json([page([])], [{ attachments }])).documents[0].attachments).toEqual([
      {
        name: 'a.xml',
        format: 'xml',
        creation_date: '2020',
        visible: false,
        usage: 'data',
        size_bytes: 10,
        sha256: createHash('sha256').update(bytes).digest('hex'),
      },
      { name: 'lost', visible: true },
    ]);
  });

  it('tells what signatures say of themselves', async () => {
    const signatures = () => [
      {
        id: 's1',
        hasSeal: true,
        sealName: 'seal',
        provider: { name: 'P' },
        method: 'SM2',
        dateTime: '2020',
        digestMethod: 'SM3',
        signedParts: ['/OFD.xml'],
        stamps: [{ pageNumber: 1, box: box(1, 2, 3, 4) }],
      },
      { hasSeal: false, signedParts: [], stamps: [] },
    ];
    expect((await json([page([])], [{ signatures }])).documents[0].signatures).toEqual([
      {
        id: 's1',
        kind: 'seal',
        seal_name: 'seal',
        provider: { name: 'P' },
        method: 'SM2',
        date: '2020',
        digest_method: 'SM3',
        signed_parts: ['/OFD.xml'],
        stamps: [{ page: 1, box: { x_mm: 1, y_mm: 2, width_mm: 3, height_mm: 4 } }],
      },
      { kind: 'sign', signed_parts: [], stamps: [] },
    ]);
  });

  it('resolves custom tags to the text of their objects, on the pages that are there', async () => {
    const field = (name: string, more: Partial<TagField> = {}): TagField => ({
      name,
      attributes: [],
      text: '',
      objects: [],
      children: [],
      ...more,
    });
    const objects = [
      { pageNumber: 1, objectId: '7' },
      { pageNumber: 1, objectId: '8' },
    ];
    const tag = field('eInvoice', {
      attributes: [{ name: 'Version', value: '1' }],
      children: [
        field('Buyer', { objects }),
        field('TypeCode', { text: '04' }),
        field('Else', { objects: [{ pageNumber: 9, objectId: '7' }] }),
      ],
    });
    const items = [
      group([letters({ objectId: '8' })]),
      letters({ objectId: '7' }),
      letters({ objectId: '7' }),
      letters(),
    ];
    const file = await json([page(items)], [{ customTags: () => [{ ...tag, type: 'fp' }] }]);
    expect(file.documents[0].custom_tags).toEqual([
      {
        type: 'fp',
        name: 'eInvoice',
        attributes: { Version: '1' },
        children: [
          {
            name: 'Buyer',
            value: '发票A发票A发票A',
            objects: [
              { page: 1, object_id: '7' },
              { page: 1, object_id: '8' },
            ],
          },
          { name: 'TypeCode', value: '04' },
          { name: 'Else', objects: [{ page: 9, object_id: '7' }] },
        ],
      },
    ]);
  });
});

describe('text', () => {
  it('has place, font and colour, letter by letter', async () => {
    const font = { name: '宋体', source: 'substitute' } as const;
    const { text, lines } = await pageOf(page([letters({ font, objectId: '12', fill: solid(BLUE, 0.5) })]));
    expect(text).toEqual([
      {
        text: '发票A',
        object_id: '12',
        box: { x_mm: 10, y_mm: 16, width_mm: 12, height_mm: 4 },
        x_mm: 10,
        y_mm: 20,
        size_mm: 4,
        angle: 0,
        reading_angle: 0,
        font: { name: '宋体', source: 'substitute', face: 'Square', bold: false, italic: false },
        color: '#0000ff',
        opacity: 0.5,
        visible: true,
        glyphs: { text: ['发', '票', 'A'], x_mm: [10, 14, 18], y_mm: [20, 20, 20], width_mm: [4, 4, 4] },
      },
    ]);
    expect(lines).toEqual([{ text: '发票A', box: { x_mm: 10, y_mm: 16.48, width_mm: 12, height_mm: 4 } }]);
  });

  it('comes through groups, turned and scaled', async () => {
    const turned = group([letters({ matrix: [0.5, 0, 0, 0.5, 0, 0], xScale: [1, 1, 0.5] })], {
      matrix: [0, 2, -2, 0, 100, 0],
    });
    const { text, lines } = await pageOf(page([turned], 200, 200));
    expect(text[0]).toMatchObject({
      x_mm: 80,
      y_mm: 10,
      size_mm: 4,
      angle: 90,
      reading_angle: 90,
      box: { x_mm: 80, y_mm: 10, width_mm: 4, height_mm: 10 },
      glyphs: { x_mm: [80, 80, 80], y_mm: [10, 14, 18], width_mm: [4, 4, 2] },
    });
    expect(lines[0].box).toMatchObject({ x_mm: 79.52, width_mm: 4 });
  });

  it('tells the way of reading from that of the letters', async () => {
    const down = run([1, 1], [10, 10], [10, 15], { characters: ['上', '下'], readDirection: 90 });
    expect((await pageOf(page([down]))).text[0]).toMatchObject({ angle: 0, reading_angle: 90 });
  });

  it('says what is not seen, and has no colour where there is not one', async () => {
    const { fill: _, ...unpainted } = letters();
    const away = clip(rectanglePath(box(0, 0, 1, 1)));
    const stroked = { ...unpainted, stroke: pen(0.1, { paint: solid(BLUE) }) };
    const { text } = await pageOf(
      page([unpainted, letters({ clips: [away] }), stroked, letters({ fill: axial(0, 0, 1, 1) })]),
    );
    expect(text.map(({ visible, color, opacity }: Json) => [visible, color, opacity])).toEqual([
      [false, undefined, undefined],
      [false, '#000000', 1],
      [true, '#0000ff', 1],
      [true, undefined, undefined],
    ]);
  });

  it('leaves out glyphs that stand for nothing, and keeps any character', async () => {
    const characters = ['"\\\u0001', '\ud800', '𠀀'];
    const { text } = await pageOf(page([run([1], [1], [1], { characters: [''] }), letters({ characters })]));
    expect(text).toHaveLength(1);
    expect(text[0].glyphs.text).toEqual(characters);
  });
});

describe('pictures, links, annotations', () => {
  it('stand where they are', async () => {
    const picture = await smallPicture();
    const items = [
      group([image(picture, [10, 0, 0, 20, 1, 2], { alpha: 0.25, mask: picture })], { matrix: [0, 1, -1, 0, 50, 0] }),
    ];
    const links = [
      { box: box(1, 2, 3, 4), target },
      { box: box(0, 0, 1, 1), target: { kind: 'uri', uri: 'https://example.com/' } },
      { box: box(0, 0, 1, 1), target: { kind: 'attachment', name: 'a.xml' } },
    ] as const;
    const annotations = [
      {
        id: '5',
        type: 'Stamp',
        subtype: 'SignatureInFile',
        creator: 'C',
        modificationDate: '2020',
        isVisible: false,
        remark: 'note',
        parameters: [{ name: 'fp.NativeSign', value: 'x' }],
        box: box(1, 2, 3, 4),
      },
    ];
    const found = await pageOf({ ...page([...items, rectangle(box(0, 0, 1, 1), BLUE)]), links, annotations });
    expect(found.images).toEqual([
      {
        box: { x_mm: 28, y_mm: 1, width_mm: 20, height_mm: 10 },
        matrix: [0, 10, -20, 0, 48, 1],
        part: 'small.png',
        format: 'png',
        width_px: 2,
        height_px: 2,
        size_bytes: picture.bytes.length,
        opacity: 0.25,
        masked: true,
      },
    ]);
    expect(found.links.map(({ target: to }: Json) => to)).toEqual([
      { kind: 'page', page: 2, view: { kind: 'xyz', left_mm: 1, top_mm: 2.346, zoom: 1.5 } },
      { kind: 'uri', uri: 'https://example.com/' },
      { kind: 'attachment', name: 'a.xml' },
    ]);
    expect(found.links[0].box).toEqual({ x_mm: 1, y_mm: 2, width_mm: 3, height_mm: 4 });
    expect(found.annotations).toEqual([
      {
        id: '5',
        type: 'Stamp',
        subtype: 'SignatureInFile',
        creator: 'C',
        modification_date: '2020',
        visible: false,
        remark: 'note',
        parameters: [{ name: 'fp.NativeSign', value: 'x' }],
        box: { x_mm: 1, y_mm: 2, width_mm: 3, height_mm: 4 },
      },
    ]);
  });
});

describe('docs/json.md', () => {
  const documented = readFileSync('docs/json.md', 'utf8');

  it('names every field that these tests have met', () => {
    expect(fieldsMet.size).toBeGreaterThan(80);
    expect([...fieldsMet].filter((field) => !documented.includes(`\`${field}\``))).toEqual([]);
  });

  it('has an example that is JSON', () => {
    const [, example] = /```json\n([\s\S]*?)```/.exec(documented)!;
    expect(JSON.parse(example!)).toMatchObject({ format: 'ofd-server/document', version: 1 });
  });
});
