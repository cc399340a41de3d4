import { describe, expect, it } from 'vitest';
import type { Color } from '../../src/display/paint.js';
import { type OfdSpec, ofdParts } from '../support/ofd-builder.js';
import type { ZipFileSpec } from '../support/zip-writer.js';
import { BLUE, draw, filledXml, GREEN, mix, RED, WHITE } from './support.js';

const YELLOW: Color = [255, 255, 0];
const SHEET = '0 0 100 80';

function square(box: string, color: Color, attributes = ''): string {
  return filledXml(box, `<ofd:FillColor Value="${color.join(' ')}"/>`, attributes);
}

function layer(type: string, content: string, attributes = ''): string {
  return `<ofd:Layer ID="2" Type="${type}" ${attributes}>${content}</ofd:Layer>`;
}

describe('several documents in one package', () => {
  it('follow each other, each with its own resources', async () => {
    const content = '<ofd:CompositeObject ID="5" Boundary="10 10 50 50" ResourceID="7"/>';
    const unit = (color: Color): string =>
      `<ofd:CompositeGraphicUnits><ofd:CompositeGraphicUnit ID="7" Width="50" Height="50"><ofd:Content>${square('0 0 20 20', color)}</ofd:Content></ofd:CompositeGraphicUnit></ofd:CompositeGraphicUnits>`;
    const first = { pages: [content], physicalBox: SHEET, publicRes: unit(RED) };
    const second = ofdParts({ pages: [content], physicalBox: SHEET, publicRes: unit(BLUE) });
    const files: Record<string, Uint8Array | string> = {};
    for (const [name, part] of Object.entries(second)) {
      if (name.startsWith('Doc_0/')) files[name.replace('Doc_0', 'Doc_1')] = part;
    }
    files['OFD.xml'] = String(second['OFD.xml']).replace(
      /<ofd:DocBody>.*<\/ofd:DocBody>/s,
      (body) => body + body.replace('Doc_0', 'Doc_1'),
    );
    const spec: OfdSpec = { ...first, files };
    (await draw(spec, 1)).expectColors([[20, 20, RED]]);
    (await draw(spec, 2)).expectColors([[20, 20, BLUE]]);
  });
});

describe('resources of a page', () => {
  const unit = (id: number, color: Color): string =>
    `<Res BaseLoc="."><CompositeGraphicUnits><CompositeGraphicUnit ID="${id}" Width="50" Height="50"><Content>${square('0 0 20 20', color).replaceAll('ofd:', '')}</Content></CompositeGraphicUnit></CompositeGraphicUnits></Res>`;
  const use = (id: number): string => `<ofd:CompositeObject ID="5" Boundary="10 10 50 50" ResourceID="${id}"/>`;
  const page = (res: string, content: string): string =>
    `<ofd:Page>${res}<ofd:Content>${layer('Body', content)}</ofd:Content></ofd:Page>`;
  const spec: OfdSpec = {
    pages: [
      page('<ofd:PageRes>PageRes.xml</ofd:PageRes>', use(7)),
      page('<ofd:PageRes>PageRes.xml</ofd:PageRes>', use(7)),
      use(7),
      use(8),
      use(9),
    ],
    physicalBox: SHEET,
    documentRes: unit(7, GREEN).replace(/<\/?Res[^>]*>/g, ''),
    files: {
      'Doc_0/Pages/Page_0/PageRes.xml': unit(7, RED),
      'Doc_0/Pages/Page_1/PageRes.xml': unit(7, BLUE).replace('</Res>', '') + unit(8, YELLOW).replace(/<Res[^>]*>/, ''),
    },
  };

  it('win over those of the document, on their own page only', async () => {
    (await draw(spec, 1)).expectColors([[20, 20, RED]]);
    (await draw(spec, 2)).expectColors([[20, 20, BLUE]]);
    (await draw(spec, 3)).expectColors([[20, 20, GREEN]]);
  });

  it('help another page only where nothing else defines what it asks for, and that is told', async () => {
    const helped = await draw(spec, 4);
    helped.expectColors([[20, 20, YELLOW]]);
    expect(helped.codes).toEqual(['reference_missing']);
    const lost = await draw(spec, 5);
    lost.expectColors([[20, 20, WHITE]]);
    expect(lost.codes).toEqual(['reference_missing']);
  });
});

