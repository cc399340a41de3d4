import { describe, expect, it } from 'vitest';
import type { Color } from '../../src/display/paint.js';
import { readProfile } from '../../src/ofd/icc.js';
import { curve, formula, profile, type Tag, xyz } from './make-profile.js';
import { BLACK, type Drawn, draw, filledXml, WHITE } from './support.js';

/** One square of 8 mm a fill, in rows of eight. */
async function swatches(
  fills: readonly string[],
  spaces = '',
  more: { readonly commonData?: string; readonly files?: Readonly<Record<string, Uint8Array>> } = {},
): Promise<Drawn> {
  const squares = fills.map((fill, i) =>
    filledXml(`${2 + 10 * (i % 8)} ${2 + 10 * Math.floor(i / 8)} 8 8`, `<ofd:FillColor ${fill}/>`),
  );
  const publicRes = `<ofd:ColorSpaces>${spaces}</ofd:ColorSpaces>`;
  return draw({ pages: [squares.join('')], physicalBox: '0 0 90 60', publicRes, ...more });
}

function expectSwatches(drawn: Drawn, colors: readonly Color[]): void {
  drawn.expectColors(
    colors.map((color, i) => [6 + 10 * (i % 8), 6 + 10 * Math.floor(i / 8), color] as const),
    2,
  );
}

const grey = (level: number): Color => [level, level, level];

/** The weights of full inks and their looks, from the table of the format reference. */
function printed(c: number, m: number, y: number, k: number): Color {
  const corners: Readonly<Record<string, Color>> = {
    '0000': [1, 1, 1],
    '0001': [0.1373, 0.1216, 0.1255],
    '0010': [1, 0.949, 0],
    '0011': [0.1098, 0.102, 0],
    '0100': [0.9255, 0, 0.549],
    '0101': [0.1412, 0, 0],
    '0110': [0.9294, 0.1098, 0.1412],
    '0111': [0.1333, 0, 0],
    '1000': [0, 0.6784, 0.9373],
    '1001': [0, 0.0588, 0.1412],
    '1010': [0, 0.651, 0.3137],
    '1011': [0, 0.0745, 0],
    '1100': [0.1804, 0.1922, 0.5725],
    '1101': [0, 0, 0.0078],
    '1110': [0.2118, 0.2119, 0.2235],
    '1111': [0, 0, 0],
  };
  const sum: [number, number, number] = [0, 0, 0];
  for (const [inks, look] of Object.entries(corners)) {
    const weight = [c, m, y, k].reduce((product, ink, i) => product * (inks[i] === '1' ? ink : 1 - ink), 1);
    for (let i = 0; i < 3; i++) sum[i]! += 255 * weight * look[i]!;
  }
  return sum;
}

