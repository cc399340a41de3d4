// What lies on top of a page: seals, and annotations above them.
import { deflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { signatureV4 } from '../../support/der.js';
import { buildOfd } from '../../support/ofd-builder.js';
import { build, extent, FONTS, groups, images, MEDIA, open, paths, pathXml, png, textOf } from './support.js';

const LINE = pathXml('M 0 5 L 40 5', 'Boundary="1 2 40 10"', '<ofd:StrokeColor Value="1 2 3"/>');
const DOCUMENT = { document: '<ofd:Annotations>Annots/Annotations.xml</ofd:Annotations>' };

function annotation(appearance: string, attributes = 'Type="Watermark"', boundary = 'Boundary="10 20 50 40"'): string {
  return `<Annot ID="90" ${attributes}><Appearance ${boundary}>${appearance.replaceAll('ofd:', '')}</Appearance></Annot>`;
}

function annotated(...annotations: readonly string[]) {
  const list = '<Annotations><Page PageID="1001"><FileLoc>Page_0.xml</FileLoc></Page></Annotations>';
  const page = `<PageAnnot>${annotations.join('')}</PageAnnot>`;
  return { ...DOCUMENT, files: { 'Doc_0/Annots/Annotations.xml': list, 'Doc_0/Annots/Page_0.xml': page } };
}

describe('annotations', () => {
  it('draw their appearance at its Boundary, uncut', async () => {
    const { items } = await build('', annotated(annotation(LINE)));
    const [group] = groups(items);
    expect(group).toMatchObject({ matrix: [1, 0, 0, 1, 10, 20], clips: [] });
    expect(paths(group!.items)[0]!.matrix).toEqual([1, 0, 0, 1, 1, 2]);
  });

  it('stand in page space without Boundary, and are not there when invisible', async () => {
    const { items } = await build(
      '',
      annotated(annotation(LINE, 'Type="Path"', ''), annotation(LINE, 'Visible="false"')),
    );
    expect(groups(items).map((group) => group.matrix)).toEqual([[1, 0, 0, 1, 0, 0]]);
  });

  it('of type Link show no line that nobody coloured', async () => {
    const plain = pathXml('M 0 0 L 9 9');
    const { items } = await build(
      '',
      annotated(annotation(plain + LINE, 'Type="Link"'), annotation(plain, 'Type="Path"')),
    );
    expect(groups(items).map((group) => group.items.length)).toEqual([1, 1]);
  });

  it('of type Highlight let text shine through opaque fills', async () => {
    const box = (alpha: string) =>
      pathXml('M 0 0 L 9 9 L 0 9 C', `Fill="true" Stroke="false" ${alpha}`, '<ofd:FillColor Value="255 255 0"/>');
    const { items } = await build('', annotated(annotation(box('') + box('Alpha="100"'), 'Type="Highlight"')));
    expect(paths(groups(items)[0]!.items).map((item) => item.blendMode)).toEqual(['multiply', 'normal']);
  });

  it('say more than they draw, also where they are not shown', async () => {
    const attributes = 'Type="Stamp" Subtype="SignatureInFile" Creator=" C " LastModDate="2020" Visible="false"';
    const inner = '<Remark> note </Remark><Parameters><Parameter Name="fp">x</Parameter></Parameters>';
    const file = annotation('', attributes, 'Boundary="1 2 3 4"').replace('<Appearance', `${inner}<Appearance`);
    const { list } = await build('', annotated(file, '<Annot/>'));
    expect(list.annotations).toEqual([
      {
        id: '90',
        type: 'Stamp',
        subtype: 'SignatureInFile',
        creator: 'C',
        modificationDate: '2020',
        isVisible: false,
        remark: 'note',
        parameters: [{ name: 'fp', value: 'x' }],
        box: { x: 1, y: 2, width: 3, height: 4 },
      },
      { isVisible: true, parameters: [] },
    ]);
    expect((await build('')).list).not.toHaveProperty('annotations');
  });

  it('that are missing are a warning', async () => {
    const { codes } = await build('', DOCUMENT);
    expect(codes).toContain('part_missing');
  });
});

function stampXml(boundary: string, more = '', page = '1001'): string {
  return `<StampAnnot ID="1" PageRef="${page}" Boundary="${boundary}" ${more}/>`;
}

function sealed(type: string, picture: Uint8Array, stamps = stampXml('10 20 40 30')) {
  return {
    docBody: '<ofd:Signatures>/Doc_0/Signs/Signatures.xml</ofd:Signatures>',
    files: {
      'Doc_0/Signs/Signatures.xml': '<Signatures><Signature ID="s1" BaseLoc="S/Signature.xml"/></Signatures>',
      'Doc_0/Signs/S/Signature.xml': `<Signature><SignedInfo>${stamps}</SignedInfo><SignedValue>v.dat</SignedValue></Signature>`,
      'Doc_0/Signs/S/v.dat': signatureV4({ type, picture }),
    },
  };
}

/** One pixel of red, green, blue and opacity. */
function pixel(alpha: number): Uint8Array {
  const bytes = Buffer.from(png(1, 1, 8, 6)).subarray(0, 33);
  const data = deflateSync(Buffer.from([0, 255, 0, 0, alpha]));
  const chunk = (name: string, content: Uint8Array) => {
    const head = Buffer.alloc(8);
    head.writeUInt32BE(content.length);
    head.write(name, 4, 'latin1');
    return Buffer.concat([head, content, Buffer.alloc(4)]);
  };
  return Buffer.concat([bytes, chunk('IDAT', data), chunk('IEND', Buffer.alloc(0))]);
}

describe('seals', () => {
  it('fill the Boundary of their stamps', async () => {
    const stamps = stampXml('10 20 40 30') + stampXml('100 100 20 20') + stampXml('0 0 9 9', '', '1002');
    const { items } = await build('', sealed('png', pixel(0), stamps));
    expect(images(items).map((item) => item.matrix)).toEqual([
      [40, 0, 0, 30, 10, 20],
      [20, 0, 0, 20, 100, 100],
    ]);
    expect(images(items)[0]!.image).toBe(images(items)[1]!.image);
  });

  it('show the part that Clip leaves, counted from Boundary', async () => {
    const { items } = await build('', sealed('png', pixel(0), stampXml('202 40 40 40', 'Clip="0 0 8 40"')));
    const [seal] = images(items);
    expect(seal!.matrix).toEqual([40, 0, 0, 40, 202, 40]);
    expect(extent(seal!.clips[0]!.path)).toEqual([202, 40, 210, 80]);
  });

  it('without transparency hide nothing', async () => {
    const bmp = Buffer.alloc(70);
    bmp.write('BM');
    bmp.writeUInt32LE(54, 10);
    bmp.writeUInt32LE(40, 14);
    bmp.writeInt32LE(1, 18);
    bmp.writeInt32LE(1, 22);
    bmp.writeUInt16LE(1, 26);
    bmp.writeUInt16LE(24, 28);
    const mode = async (type: string, picture: Uint8Array) =>
      images((await build('', sealed(type, picture))).items)[0]!.blendMode;
    expect(await mode('bmp', bmp)).toBe('multiply');
    expect(await mode('png', png(1, 1))).toBe('multiply');
    expect(await mode('png', pixel(255))).toBe('multiply');
    expect(await mode('png', pixel(128))).toBe('normal');
  });

  it('may be packages with ids of their own, scaled from their sheet', async () => {
    const inner = buildOfd({
      physicalBox: '0 0 20 10',
      publicRes: MEDIA,
      pages: [`<ofd:ImageObject ID="1" Boundary="0 0 20 10" ResourceID="10"/>`],
      files: { 'Doc_0/Res/a.png': png(3, 3) },
    });
    const outer = sealed('ofd', Buffer.concat([Buffer.from('junk'), inner]));
    const page = await build('<ofd:ImageObject ID="1" Boundary="0 0 9 9" ResourceID="10"/>', {
      ...outer,
      publicRes: FONTS + MEDIA,
      files: { ...outer.files, 'Doc_0/Res/a.png': png(5, 5) },
    });
    const [seal] = groups(page.items);
    expect(seal!.matrix).toEqual([40, 0, 0, 30, 10, 20]);
    const [sheet] = groups(seal!.items);
    expect(sheet).toMatchObject({ matrix: [0.05, 0, 0, 0.1, 0, 0], isShared: true });
    expect(images(sheet!.items)[0]!.image.widthPx).toBe(3);
    expect(images(page.items)[0]!.image.widthPx).toBe(5);
  });

  it('inside a seal are not looked at', async () => {
    const innermost = sealed('png', pixel(0));
    const inner = buildOfd({ pages: [''], ...innermost });
    const { items } = await build('', sealed('ofd', inner));
    expect(groups(groups(items)[0]!.items)[0]!.items).toEqual([]);
  });

  it('that cannot be shown are a warning and nothing more', async () => {
    const unknown = await build(LINE, sealed('png', Buffer.from('no picture')));
    expect(unknown.items).toHaveLength(1);
    expect(unknown.codes).toContain('image_undecodable');
    const broken = await build(LINE, sealed('ofd', Buffer.from('PK\u0003\u0004 no package')));
    expect(broken.items).toHaveLength(1);
    expect(broken.codes).toContain('seal_unreadable');
  });

  it('lie under annotations, and stand for a stamp annotation at the same place', async () => {
    const seal = sealed('png', pixel(0));
    const marks = annotated(
      annotation(LINE, 'Type="Stamp"', 'Boundary="10.5 20 40 30"'),
      annotation(LINE, 'Type="Stamp"', 'Boundary="60 20 40 30"'),
    );
    const { items } = await build('', { ...seal, ...marks, files: { ...seal.files, ...marks.files } });
    expect(items.map((item) => item.kind)).toEqual(['image', 'group']);
    expect(groups(items)[0]!.matrix).toEqual([1, 0, 0, 1, 60, 20]);
  });
});

describe('pages without text', () => {
  const text = '<ofd:TextObject ID="9" Font="1" Size="4"><ofd:TextCode>a</ofd:TextCode></ofd:TextObject>';

  it('are told of once a document where they show something', async () => {
    const { document, diagnostics } = await open({ pages: ['', text, LINE, LINE], publicRes: FONTS });
    for (let index = 0; index < 4; index++) document.page(index);
    expect(diagnostics).toMatchObject([{ code: 'page_without_text', page: 3 }]);
  });

  it('are not those whose text cannot be seen', async () => {
    const { items, codes } = await build(LINE + text.replace('ID="9"', 'Fill="false"'));
    expect(textOf(items)).toBe('a');
    expect(codes).toEqual([]);
  });
});