describe('templates and layers', () => {
  it('lie class by class, templates under the layers of their class', async () => {
    // From the left, each square is covered by the next in order from (10 + 10·n) on.
    const stripe = (n: number, color: Color): string => square(`${10 + 10 * n} 10 ${80 - 10 * n} 20`, color);
    const colors: Color[] = [RED, GREEN, BLUE, YELLOW, [255, 0, 255], [0, 255, 255]];
    const [a, b, c, d, e, f] = colors.map((color, n) => stripe(n, color));
    const page =
      '<ofd:Page><ofd:Template TemplateID="2003" ZOrder="Foreground"/><ofd:Template TemplateID="2002" ZOrder="Body"/><ofd:Template TemplateID="2001" ZOrder="Background"/>' +
      `<ofd:Content>${layer('Foreground', f!)}${layer('Body', d!)}${layer('Background', b!)}</ofd:Content></ofd:Page>`;
    const drawn = await draw({ pages: [page], templates: [a!, c!, e!], physicalBox: SHEET });
    drawn.expectColors(colors.map((color, n) => [15 + 10 * n, 20, color] as const));
  });
});

describe('objects outside of layers', () => {
  it.each([
    ['between them', (layers: string) => `<ofd:Content>${layers}</ofd:Content>`],
    ['and of any Content', (layers: string) => layers],
  ])('%s are drawn, in their order', async (_, around) => {
    const first = layer('Body', square('10 10 30 30', RED));
    const foreground = layer('Foreground', square('10 30 30 10', BLUE));
    const page = `<ofd:Page>${around(foreground + first + square('20 10 30 30', GREEN) + layer('Body', square('30 10 30 30', YELLOW)))}</ofd:Page>`;
    const drawn = await draw({ pages: [page], physicalBox: SHEET });
    drawn.expectColors([
      [15, 15, RED],
      [25, 15, GREEN],
      [35, 15, YELLOW],
      [35, 35, BLUE],
    ]);
    expect(drawn.codes).toEqual([]);
  });
});

describe('page boxes', () => {
  it('off zero make the sheet and move nothing', async () => {
    const area =
      '<ofd:Area><ofd:PhysicalBox>30 20 60 50</ofd:PhysicalBox><ofd:ApplicationBox>35 25 10 10</ofd:ApplicationBox></ofd:Area>';
    const page = `<ofd:Page>${area}<ofd:Content>${layer('Body', square('10 10 20 20', RED))}</ofd:Content></ofd:Page>`;
    const drawn = await draw({ pages: [page], physicalBox: SHEET });
    drawn.expectColors([
      [11, 11, RED],
      [29, 29, RED],
      [31, 31, WHITE],
      [9, 9, WHITE],
    ]);
    for (const { widthPx, heightPx } of drawn.rasters.values()) {
      // A reader may round up.
      expect(Math.abs(widthPx - 300) + Math.abs(heightPx - 250)).toBeLessThanOrEqual(1);
    }
  });
});

describe('packages', () => {
  const plain: OfdSpec = { pages: [square('10 10 20 20', RED)], physicalBox: SHEET };
  const page = 'Doc_0/Pages/Page_0/Content.xml';
  const recoded = (encode: (text: string) => Uint8Array): OfdSpec => {
    const parts = ofdParts({
      ...plain,
      pages: [
        `${square('10 10 20 20', RED)}<ofd:TextObject ID="5" Boundary="10 50 50 10" Font="1" Size="5"><ofd:TextCode X="0" Y="5">汉字編碼</ofd:TextCode></ofd:TextObject>`,
      ],
    });
    const files = Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, encode(String(part))]));
    return { ...plain, files };
  };
  const utf16 = (text: string, isBigEndian: boolean): Uint8Array => {
    const bytes = Buffer.from(`\ufeff${text.replace('UTF-8', 'UTF-16')}`, 'utf16le');
    return isBigEndian ? bytes.swap16() : bytes;
  };
  /** Only the characters of the test, of which the codes are known. */
  const gb18030 = (text: string): Uint8Array => {
    const codes: Readonly<Record<string, string>> = { 汉: 'baba', 字: 'd7d6', 編: 'be8e', 碼: 'b461' };
    const bytesOf = (char: string): Buffer => {
      const code = codes[char];
      return code === undefined ? Buffer.from(char, 'latin1') : Buffer.from(code, 'hex');
    };
    return Buffer.concat(Array.from(text, bytesOf));
  };

  it.each<readonly [string, OfdSpec]>([
    ['ZIP64', { ...plain, pack: (file: ZipFileSpec) => ({ ...file, zip64: true }) }],
    [
      'backslashes',
      { ...plain, pack: (file: ZipFileSpec) => ({ ...file, name: String(file.name).replaceAll('/', '\\') }) },
    ],
    [
      'backslashes in locations',
      {
        ...plain,
        files: {
          [page]: ofdParts(plain)[page]!,
          'Doc_0/Document.xml': String(ofdParts(plain)['Doc_0/Document.xml']).replaceAll(
            'Pages/Page_0/',
            '.\\Pages\\Page_0\\',
          ),
        },
      },
    ],
    [
      'stored entries with descriptors',
      { ...plain, pack: (file: ZipFileSpec) => ({ ...file, method: 'stored', descriptor: true }) },
    ],
  ])('with %s', async (_, spec) => {
    const drawn = await draw(spec);
    drawn.expectColors([
      [20, 20, RED],
      [40, 20, WHITE],
    ]);
    expect(drawn.codes).toEqual([]);
  });

  it.each<readonly [string, OfdSpec, readonly string[]]>([
    ['UTF-16, low byte first', recoded((text) => utf16(text, false)), []],
    ['UTF-16, high byte first', recoded((text) => utf16(text, true)), []],
    ['GB18030 that is declared', recoded((text) => gb18030(text.replace('UTF-8', 'GB18030'))), []],
    ['GBK that is declared', recoded((text) => gb18030(text.replace('UTF-8', 'GBK'))), []],
    ['GB18030 that is not declared', recoded(gb18030), ['xml_encoding']],
  ])('in %s', async (_, spec, codes) => {
    const drawn = await draw({ ...spec, publicRes: '<ofd:Fonts><ofd:Font ID="1" FontName="SimSun"/></ofd:Fonts>' });
    drawn.expectColors([
      [20, 20, RED],
      [40, 20, WHITE],
    ]);
    expect(drawn.text).toBe('汉字編碼');
    expect(drawn.codes.filter((code) => code === 'xml_encoding')).toEqual(codes);
  });
});

