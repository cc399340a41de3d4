import { describe, expect, it } from 'vitest';
import type { Color } from '../../src/display/paint.js';
import { type Contour, cmapFormat4, cmapTable, simpleGlyph, trueType } from '../fonts/make-truetype.js';
import { BLACK, BLUE, type Drawn, draw, filledXml, GREEN, mix, RED, WHITE } from './support.js';

/** A square of 0.8 em on the baseline without its upper right quarter: it shows how it is turned. */
const NOTCHED: Contour = [
  [0, 0, true],
  [0, 800, true],
  [400, 800, true],
  [400, 400, true],
  [800, 400, true],
  [800, 0, true],
];
const FULL: Contour = [
  [0, 0, true],
  [0, 800, true],
  [800, 800, true],
  [800, 0, true],
];
const ADVANCE = 900;

function font(): Uint8Array {
  const [notched, full] = [simpleGlyph([NOTCHED]), simpleGlyph([FULL])];
  const metrics = [0, 1, 2, 3].map(() => [ADVANCE, 0] as const);
  const cmap = cmapTable([3, 1, cmapFormat4({ 97: 1, 98: 2, 30002: 3 })]);
  return trueType({ glyphs: [new Uint8Array(0), notched, full, notched], metrics, tables: { cmap } });
}

async function drawText(objects: string, physicalBox = '0 0 100 80'): Promise<Drawn> {
  return draw({
    pages: [objects],
    physicalBox,
    publicRes: '<ofd:Fonts><ofd:Font ID="2" FontName="Own"><ofd:FontFile>own.ttf</ofd:FontFile></ofd:Font></ofd:Fonts>',
    files: { 'Doc_0/Res/own.ttf': font() },
  });
}

function textXml(boundary: string, attributes: string, code: string, colors = ''): string {
  return `<ofd:TextObject ID="5" Boundary="${boundary}" Font="2" ${attributes}>${colors}${code}</ofd:TextObject>`;
}

describe('ReadDirection and CharDirection', () => {
  const ANGLES = [0, 90, 180, 270];
  const SIZE = 5;
  const turn = (angle: number): readonly [number, number] => {
    const radians = (angle * Math.PI) / 180;
    return [Math.round(Math.cos(radians)), Math.round(Math.sin(radians))];
  };
  /** Where a point of a glyph (in em, y up) at (x, y) lands when the glyph is turned clockwise. */
  const place = (x: number, y: number, angle: number, u: number, v: number): readonly [number, number] => {
    const [cos, sin] = turn(angle);
    return [x + SIZE * (cos * u + sin * v), y + SIZE * (sin * u - cos * v)];
  };
  const quarters = (x: number, y: number, angle: number): readonly (readonly [number, number, Color])[] => [
    [...place(x, y, angle, 0.2, 0.2), BLACK],
    [...place(x, y, angle, 0.2, 0.6), BLACK],
    [...place(x, y, angle, 0.6, 0.2), BLACK],
    [...place(x, y, angle, 0.6, 0.6), WHITE],
  ];
  const cells = ANGLES.flatMap((read, row) =>
    ANGLES.map((char, column) => ({ read, char, x: 15 + 30 * column, y: 15 + 30 * row })),
  );

  it('do not move glyphs whose steps are stated', async () => {
    const xml = cells.map(({ read, char, x, y }) =>
      textXml(
        `${x - 15} ${y - 15} 30 30`,
        `Size="${SIZE}" ReadDirection="${read}" CharDirection="${char}"`,
        '<ofd:TextCode X="15" Y="15" DeltaX="8" DeltaY="-6">aa</ofd:TextCode>',
      ),
    );
    const drawn = await drawText(xml.join(''), '0 0 120 120');
    drawn.expectColors(cells.flatMap(({ char, x, y }) => [...quarters(x, y, char), ...quarters(x + 8, y - 6, char)]));
  });

  it.each([
    ['narrow', 'aa', () => (ADVANCE / 1000) * SIZE],
    // A full em where a wide character stands upright in a column, or lies in a line.
    ['wide', '甲甲', (isAcross: boolean) => (isAcross ? SIZE : (ADVANCE / 1000) * SIZE)],
  ] as const)('give the way of %s glyphs without steps', async (_, characters, step) => {
    const xml = cells.map(({ read, char, x, y }) =>
      textXml(
        `${x - 15} ${y - 15} 30 30`,
        `Size="${SIZE}" ReadDirection="${read}" CharDirection="${char}"`,
        `<ofd:TextCode X="15" Y="15">${characters}</ofd:TextCode>`,
      ),
    );
    const drawn = await drawText(xml.join(''), '0 0 120 120');
    drawn.expectColors(
      cells.flatMap(({ read, char, x, y }) => {
        const way = step((read - char) % 180 !== 0);
        const [alongX, alongY] = turn(read);
        // The first glyph may lie under the second one where they are set backwards; its own quarter is looked at.
        return quarters(x + way * alongX, y + way * alongY, char).filter(([px, py, color]) => {
          const isOfOther = quarters(x, y, char).some(([ox, oy]) => Math.hypot(ox - px, oy - py) < 1.2);
          return color === BLACK || !isOfOther;
        });
      }),
    );
  });

  it('are angles of any sign', async () => {
    const code = '<ofd:TextCode X="0" Y="0" DeltaX="9">ab</ofd:TextCode>';
    const drawn = await drawText(textXml('30 30 20 20', `Size="${SIZE}" CharDirection="-270"`, code));
    drawn.expectColors(quarters(30, 30, 90));
  });
});