describe('colour spaces', () => {
  it.each([1, 2, 4, 8, 16])('have channels of %i bits', async (bits) => {
    const most = 2 ** bits - 1;
    const some = Math.ceil(most / 3);
    const spaces = ['GRAY', 'RGB', 'CMYK']
      .map((type, i) => `<ofd:ColorSpace ID="${30 + i}" Type="${type}" BitsPerComponent="${bits}"/>`)
      .join('');
    const hex = (value: number) => `#${value.toString(16)}`;
    const drawn = await swatches(
      [
        `ColorSpace="30" Value="${some}"`,
        `ColorSpace="30" Value="${hex(most)}"`,
        `ColorSpace="31" Value="${most} ${hex(some)} 0"`,
        `ColorSpace="31" Value="${most + 1} -1 ${most}"`,
        `ColorSpace="32" Value="${some} 0 ${hex(most)} 0"`,
        `ColorSpace="32" Value="0 0 0 ${most}"`,
        'ColorSpace="30"',
        'ColorSpace="32"',
      ],
      spaces,
    );
    const part = some / most;
    expectSwatches(drawn, [
      grey(255 * part),
      WHITE,
      [255, 255 * part, 0],
      [255, 0, 255],
      printed(part, 0, 1, 0),
      printed(0, 0, 0, 1),
      BLACK,
      WHITE,
    ]);
  });

  it('give the looks of inks that printers know', async () => {
    const inks = ['255 0 0 0', '0 255 0 0', '0 0 255 0', '0 0 0 255', '113 21 243 33'];
    const drawn = await swatches(inks.map((value) => `Value="${value}"`));
    expectSwatches(drawn, [
      [0, 173, 239],
      [236, 0, 140],
      [255, 242, 0],
      [35, 31, 32],
      [127, 172, 40],
    ]);
  });

  it('have palettes; a value wins over an index, and an index beyond the palette is the default', async () => {
    const spaces =
      '<ofd:ColorSpace ID="30" Type="RGB"><ofd:Palette><ofd:CV>255 0 0</ofd:CV><ofd:CV>#0 #80 #FF</ofd:CV></ofd:Palette></ofd:ColorSpace>' +
      '<ofd:ColorSpace ID="31" Type="GRAY" BitsPerComponent="4"><ofd:Palette><ofd:CV>15</ofd:CV><ofd:CV>5</ofd:CV></ofd:Palette></ofd:ColorSpace>';
    const drawn = await swatches(
      [
        'ColorSpace="30" Index="0"',
        'ColorSpace="30" Index="1"',
        'ColorSpace="30" Index="2"',
        'ColorSpace="30" Index="1" Value="0 255 0"',
        'ColorSpace="31" Index="0"',
        'ColorSpace="31" Index="1"',
        'Index="1"',
      ],
      spaces,
    );
    expectSwatches(drawn, [[255, 0, 0], [0, 128, 255], BLACK, [0, 255, 0], WHITE, grey(85), BLACK]);
  });

  it('default to DefaultCS, and to the number of values where that does not fit', async () => {
    const spaces = '<ofd:ColorSpace ID="30" Type="CMYK" BitsPerComponent="4"/>';
    const drawn = await swatches(
      ['Value="0 15 0 0"', 'Value="255 128 0"', 'Value="200"', 'ColorSpace="77" Value="0 0 15 0"', ''],
      spaces,
      { commonData: '<ofd:DefaultCS>30</ofd:DefaultCS>' },
    );
    expectSwatches(drawn, [printed(0, 1, 0, 0), [255, 128, 0], grey(200), printed(0, 0, 1, 0), WHITE]);
    expect(drawn.codes).toContain('reference_missing');
  });

  it('read values as producers write them', async () => {
    const values = ['255.0 0.0 0.0', '255,128,0', '#FF8000', '#FF #80 #0', ' 12  34\t56 ', '128'];
    const drawn = await swatches(values.map((value) => `Value="${value}"`));
    expectSwatches(drawn, [[255, 0, 0], [255, 128, 0], [255, 128, 0], [255, 128, 0], [12, 34, 56], grey(128)]);
  });
});

const SRGB_CURVE = formula(3, 2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045);
const SRGB: readonly Tag[] = [
  ['rXYZ', xyz(0.43607, 0.22249, 0.01392)],
  ['gXYZ', xyz(0.38515, 0.71687, 0.09708)],
  ['bXYZ', xyz(0.14307, 0.06061, 0.7141)],
];
const curves = (content: Buffer): readonly Tag[] => ['rTRC', 'gTRC', 'bTRC'].map((tag) => [tag, content] as const);

function encode(linear: number): number {
  return 255 * (linear <= 0.0031308 ? 12.92 * linear : 1.055 * linear ** (1 / 2.4) - 0.055);
}

