import { describe, expect, it } from 'vitest';
import type { Color } from '../../src/display/paint.js';
import { makeJpeg, makePng } from '../images/make-images.js';
import { ALPHA_JP2, GRAY_JP2, RGB_JP2 } from '../images/samples.js';
import { BLACK, BLUE, type Drawn, draw, filledXml, GREEN, mix, RED, WHITE } from './support.js';

const YELLOW: Color = [255, 255, 0];

/** Rows of colours as a PNG. */
function picture(...rows: readonly (readonly Color[])[]): Uint8Array {
  const lines = rows.map((row) => Uint8Array.from(row.flat()));
  return makePng({ width: rows[0]!.length, height: rows.length, bitDepth: 8, colorType: 2, rows: lines });
}

const FLAG = picture([RED, GREEN], [BLUE, YELLOW]);

function imageXml(box: string, attributes: string, border = ''): string {
  return `<ofd:ImageObject ID="7" Boundary="${box}" ${attributes}>${border}</ofd:ImageObject>`;
}

async function drawImages(objects: string, files: Readonly<Record<string, Uint8Array>>): Promise<Drawn> {
  const names = Object.keys(files);
  const media = names.map(
    (name, i) => `<ofd:MultiMedia ID="${10 + i}" Type="Image"><ofd:MediaFile>${name}</ofd:MediaFile></ofd:MultiMedia>`,
  );
  return draw({
    pages: [objects],
    physicalBox: '0 0 100 80',
    documentRes: `<ofd:MultiMedias>${media.join('')}</ofd:MultiMedias>`,
    files: Object.fromEntries(names.map((name) => [`Doc_0/Res/${name}`, files[name]!])),
  });
}

describe('ImageMask', () => {
  const ground = filledXml('0 0 100 80', '<ofd:FillColor Value="0 0 255"/>');
  const object = imageXml('10 10 40 40', 'ResourceID="10" ImageMask="11"');
  const red = picture([RED, RED], [RED, RED]);

  it('shows where it is white, hides where it is black', async () => {
    const mask = makePng({
      width: 2,
      height: 2,
      bitDepth: 1,
      colorType: 0,
      rows: [Uint8Array.of(0x40), Uint8Array.of(0x80)],
    });
    const drawn = await drawImages(ground + object, { 'a.png': red, 'mask.png': mask });
    drawn.expectColors([
      [20, 20, BLUE],
      [40, 20, RED],
      [20, 40, RED],
      [40, 40, BLUE],
    ]);
  });

  it('may be grey, and of another size than the picture', async () => {
    const rows = [0, 64, 128, 255].map((level) => Uint8Array.of(level));
    const mask = makePng({ width: 1, height: 4, bitDepth: 8, colorType: 0, rows });
    const drawn = await drawImages(ground + object, {
      'a.png': picture(...Array(16).fill([RED, RED])),
      'mask.png': mask,
    });
    const shown = [0, 64, 128, 255].map((level) => mix(BLUE, RED, level / 255));
    drawn.expectColors(shown.map((color, i) => [30, 15 + 10 * i, color] as const));
  });

  it('multiplies with the opacity of the picture and of the object', async () => {
    const half = makePng({ width: 1, height: 1, bitDepth: 8, colorType: 6, rows: [Uint8Array.of(255, 0, 0, 128)] });
    const mask = makePng({ width: 2, height: 1, bitDepth: 8, colorType: 0, rows: [Uint8Array.of(255, 128)] });
    const xml = ground + imageXml('10 10 40 40', 'ResourceID="10" ImageMask="11" Alpha="204"');
    const drawn = await drawImages(xml, { 'a.png': half, 'mask.png': mask });
    const alpha = (128 / 255) * (204 / 255);
    drawn.expectColors([
      [15, 30, mix(BLUE, RED, alpha)],
      [45, 30, mix(BLUE, RED, (alpha * 128) / 255)],
    ]);
  });

  it('that is missing leaves the picture whole, with a warning', async () => {
    const drawn = await drawImages(imageXml('10 10 40 40', 'ResourceID="10" ImageMask="99"'), { 'a.png': FLAG });
    drawn.expectColors([
      [15, 15, RED],
      [45, 45, YELLOW],
    ]);
    expect(drawn.codes).toEqual(['image_missing']);
  });
});