const AXIAL =
  '<ofd:AxialShd StartPoint="0 0" EndPoint="40 0" Extend="3"><ofd:Segment Position="0"><ofd:Color Value="255 0 0"/></ofd:Segment>' +
  '<ofd:Segment Position="1"><ofd:Color Value="0 0 255"/></ofd:Segment></ofd:AxialShd>';
const axialAt = (x: number): Color => mix(RED, BLUE, Math.min(1, Math.max(0, (x - 10) / 40)));

describe('paints of text', () => {
  it('shadings stand in the space of Boundary, not moved by CTM', async () => {
    const fill = `<ofd:FillColor>${AXIAL}</ofd:FillColor>`;
    const xml = textXml(
      '10 10 80 40',
      'Size="12.5" CTM="2 0 0 2 0 0"',
      '<ofd:TextCode X="0" Y="12" DeltaX="12">bb</ofd:TextCode>',
      fill,
    );
    const drawn = await drawText(xml);
    // Squares of 20 mm from (10, 14) and (34, 14).
    drawn.expectField([10.5, 14.5, 19, 19], (x) => axialAt(x), 8);
    drawn.expectField([34.5, 14.5, 19, 19], (x) => axialAt(x), 8);
    drawn.expectColors([
      [32, 24, WHITE],
      [20, 35, WHITE],
    ]);
    expect(drawn.pdfText).toBe('bb');
  });

  it('shadings may be translucent', async () => {
    const fill = `<ofd:FillColor Alpha="128">${AXIAL.replace('0 0 255"', '0 0 255" Alpha="0"')}</ofd:FillColor>`;
    const drawn = await drawText(
      textXml('10 10 80 40', 'Size="40"', '<ofd:TextCode X="0" Y="36">b</ofd:TextCode>', fill),
    );
    drawn.expectField([11, 15, 30, 20], (x) => mix(WHITE, axialAt(x), (128 / 255) * (1 - (x - 10) / 40)), 8);
  });

  it('patterns fill it', async () => {
    const cell =
      filledXml('0 0 2 4', '<ofd:FillColor Value="0 255 0"/>') +
      filledXml('2 0 2 4', '<ofd:FillColor Value="0 0 255"/>');
    const fill = `<ofd:FillColor><ofd:Pattern Width="4" Height="4"><ofd:CellContent>${cell}</ofd:CellContent></ofd:Pattern></ofd:FillColor>`;
    const drawn = await drawText(
      textXml('10 10 80 40', 'Size="20"', '<ofd:TextCode X="0" Y="16">b</ofd:TextCode>', fill),
    );
    drawn.expectColors([
      [11, 12, GREEN],
      [13, 12, BLUE],
      [15, 24, GREEN],
      [25, 24, BLUE],
      [27, 24, WHITE],
    ]);
    expect(drawn.pdfText).toBe('b');
  });

  it('shadings and patterns draw its outlines', async () => {
    const cell =
      filledXml('0 0 4 2', '<ofd:FillColor Value="0 255 0"/>') +
      filledXml('0 2 4 2', '<ofd:FillColor Value="0 0 255"/>');
    const pattern = `<ofd:Pattern Width="4" Height="4"><ofd:CellContent>${cell}</ofd:CellContent></ofd:Pattern>`;
    const outlined = (boundary: string, paint: string): string =>
      textXml(
        boundary,
        'Size="25" Stroke="true" Fill="false" LineWidth="3"',
        '<ofd:TextCode X="5" Y="25">b</ofd:TextCode>',
        `<ofd:StrokeColor>${paint}</ofd:StrokeColor>`,
      );
    const drawn = await drawText(outlined('10 10 40 40', AXIAL) + outlined('50 10 40 40', pattern));
    drawn.expectColors(
      [
        ...[
          [15, 25],
          [25, 15],
          [35, 25],
          [25, 35],
        ].map(([x, y]) => [x!, y!, axialAt(x!)] as const),
        ...([
          [25, 25, WHITE],
          [65, 25, WHITE],
        ] as const),
        ...([
          [55, 19, GREEN],
          [55, 21, BLUE],
          [75, 27, GREEN],
          [75, 29, BLUE],
        ] as const),
      ],
      8,
    );
    expect(drawn.pdfText.replace(/\s/g, '')).toBe('bb');
  });
});