describe('colour profiles', () => {
  it('of sRGB change nothing, those of others do', async () => {
    // The primaries of Adobe RGB, brought to D50; its own way to sRGB goes through D65.
    const wide: readonly Tag[] = [
      ['rXYZ', xyz(0.60974, 0.31111, 0.01947)],
      ['gXYZ', xyz(0.20528, 0.62567, 0.06087)],
      ['bXYZ', xyz(0.14919, 0.06322, 0.74457)],
      ...curves(curve(2.19921875)),
    ];
    const spaces =
      '<ofd:ColorSpace ID="30" Type="RGB" Profile="srgb.icc"/><ofd:ColorSpace ID="31" Type="RGB" Profile="wide.icc"/>' +
      '<ofd:ColorSpace ID="32" Type="GRAY" Profile="gray.icc"/>';
    const drawn = await swatches(
      ['ColorSpace="30" Value="200 100 50"', 'ColorSpace="31" Value="150 120 100"', 'ColorSpace="32" Value="128"'],
      spaces,
      {
        files: {
          'Doc_0/Res/srgb.icc': profile('RGB', [...SRGB, ...curves(SRGB_CURVE)]),
          'Doc_0/Res/wide.icc': profile('RGB', wide),
          'Doc_0/Res/gray.icc': profile('GRAY', [['kTRC', curve(1.8)]]),
        },
      },
    );
    const [r, g, b] = [150, 120, 100].map((value) => (value / 255) ** 2.19921875) as [number, number, number];
    const x = 0.5767309 * r + 0.185554 * g + 0.1881852 * b;
    const y = 0.2973769 * r + 0.6273491 * g + 0.0752741 * b;
    const z = 0.0270343 * r + 0.0706872 * g + 0.9911085 * b;
    const adobe: Color = [
      encode(3.2404542 * x - 1.5371385 * y - 0.4985314 * z),
      encode(-0.969266 * x + 1.8760108 * y + 0.041556 * z),
      encode(0.0556434 * x - 0.2040259 * y + 1.0572252 * z),
    ];
    expectSwatches(drawn, [[200, 100, 50], adobe, grey(encode((128 / 255) ** 1.8))]);
    expect(drawn.codes).toEqual([]);
  });

  it('that cannot be used are named, and the formula of the type holds', async () => {
    const spaces = ['none.icc', 'text.icc', 'wrong.icc', 'table.icc']
      .map((name, i) => `<ofd:ColorSpace ID="${30 + i}" Type="RGB" Profile="${name}"/>`)
      .concat('<ofd:ColorSpace ID="34" Type="CMYK" Profile="cmyk.icc"/>');
    const drawn = await swatches(
      [...[30, 31, 32, 33].map((id) => `ColorSpace="${id}" Value="200 100 50"`), 'ColorSpace="34" Value="255 0 0 0"'],
      spaces.join(''),
      {
        files: {
          'Doc_0/Res/text.icc': new TextEncoder().encode('no profile'),
          'Doc_0/Res/wrong.icc': profile('GRAY', [['kTRC', curve()]]),
          'Doc_0/Res/table.icc': profile('RGB', [['A2B0', Buffer.alloc(40)]]),
          'Doc_0/Res/cmyk.icc': profile('CMYK', [['A2B0', Buffer.alloc(40)]]),
        },
      },
    );
    expectSwatches(drawn, [...Array<Color>(4).fill([200, 100, 50]), [0, 173, 239]]);
    expect(drawn.codes).toEqual(Array(5).fill('profile_ignored'));
  });

  const level = (tag: Buffer, value: number, connection = 'XYZ '): number => {
    const transform = readProfile(profile('GRAY', [['kTRC', tag]], connection), 'GRAY');
    return typeof transform === 'function' ? transform([value])[0] : Number.NaN;
  };

  it.each([
    ['the identity', curve(), 0.4],
    ['a power', curve(2), 0.16],
    ['a table', curve(0, 0.5, 1), 0.4],
    ['a bent table', curve(0, 0.2, 1), 0.16],
    ['formula 0', formula(0, 3), 0.064],
    ['formula 1', formula(1, 2, 1, -0.2), 0.04],
    ['formula 1 below its start', formula(1, 2, 1, -0.5), 0],
    ['formula 2', formula(2, 2, 1, -0.2, 0.1), 0.14],
    ['formula 3 below its start', formula(3, 2, 1, 0, 0.25, 0.5), 0.1],
    ['formula 4', formula(4, 2, 1, 0, 0.25, 0.1, 0.05, 0), 0.21],
    ['formula 4 below its start', formula(4, 2, 1, 0, 0.25, 0.5, 0, 0.1), 0.2],
  ] as const)('have curves: %s', (_, tag, linear) => {
    expect(level(tag, 0.4)).toBeCloseTo(encode(linear), 0);
  });

  it('for grey may speak of lightness', () => {
    // L* 50 is a luminance of 0.184.
    expect(level(curve(), 0.5, 'Lab ')).toBeCloseTo(encode(0.18419), 1);
  });

  it.each([0, 100, 131, 132, 150, 200])('cut after %i bytes are refused', (length) => {
    const whole = profile('GRAY', [['kTRC', curve(...Array<number>(50).fill(0.5))]]);
    expect(readProfile(whole.subarray(0, length), 'GRAY')).toHaveProperty('fault');
  });
});
