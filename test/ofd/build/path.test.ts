import { describe, expect, it } from 'vitest';
import { build, extent, paths, pathXml } from './support.js';

const RED = '<ofd:FillColor Value="255 0 0"/>';
const LINE = 'M 0 5 L 40 5';
const SQUARE = 'M 0 0 L 10 0 L 10 10 L 0 10 C';

async function path(xml: string, more = {}) {
  const page = await build(xml, more);
  return paths(page.items)[0];
}

describe('PathObject', () => {
  it('is stroked in black of 0.353 mm by default, and not filled', async () => {
    const item = await path(pathXml(SQUARE, '', RED));
    expect(item?.fill).toBeUndefined();
    expect(item?.stroke).toEqual({
      paint: { kind: 'solid', color: [0, 0, 0], alpha: 1 },
      widthMm: 0.353,
      cap: 'butt',
      join: 'miter',
      miterLimit: 10,
      dash: [],
      dashOffset: 0,
    });
  });

  it.each([
    ['Fill without a colour fills nothing', 'Fill="true"', '', false, true],
    ['Fill with a colour', 'Fill="true"', RED, true, true],
    ['fill only', 'Fill="true" Stroke="false"', RED, true, false],
  ])('%s', async (_, attributes, children, hasFill, hasStroke) => {
    const item = await path(pathXml(SQUARE, attributes, children));
    expect(item?.fill !== undefined).toBe(hasFill);
    expect(item?.stroke !== undefined).toBe(hasStroke);
  });

  it('shows nothing without fill and stroke, with opacity 0, or when invisible', async () => {
    for (const attributes of ['Stroke="false"', 'Alpha="0"', 'Visible="false"', 'CTM="0 0 0 0 0 0"']) {
      expect((await build(pathXml(SQUARE, attributes))).items).toEqual([]);
    }
    const clear = '<ofd:StrokeColor Value="1 2 3" Alpha="0"/>';
    expect((await build(pathXml(SQUARE, '', clear))).items).toEqual([]);
  });

  it('stands at Boundary with CTM applied first', async () => {
    const item = await path(pathXml('M 3 4 L 5 6', 'Boundary="10 20 50 10" CTM="2 0 0 2 1 1"'));
    // 10 + 2·3 + 1 = 17, 20 + 2·4 + 1 = 29
    expect(extent(item!.path, item!.matrix)).toEqual([17, 29, 21, 33]);
  });

  it('multiplies opacities', async () => {
    const item = await path(pathXml(SQUARE, 'Fill="true" Alpha="102"', '<ofd:FillColor Value="1 2 3" Alpha="127.5"/>'));
    expect(item?.fill?.paint).toEqual({ kind: 'solid', color: [1, 2, 3], alpha: 0.2 });
    expect(item?.stroke?.paint).toMatchObject({ alpha: 0.4 });
  });

  it('takes Even-Odd as rule', async () => {
    expect((await path(pathXml(SQUARE, 'Fill="true" Rule="Even-Odd"', RED)))?.fill?.rule).toBe('evenodd');
    expect((await path(pathXml(SQUARE, 'Fill="true"', RED)))?.fill?.rule).toBe('nonzero');
  });

  it.each([
    ['LineWidth="0"', { widthMm: 0 }],
    ['LineWidth="-2"', { widthMm: 2 }],
    ['MiterLimit="3.527778"', { miterLimit: 10 }],
    ['MiterLimit="4.234"', { miterLimit: 12.0019 }],
    ['MiterLimit="0.7054"', { miterLimit: 1.9996 }],
    ['MiterLimit="2"', { miterLimit: 2 }],
    ['MiterLimit="1000"', { miterLimit: 100 }],
    ['Cap="Round" Join="Bevel"', { cap: 'round', join: 'bevel' }],
    ['DashPattern="3 1" DashOffset="2"', { dash: [3, 1], dashOffset: 2 }],
    ['DashPattern="3 1 2"', { dash: [3, 1, 2, 3, 1, 2] }],
    ['DashPattern="3"', { dash: [3, 3] }],
    ['DashPattern="null" DashOffset="2"', { dash: [], dashOffset: 0 }],
    ['DashPattern="0 0"', { dash: [] }],
    ['DashPattern="3 -1"', { dash: [] }],
    ['DashPattern="0.0001 0.0001"', { dash: [] }],
  ])('draws lines with %s', async (attributes, expected) => {
    const stroke = (await path(pathXml(LINE, attributes)))!.stroke!;
    const rounded = { ...stroke, miterLimit: Math.round(stroke.miterLimit * 1e4) / 1e4 };
    expect(rounded).toMatchObject(expected);
  });

  it('is cut at Boundary with room for its line, and only where it leaves it', async () => {
    expect((await path(pathXml(LINE)))?.clips).toEqual([]);
    const outside = await path(pathXml('M 0 5 L 80 5'));
    expect(extent(outside!.clips[0]!.path)).toEqual([9.5, 19.5, 60.5, 60.5]);
    const thick = await path(pathXml('M 0 5 L 80 5', 'LineWidth="1" CTM="2 0 0 2 0 0"'));
    expect(extent(thick!.clips[0]!.path)).toEqual([8, 18, 62, 62]);
    for (const box of ['10 20 0 40', '10 20 50 -1']) {
      expect((await path(pathXml('M 0 5 L 80 5', `Boundary="${box}"`)))?.clips).toEqual([]);
    }
  });

  it('in the device space of early producers lands in its Boundary', async () => {
    // 1200 and 1800 dots of 300 an inch are 101.6 and 152.4 mm; the width is in points.
    const item = await path(pathXml('M 1200 1200 L 1800 1200', 'Boundary="100 100 60 5" LineWidth="72"'));
    expect(extent(item!.path, item!.matrix)).toEqual([101.6, 101.6, 152.4, 101.6]);
    expect(item!.stroke!.widthMm * item!.matrix[0]).toBeCloseTo(25.4);
  });

  it('with broken data is drawn as far as it goes, with a warning', async () => {
    const page = await build(pathXml('M 0 0 L 5 5 L 7'));
    expect(page.diagnostics.map(({ code, objectId }) => [code, objectId])).toContainEqual(['path_malformed', '3']);
    expect(paths(page.items)).toHaveLength(1);
  });

  it('takes the blend modes that are known', async () => {
    expect((await path(pathXml(LINE, 'BlendMode="Multiply"')))?.blendMode).toBe('multiply');
    expect((await path(pathXml(LINE, 'BlendMode="Xor"')))?.blendMode).toBe('normal');
    // Its line does not blend with its own inside.
    const { items } = await build(pathXml(SQUARE, 'Fill="true" BlendMode="Multiply"', RED));
    expect(items).toMatchObject([
      { kind: 'group', blendMode: 'multiply', items: [{ kind: 'path', blendMode: 'normal' }] },
    ]);
  });
});