describe('groups', () => {
  const unit = (content: string): string =>
    `<ofd:CompositeGraphicUnits><ofd:CompositeGraphicUnit ID="7" Width="80" Height="60"><ofd:Content>${content}</ofd:Content></ofd:CompositeGraphicUnit></ofd:CompositeGraphicUnits>`;

  it('fade as one picture where their parts overlap', async () => {
    const drawn = await draw({
      pages: [
        `${square('0 0 100 40', BLUE)}<ofd:CompositeObject ID="5" Boundary="10 10 80 60" ResourceID="7" Alpha="128"/>`,
      ],
      physicalBox: SHEET,
      publicRes: unit(square('0 0 40 50', RED) + square('20 0 40 50', GREEN)),
    });
    const half = 128 / 255;
    drawn.expectColors([
      ...([
        [20, 20, mix(BLUE, RED, half)],
        [40, 20, mix(BLUE, GREEN, half)],
        [60, 20, mix(BLUE, GREEN, half)],
      ] as const),
      ...([
        [20, 50, mix(WHITE, RED, half)],
        [40, 50, mix(WHITE, GREEN, half)],
        [80, 50, WHITE],
      ] as const),
    ]);
  });

  it('pass on what they and their DrawParams say, through chains of Relative', async () => {
    const line = (attributes: string): string =>
      `<ofd:PathObject ID="9" Boundary="0 0 60 40" ${attributes}><ofd:AbbreviatedData>M 5 20 L 55 20</ofd:AbbreviatedData></ofd:PathObject>`;
    const params =
      '<ofd:DrawParams><ofd:DrawParam ID="20" Relative="21"><ofd:StrokeColor Value="255 0 0"/></ofd:DrawParam><ofd:DrawParam ID="21" Relative="22" LineWidth="6"/>' +
      '<ofd:DrawParam ID="22" LineWidth="20" Cap="Square" Relative="20"><ofd:StrokeColor Value="0 255 0"/></ofd:DrawParam></ofd:DrawParams>';
    const drawn = await draw({
      pages: ['<ofd:CompositeObject ID="5" Boundary="10 10 80 60" ResourceID="7" DrawParam="20"/>'],
      physicalBox: SHEET,
      publicRes: unit(line('')) + params,
    });
    // Six wide, red, with square ends.
    drawn.expectColors([
      [40, 30, RED],
      [40, 28, RED],
      [40, 26, WHITE],
      [13.5, 30, RED],
      [67, 30, RED],
      [69, 30, WHITE],
    ]);
  });
});

