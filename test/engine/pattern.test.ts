import { describe, expect, it } from 'vitest';
import type { Color } from '../../src/display/paint.js';
import { BLUE, draw, filledXml, GREEN, RED, WHITE } from './support.js';

/** Four quarters of a cell of 6 × 4 mm: red and green over blue and nothing. */
const CELL = [
  filledXml('0 0 3 2', '<ofd:FillColor Value="255 0 0"/>'),
  filledXml('3 0 3 2', '<ofd:FillColor Value="0 255 0"/>'),
  filledXml('0 2 3 2', '<ofd:FillColor Value="0 0 255"/>'),
].join('');

function patternXml(attributes: string, cell = CELL): string {
  return `<ofd:FillColor><ofd:Pattern Width="6" Height="4" ${attributes}><ofd:CellContent>${cell}</ofd:CellContent></ofd:Pattern></ofd:FillColor>`;
}

interface Grid {
  readonly xStep?: number;
  readonly yStep?: number;
  readonly method?: 'Row' | 'Column' | 'RowAndColumn';
}

/** The colour of the tiling at a point of its own space, by the placement of cells; undefined near an edge. */
function tiled(x: number, y: number, { xStep = 6, yStep = 4, method }: Grid): Color | undefined {
  const column = Math.floor(x / xStep);
  const row = Math.floor(y / yStep);
  let u = x - column * xStep;
  let v = y - row * yStep;
  if (u > 6.3 || v > 4.3) return xStep - u < 0.3 || yStep - v < 0.3 ? undefined : WHITE;
  if (
    [0, 3, 6, xStep].some((edge) => Math.abs(u - edge) < 0.3) ||
    [0, 2, 4, yStep].some((edge) => Math.abs(v - edge) < 0.3)
  ) {
    return undefined;
  }
  if ((method === 'Column' || method === 'RowAndColumn') && column % 2 !== 0) u = 6 - u;
  if ((method === 'Row' || method === 'RowAndColumn') && row % 2 !== 0) v = 4 - v;
  if (v < 2) return u < 3 ? RED : GREEN;
  return u < 3 ? BLUE : WHITE;
}