describe('Border', () => {
  const plain = { 'a.png': picture([YELLOW]) };

  it('runs along Boundary, over the picture, in its own colour and width', async () => {
    const border = '<ofd:Border LineWidth="4"><ofd:BorderColor Value="255 0 0"/></ofd:Border>';
    const drawn = await drawImages(imageXml('20 20 40 30', 'ResourceID="10" CTM="20 0 0 15 0 0"', border), plain);
    drawn.expectColors([
      ...([
        [18.5, 30, RED],
        [21.5, 30, RED],
        [17.5, 30, WHITE],
        [22.5, 30, YELLOW],
      ] as const),
      ...([
        [40, 48.5, RED],
        [40, 51.5, RED],
        [40, 52.5, WHITE],
        [45, 40, WHITE],
        [18.3, 18.3, RED],
      ] as const),
    ]);
  });

  it('is black and of 0.353 mm where it says nothing, and none where it has no width', async () => {
    const xml =
      imageXml('10 10 20 20', 'ResourceID="10"', '<ofd:Border/>') +
      imageXml('40 10 20 20', 'ResourceID="10"', '<ofd:Border LineWidth="0"/>');
    const drawn = await drawImages(xml, plain);
    const darkest = (kind: 'png' | 'pdf' | 'svg', from: number): number => {
      const levels = [-0.3, -0.1, 0, 0.1, 0.3].map((offset) => drawn.colorAt(kind, from + offset, 20)[0]);
      return Math.min(...levels);
    };
    for (const kind of ['png', 'pdf', 'svg'] as const) {
      expect(darkest(kind, 10), kind).toBeLessThan(110);
      expect(darkest(kind, 40), kind).toBeGreaterThan(240);
    }
  });

  it('has rounded corners, which cut the picture', async () => {
    const border =
      '<ofd:Border LineWidth="1" HorizonalCornerRadius="12" VerticalCornerRadius="8"><ofd:BorderColor Value="0 0 255"/></ofd:Border>';
    const drawn = await drawImages(imageXml('20 20 40 30', 'ResourceID="10"', border), plain);
    // On the ellipse about (32, 28) at 45°.
    const x = 32 - 12 * Math.SQRT1_2;
    const y = 28 - 8 * Math.SQRT1_2;
    drawn.expectColors(
      [
        [x, y, BLUE],
        [x - 1.2, y - 1.2, WHITE],
        [x + 1.2, y + 1.2, YELLOW],
        [20.2, 20.2, WHITE],
      ],
      60,
    );
    drawn.expectColors([
      [40, 20, BLUE],
      [60, 35, BLUE],
    ]);
  });

  it('is dashed from the top left corner on, clockwise', async () => {
    const border = '<ofd:Border LineWidth="2" DashPattern="8 4"/>';
    const drawn = await drawImages(imageXml('20 20 40 30', 'ResourceID="10"', border), { 'a.png': picture([WHITE]) });
    // 40 mm of the upper side are three periods and four millimetres of the fourth dash, which goes on down.
    drawn.expectColors([
      ...([
        [24, 20, BLACK],
        [30, 20, WHITE],
        [36, 20, BLACK],
        [42, 20, WHITE],
        [58, 20, BLACK],
      ] as const),
      ...([
        [60, 22, BLACK],
        [60, 26, WHITE],
        [60, 30, BLACK],
        [60, 38, WHITE],
      ] as const),
    ]);
  });

  it('has a dash offset and stands without its picture', async () => {
    const border = '<ofd:Border LineWidth="2" DashPattern="8 4" DashOffset="6"/>';
    const drawn = await drawImages(imageXml('20 20 40 30', 'ResourceID="99"', border), plain);
    drawn.expectColors([
      [20.9, 20, BLACK],
      [24, 20, WHITE],
      [29, 20, BLACK],
      [40, 35, WHITE],
    ]);
  });
});