describe('BlendMode', () => {
  const BELOW: Color = [200, 120, 40];
  const ABOVE: Color = [100, 160, 220];
  const screen = (a: number, b: number): number => 255 - ((255 - a) * (255 - b)) / 255;
  const multiply = (a: number, b: number): number => (a * b) / 255;
  const each = (blend: (below: number, above: number) => number): Color =>
    [0, 1, 2].map((i) => blend(BELOW[i]!, ABOVE[i]!)) as unknown as Color;

  it.each<readonly [string, Color]>([
    ['Multiply', each(multiply)],
    ['screen', each(screen)],
    ['Darken', each(Math.min)],
    ['Lighten', each(Math.max)],
    ['Difference', each((a, b) => Math.abs(a - b))],
    ['Exclusion', each((a, b) => a + b - (2 * a * b) / 255)],
    ['HardLight', each((a, b) => (b <= 127.5 ? multiply(a, 2 * b) : screen(a, 2 * b - 255)))],
    ['Overlay', each((a, b) => (a <= 127.5 ? multiply(b, 2 * a) : screen(b, 2 * a - 255)))],
    ['color-dodge', each((a, b) => Math.min(255, (255 * a) / (255 - b)))],
    ['Color Burn', each((a, b) => 255 - Math.min(255, (255 * (255 - a)) / b))],
    ['Normal', ABOVE],
  ])('%s', async (mode, wanted) => {
    const drawn = await draw(square('10 10 60 40', BELOW) + square('30 20 20 20', ABOVE, `BlendMode="${mode}"`));
    drawn.expectColors([
      [40, 30, wanted],
      [20, 30, BELOW],
    ]);
    expect(drawn.codes).toEqual([]);
  });

  it('that nobody knows is told', async () => {
    const drawn = await draw(square('10 10 60 40', BELOW, 'BlendMode="Sparkle"'));
    drawn.expectColors([[40, 30, BELOW]]);
    expect(drawn.codes).toEqual(['unsupported']);
  });
});

describe('what cannot be drawn is told', () => {
  it.each<readonly [string, string, string]>([
    ['objects of unknown kinds', '<ofd:VideoObject ID="5" Boundary="10 10 20 20"/>', 'unsupported'],
    ['elements with a place', '<ofd:Sparkle ID="5" Boundary="10 10 20 20"/>', 'unsupported'],
    ['elements without one', '<ofd:Sparkle ID="5"/>', 'unsupported'],
    [
      'colours of unknown kinds',
      filledXml('10 10 20 20', '<ofd:FillColor Value="1 2 3"><ofd:Rainbow/></ofd:FillColor>'),
      'unsupported',
    ],
    [
      'colour spaces of unknown kinds',
      filledXml('10 10 20 20', '<ofd:FillColor Value="1 2 3" ColorSpace="8"/>'),
      'unsupported',
    ],
    [
      'text of no size',
      '<ofd:TextObject ID="5" Boundary="10 10 20 20" Font="1" Size="0"><ofd:TextCode>a</ofd:TextCode></ofd:TextObject>',
      'object_invalid',
    ],
    ['objects that are flattened', square('10 10 20 20', RED, 'CTM="0 0 0 0 0 0"'), 'object_invalid'],
    [
      'shadings without colours',
      filledXml('10 10 20 20', '<ofd:FillColor><ofd:AxialShd StartPoint="0 0" EndPoint="9 9"/></ofd:FillColor>'),
      'paint_invalid',
    ],
    ['colours of two values', filledXml('10 10 20 20', '<ofd:FillColor Value="1 2"/>'), 'paint_invalid'],
    ['units of nothing', '<ofd:CompositeObject ID="5" Boundary="10 10 20 20" ResourceID="7"/>', 'object_invalid'],
    [
      'clips by other things',
      square('10 10 20 20', RED).replace(
        '<ofd:Abbr',
        '<ofd:Clips><ofd:Clip><ofd:Area><ofd:Image/></ofd:Area></ofd:Clip></ofd:Clips><ofd:Abbr',
      ),
      'unsupported',
    ],
    [
      'paths that make no sense',
      '<ofd:PathObject ID="5" Boundary="10 10 20 20"><ofd:AbbreviatedData>M 0 0 L 9 X 5</ofd:AbbreviatedData></ofd:PathObject>',
      'path_malformed',
    ],
    ['a template without a name', '<ofd:Page><ofd:Template/><ofd:Content/></ofd:Page>', 'reference_missing'],
  ])('%s', async (_, xml, code) => {
    const publicRes =
      '<ofd:Fonts><ofd:Font ID="1" FontName="SimSun"/></ofd:Fonts><ofd:CompositeGraphicUnits><ofd:CompositeGraphicUnit ID="7" Width="9" Height="9"/></ofd:CompositeGraphicUnits><ofd:ColorSpaces><ofd:ColorSpace ID="8" Type="LAB"/></ofd:ColorSpaces>';
    expect((await draw({ pages: [xml], physicalBox: SHEET, publicRes })).codes).toEqual([code]);
  });
});