describe('Pattern', () => {
  it.each([undefined, 'Row', 'Column', 'RowAndColumn'] as const)('ReflectMethod %s, with gaps', async (method) => {
    const grid: Grid = { xStep: 8, yStep: 7, ...(method === undefined ? {} : { method }) };
    const attributes = `XStep="8" YStep="7" ${method === undefined ? '' : `ReflectMethod="${method}"`}`;
    const drawn = await draw(filledXml('10 10 60 40', patternXml(attributes)));
    drawn.expectField([10, 10, 60, 40], (x, y) => tiled(x - 10, y - 10, grid));
    drawn.expectColors([
      [8, 12, WHITE],
      [71, 12, WHITE],
    ]);
  });

  it('has steps of its cell where they say nothing or too little', async () => {
    const drawn = await draw(filledXml('10 10 60 40', patternXml('XStep="2" YStep="3.9"')));
    drawn.expectField([10, 10, 60, 40], (x, y) => tiled(x - 10, y - 10, {}));
  });

  it('counts from the object or from the page', async () => {
    const drawn = await draw(
      filledXml('11 13 40 20', patternXml('RelativeTo="Object"')) +
        filledXml('11 43 40 20', patternXml('RelativeTo="Page"')),
    );
    drawn.expectField([11, 13, 40, 20], (x, y) => tiled(x - 11, y - 13, {}));
    drawn.expectField([11, 43, 40, 20], (x, y) => tiled(x, y, {}));
  });

  it('relative to the page holds still in a moved composite', async () => {
    const unit = `<ofd:CompositeGraphicUnit ID="50" Width="80" Height="80"><ofd:Content>${filledXml('5 5 20 20', patternXml('RelativeTo="Page"'))}</ofd:Content></ofd:CompositeGraphicUnit>`;
    const drawn = await draw({
      pages: ['<ofd:CompositeObject ID="8" Boundary="11 13 60 60" CTM="2 0 0 2 0 0" ResourceID="50"/>'],
      physicalBox: '0 0 100 80',
      publicRes: `<ofd:CompositeGraphicUnits>${unit}</ofd:CompositeGraphicUnits>`,
    });
    drawn.expectField([22, 24, 38, 38], (x, y) => tiled(x, y, {}));
  });

  it('is turned as a whole by its CTM', async () => {
    const drawn = await draw(filledXml('10 10 60 40', patternXml('CTM="0 1 -1 0 30 0" XStep="8" YStep="7"')));
    // x' = 30 − y, y' = x.
    drawn.expectField([10, 10, 60, 40], (x, y) => tiled(y - 10, 30 - (x - 10), { xStep: 8, yStep: 7 }));
  });

  it('is moved by the CTM of its object', async () => {
    const object = filledXml('10 10 30 20', patternXml(''), 'CTM="2 0 0 2 0 0"').replace('10 10 30 20', '10 10 60 40');
    const drawn = await draw(object);
    drawn.expectField([10, 10, 60, 40], (x, y) => tiled((x - 10) / 2, (y - 10) / 2, {}));
  });

  it('clips its content to the cell', async () => {
    const large = filledXml('-9 -9 12 11', '<ofd:FillColor Value="255 0 0"/>');
    const drawn = await draw(filledXml('10 10 60 40', patternXml('XStep="8" YStep="7"', large)));
    drawn.expectColors([
      [11, 11, RED],
      [14, 11, WHITE],
      [17, 11, WHITE],
      [11, 13, WHITE],
      [11, 16, WHITE],
      [19, 18, RED],
    ]);
  });

  it('draws lines, and is translucent with its object', async () => {
    const line =
      `<ofd:PathObject ID="9" Boundary="10 10 60 40" LineWidth="8">${patternXml('').replaceAll('FillColor>', 'StrokeColor>')}` +
      '<ofd:AbbreviatedData>M 0 8 L 60 8</ofd:AbbreviatedData></ofd:PathObject>';
    const drawn = await draw(line + filledXml('10 50 60 20', patternXml(''), 'Alpha="128"'));
    drawn.expectField([10, 14, 60, 8], (x, y) => tiled(x - 10, y - 10, {}));
    const half = (color: Color): Color =>
      [0, 1, 2].map((i) => 255 + ((color[i]! - 255) * 128) / 255) as unknown as Color;
    drawn.expectField([10, 50, 60, 20], (x, y) => {
      const color = tiled(x - 10, y - 50, {});
      return color && half(color);
    });
  });

  it('may hold a pattern, and a shading', async () => {
    const stripe = filledXml('0 0 1.5 2', '<ofd:FillColor Value="0 255 0"/>');
    const pattern = `<ofd:FillColor><ofd:Pattern Width="3" Height="2"><ofd:CellContent>${stripe}</ofd:CellContent></ofd:Pattern></ofd:FillColor>`;
    const shading =
      '<ofd:FillColor><ofd:AxialShd StartPoint="0 0" EndPoint="6 0"><ofd:Segment><ofd:Color Value="0 0 0"/></ofd:Segment><ofd:Segment><ofd:Color Value="255 255 255"/></ofd:Segment></ofd:AxialShd></ofd:FillColor>';
    const cell = filledXml('0 0 6 2', pattern) + filledXml('0 2 6 2', shading);
    const drawn = await draw(filledXml('10 10 60 40', patternXml('', cell)));
    drawn.expectColors(
      [
        [10.7, 11, GREEN],
        [12.3, 11, WHITE],
        [13.7, 11, GREEN],
        [16.7, 15, GREEN],
        [18.3, 15, WHITE],
      ],
      20,
    );
    // The one of the PDF readers that is asked here does not find the shading of a cell on the page.
    const shades = [
      [11.5, 13, [64, 64, 64]],
      [14.5, 13, [191, 191, 191]],
      [17.5, 17, [64, 64, 64]],
    ] as const;
    drawn.expectColors(shades, 20, ['png', 'svg']);
  });

  it.each([
    ['has no size', patternXml('').replace('Width="6"', '')],
    ['is flat', patternXml('CTM="1 0 0 0 0 0"')],
    ['has no content', '<ofd:FillColor><ofd:Pattern Width="6" Height="4"/></ofd:FillColor>'],
  ])('that %s paints nothing, and is told of', async (_, fill) => {
    const drawn = await draw(filledXml('10 10 60 40', fill));
    expect(drawn.codes).toEqual(['paint_invalid']);
    drawn.expectColors([[20, 20, WHITE]]);
  });
});