describe('text as clip', () => {
  const clip = (areas: string, attributes = ''): string =>
    `<ofd:Clips ${attributes}><ofd:Clip>${areas}</ofd:Clip></ofd:Clips>`;
  const letters = (attributes: string): string =>
    `<ofd:Area><ofd:Text Boundary="2 2 30 30" Font="2" Size="20" ${attributes}><ofd:TextCode X="3" Y="18" DeltaX="20">ba</ofd:TextCode></ofd:Text></ofd:Area>`;
  const red = '<ofd:FillColor Value="255 0 0"/>';

  it('lets through what its outlines cover', async () => {
    const drawn = await drawText(filledXml('10 10 60 40', red + clip(letters(''))));
    // Squares of 16 mm at (15, 14) and (35, 14); the second lacks its upper right quarter.
    drawn.expectColors([
      ...([
        [14.5, 20, WHITE],
        [15.5, 20, RED],
        [30.5, 20, RED],
        [31.5, 20, WHITE],
      ] as const),
      ...([
        [36, 15, RED],
        [50, 15, WHITE],
        [50, 29, RED],
        [36, 29, RED],
        [36, 31, WHITE],
      ] as const),
    ]);
  });

  it('has no paint of its own to go by', async () => {
    const drawn = await drawText(
      filledXml('10 10 60 40', red + clip(letters('Fill="false" Stroke="false" Alpha="0"'))),
    );
    drawn.expectColors([
      [20, 20, RED],
      [33, 20, WHITE],
    ]);
  });

  it('is joined with other areas, and cut by other clips', async () => {
    const area =
      '<ofd:Area><ofd:Path Boundary="0 30 60 10"><ofd:AbbreviatedData>M 0 0 L 60 0 L 60 10 L 0 10 C</ofd:AbbreviatedData></ofd:Path></ofd:Area>';
    const cut =
      '<ofd:Area><ofd:Path><ofd:AbbreviatedData>M 0 0 L 20 0 L 20 40 L 0 40 C</ofd:AbbreviatedData></ofd:Path></ofd:Area>';
    const both = `<ofd:Clips><ofd:Clip>${letters('')}${area}</ofd:Clip><ofd:Clip>${cut}</ofd:Clip></ofd:Clips>`;
    const drawn = await drawText(filledXml('10 10 60 40', red + both));
    drawn.expectColors([
      [20, 20, RED],
      [12, 20, WHITE],
      [12, 45, RED],
      [40, 25, WHITE],
      [40, 45, WHITE],
    ]);
  });

  it('moves with the object where TransFlag says so, and by the CTM of its area', async () => {
    const area = letters('').replace('<ofd:Area>', '<ofd:Area CTM="0.5 0 0 0.5 0 0">');
    const object = (flag: boolean): string =>
      filledXml('10 10 60 40', red + clip(area, `TransFlag="${flag}"`), 'CTM="2 0 0 2 0 0"');
    // Halved by the area, doubled by the object: as above.
    const moved = await drawText(object(true));
    moved.expectColors([
      [15.5, 20, RED],
      [14.5, 20, WHITE],
      [30.5, 29, RED],
      [31.5, 20, WHITE],
    ]);
    const plain = await drawText(object(false));
    plain.expectColors([
      [13, 12.5, RED],
      [12, 15, WHITE],
      [20, 19.5, RED],
      [20, 20.5, WHITE],
      [20.9, 15, WHITE],
    ]);
  });

  it('cuts pictures and text too', async () => {
    const code = '<ofd:TextCode X="0" Y="32">b</ofd:TextCode>';
    const drawn = await drawText(
      textXml('10 10 60 40', 'Size="40"', code, `<ofd:FillColor Value="0 0 255"/>${clip(letters(''))}`),
    );
    drawn.expectColors([
      [20, 20, BLUE],
      [33, 20, WHITE],
      [36, 29, BLUE],
      [43, 15, WHITE],
    ]);
    expect(drawn.pdfText).toBe('b');
  });
});