describe('Substitution', () => {
  const cut = FLAG.slice();
  cut.fill(0xff, 41);
  const xml = imageXml('10 10 40 40', 'ResourceID="10" Substitution="11"');
  const quarters = [
    [15, 15, RED],
    [45, 15, GREEN],
    [15, 45, BLUE],
    [45, 45, YELLOW],
  ] as const;

  it.each([
    ['is no picture', new TextEncoder().encode('<svg xmlns="http://www.w3.org/2000/svg"/>')],
    ['cannot be decoded', cut],
  ])('stands in for a picture that %s', async (_, bytes) => {
    const drawn = await drawImages(xml, { 'a.png': bytes, 'b.png': FLAG });
    drawn.expectColors(quarters);
    expect(new Set(drawn.codes)).toEqual(new Set(['image_undecodable']));
  });

  it('is not drawn where the picture is there', async () => {
    const drawn = await drawImages(xml, { 'a.png': FLAG, 'b.png': picture([BLACK]) });
    drawn.expectColors(quarters);
    expect(drawn.codes).toEqual([]);
  });

  it('that cannot be read either leaves nothing', async () => {
    const drawn = await drawImages(xml, { 'a.png': cut, 'b.png': cut.slice(0, 60) });
    drawn.expectColors([[15, 15, WHITE]]);
  });
});

describe('formats', () => {
  it('JPEG 2000, with opacity and grey', async () => {
    const xml = imageXml('10 10 40 20', 'ResourceID="10"') + imageXml('10 40 40 20', 'ResourceID="11"');
    const drawn = await drawImages(xml, { 'a.jp2': ALPHA_JP2, 'b.jp2': GRAY_JP2 });
    const over = (color: Color): Color => mix(WHITE, color, 100 / 255);
    drawn.expectColors([
      ...([
        [15, 14, over(BLUE)],
        [45, 25, over(RED)],
      ] as const),
      ...([
        [15, 44, [29, 29, 29]],
        [45, 55, [76, 76, 76]],
      ] as const),
    ]);
    expect(drawn.codes).toEqual([]);
  });

  it('JPEG 2000 as it is coded, in its colours and as a mask', async () => {
    const drawn = await drawImages(
      imageXml('10 10 20 20', 'ResourceID="10"') + imageXml('40 10 20 20', 'ResourceID="10" ImageMask="11"'),
      { 'a.jp2': RGB_JP2, 'mask.jp2': GRAY_JP2 },
    );
    drawn.expectColors([
      [14, 14, BLUE],
      [26, 26, RED],
      [44, 14, mix(WHITE, BLUE, 29 / 255)],
      [56, 26, mix(WHITE, RED, 76 / 255)],
    ]);
    expect(drawn.codes).toEqual([]);
  });

  it('JPEG of inks, with inverted values as Adobe writes them', async () => {
    const blocks = [
      [255, 255, 255, 255],
      [0, 255, 255, 255],
      [255, 255, 0, 255],
      [255, 255, 255, 128],
    ];
    const drawn = await drawImages(imageXml('10 10 80 20', 'ResourceID="10"'), {
      'a.jpg': makeJpeg({ blocks, adobeTransform: 0 }),
    });
    // Each channel is (1 − ink)·(1 − black).
    drawn.expectColors([
      [20, 20, WHITE],
      [40, 20, [0, 255, 255]],
      [60, 20, YELLOW],
      [80, 20, [128, 128, 128]],
    ]);
    expect(drawn.codes).toEqual([]);
  });

  it.each([
    ['WMF', Uint8Array.from([1, 0, 9, 0, 0, 3, ...Array<number>(40).fill(0)])],
    [
      'EMF',
      Uint8Array.from([1, 0, 0, 0, ...Array<number>(36).fill(0), ...Buffer.from(' EMF'), ...Array<number>(60).fill(0)]),
    ],
    ['SVG', new TextEncoder().encode('<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>')],
  ])('%s is left out with a warning that names it', async (name, bytes) => {
    const drawn = await drawImages(imageXml('10 10 40 40', 'ResourceID="10"'), { 'a.x': bytes });
    drawn.expectColors([[30, 30, WHITE]]);
    expect(drawn.codes).toEqual(['image_undecodable']);
    expect(drawn.diagnostics.find(({ code }) => code === 'image_undecodable')?.message).toContain(name);
  });
});