describe('styles that a face lacks', () => {
  const letter = (attributes: string, x = 20): string =>
    textXml(`${x} 10 30 40`, `Size="20" ${attributes}`, '<ofd:TextCode X="0" Y="30">b</ofd:TextCode>');

  it('bold from weight 700 on: a pen round the outline, 1/32 of the size for large letters', async () => {
    const drawn = await drawText(letter('Weight="700"') + letter('Weight="600"', 60));
    // The square of 16 mm at (20, 24), and half the pen (0.31 mm) around it.
    for (const kind of ['png', 'pdf', 'svg'] as const) {
      expect(drawn.colorAt(kind, 19.82, 32)[0], kind).toBeLessThan(90);
      expect(drawn.colorAt(kind, 19.4, 32)[0], kind).toBeGreaterThan(230);
      expect(drawn.colorAt(kind, 59.7, 32)[0], kind).toBeGreaterThan(160);
    }
  });

  it('bold of small letters: 1/24 of the size', async () => {
    const small = textXml(
      '20 10 60 40',
      'Size="0.3" CTM="10 0 0 10 0 0" Weight="800"',
      '<ofd:TextCode X="0" Y="3">b</ofd:TextCode>',
    );
    const drawn = await drawText(small);
    // Half of 3 / 24 mm is a third of a pixel.
    for (const kind of ['png', 'pdf', 'svg'] as const) expect(drawn.colorAt(kind, 19.9, 39)[0], kind).toBeLessThan(245);
  });

  it('slanted by 12 degrees, along the line of writing', async () => {
    const drawn = await drawText(letter('Italic="true"') + letter('Italic="true" CharDirection="90"', 60));
    const shift = 0.2126 * 16;
    // The upper edge has moved to the right; the lower one has not.
    drawn.expectColors([
      ...([
        [20.5, 39.5, BLACK],
        [35.5, 39.5, BLACK],
        [36.6, 39.5, WHITE],
      ] as const),
      ...([
        [20 + shift - 0.6, 24.5, WHITE],
        [20 + shift + 0.4, 24.5, BLACK],
        [36 + shift - 0.6, 24.5, BLACK],
      ] as const),
      // Turned clockwise, up is to the right and the line goes down.
      ...([
        [60.5, 40.5, BLACK],
        [75.5, 40.5, WHITE],
        [75.5, 40 + shift + 0.4, BLACK],
        [75.5, 56 + shift - 0.6, BLACK],
      ] as const),
    ]);
  });

  it('is stretched by HScale, which leaves the steps alone', async () => {
    const code = '<ofd:TextCode X="0" Y="30" DeltaX="30">bb</ofd:TextCode>';
    const drawn = await drawText(textXml('20 10 70 40', 'Size="20" HScale="0.5"', code));
    drawn.expectColors([
      [20.5, 30, BLACK],
      [27.5, 30, BLACK],
      [28.5, 30, WHITE],
      [50.5, 30, BLACK],
      [57.5, 30, BLACK],
      [58.5, 30, WHITE],
    ]);
  });
});

describe('text that is not seen', () => {
  it('is found all the same', async () => {
    const cover = filledXml('0 0 100 80', '<ofd:FillColor Value="255 255 255"/>');
    const xml =
      textXml('10 10 60 10', 'Size="5"', '<ofd:TextCode X="0" Y="5" DeltaX="5">ab</ofd:TextCode>') +
      cover +
      textXml('10 30 60 10', 'Size="5" Alpha="0"', '<ofd:TextCode X="0" Y="5" DeltaX="5">ba</ofd:TextCode>') +
      textXml('10 50 60 10', 'Size="5" Fill="false"', '<ofd:TextCode X="0" Y="5" DeltaX="5">aa</ofd:TextCode>');
    const drawn = await drawText(xml);
    expect(drawn.pdfText.replace(/\s+/g, ' ')).toBe('ab ba aa');
    expect(drawn.text.split(/\s+/)).toEqual(['ab', 'ba', 'aa']);
    drawn.expectColors([
      [11, 13, WHITE],
      [11, 33, WHITE],
      [11, 53, WHITE],
    ]);
  });
});
