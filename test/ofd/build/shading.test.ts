import { describe, expect, it } from 'vitest';
import type { AxialPaint, Paint, RadialPaint } from '../../../src/display/paint.js';
import { build, paths, pathXml, rounded } from './support.js';

const TWO =
  '<ofd:Segment><ofd:Color Value="255 0 0"/></ofd:Segment><ofd:Segment><ofd:Color Value="0 0 255"/></ofd:Segment>';

/** The paint of a rectangle at (10, 20) of 50 × 40 mm. */
async function paint(shading: string, attributes = ''): Promise<Paint | undefined> {
  const xml = pathXml(
    'M 0 0 L 50 0 L 50 40 L 0 40 C',
    `Fill="true" Stroke="false" ${attributes}`,
    `<ofd:FillColor>${shading}</ofd:FillColor>`,
  );
  return paths((await build(xml)).items)[0]?.fill?.paint;
}

async function axial(attributes: string, segments = TWO, object = ''): Promise<AxialPaint> {
  const found = await paint(`<ofd:AxialShd ${attributes}>${segments}</ofd:AxialShd>`, object);
  if (found?.kind !== 'axial') throw new Error(`not axial: ${found?.kind}`);
  return found;
}

async function radial(attributes: string, segments = TWO): Promise<RadialPaint> {
  const found = await paint(`<ofd:RadialShd ${attributes}>${segments}</ofd:RadialShd>`);
  if (found?.kind !== 'radial') throw new Error(`not radial: ${found?.kind}`);
  return found;
}

function offsets(found: AxialPaint | RadialPaint): number[] {
  return found.stops.map((stop) => rounded(stop.offset));
}

/** Reds of the stops, which tell the place between the first colour (255) and the last (0). */
function reds(found: AxialPaint | RadialPaint): number[] {
  return found.stops.map((stop) => rounded(stop.color[0]));
}

function segments(...positions: readonly (string | undefined)[]): string {
  return positions
    .map((position, index) => {
      const attribute = position === undefined ? '' : `Position="${position}"`;
      return `<ofd:Segment ${attribute}><ofd:Color Value="${index} 0 0"/></ofd:Segment>`;
    })
    .join('');
}

const AXIS = 'StartPoint="0 0" EndPoint="50 0"';

describe('AxialShd', () => {
  it('lies in millimetres of Boundary, whatever the CTM', async () => {
    const found = await axial(AXIS, TWO, 'CTM="0.5 0 0 0.5 3 3"');
    expect(found.matrix).toEqual([1, 0, 0, 1, 10, 20]);
    expect([found.start, found.end]).toEqual([
      { x: 0, y: 0 },
      { x: 50, y: 0 },
    ]);
    expect(found.stops).toEqual([
      { offset: 0, color: [255, 0, 0], alpha: 1 },
      { offset: 1, color: [0, 0, 255], alpha: 1 },
    ]);
  });

  it.each([
    ['', false, false],
    ['Extend="1"', true, false],
    ['Extend="2"', false, true],
    ['Extend="3"', true, true],
  ])('goes on with %s', async (attributes, start, end) => {
    expect(await axial(`${AXIS} ${attributes}`)).toMatchObject({ extendStart: start, extendEnd: end });
  });

  it.each([
    ['completed', [undefined, undefined, undefined], [0, 0.5, 1]],
    ['completed between neighbours', ['0', undefined, undefined, '0.9', undefined], [0, 0.3, 0.6, 0.9, 1]],
    ['padded', ['0.2', '0.8'], [0, 0.2, 0.8, 1]],
    ['in order', ['0', '0.7', '0.3', '1'], [0, 0.7, 0.7, 1]],
    ['brought into 0…1', ['0', '50', '100'], [0, 0.5, 1]],
  ])('has its positions %s', async (_, positions, expected) => {
    expect(offsets(await axial(AXIS, segments(...positions)))).toEqual(expected);
  });

  it('multiplies opacities', async () => {
    const half = TWO.replace('Value="255 0 0"', 'Value="255 0 0" Alpha="51"');
    expect((await axial(AXIS, half, 'Alpha="127.5"')).stops.map((stop) => stop.alpha)).toEqual([0.1, 0.5]);
  });

  it('is one colour where there is one segment, or no length that is extended', async () => {
    const one = '<ofd:Segment><ofd:Color Value="255 0 0"/></ofd:Segment>';
    expect(await paint(`<ofd:AxialShd ${AXIS}>${one}</ofd:AxialShd>`)).toMatchObject({ color: [255, 0, 0] });
    const point = (extend: number) =>
      paint(`<ofd:AxialShd StartPoint="5 5" EndPoint="5 5" Extend="${extend}">${TWO}</ofd:AxialShd>`);
    expect(await point(1)).toMatchObject({ kind: 'solid', color: [0, 0, 255] });
    expect(await point(0)).toBeUndefined();
  });

  it('repeats by MapUnit within its axis', async () => {
    const found = await axial(`${AXIS} MapType="Repeat" MapUnit="20"`);
    expect(found.start.x).toBe(0);
    expect(found.end.x).toBe(50);
    expect(offsets(found)).toEqual([0, 0, 0.4, 0.4, 0.8, 0.8, 1].slice(1));
    expect(reds(found)).toEqual([255, 0, 255, 0, 255, 127.5]);
  });

  it('reflects every other period', async () => {
    const found = await axial(`${AXIS} MapType="Reflect" MapUnit="20"`);
    expect(offsets(found)).toEqual([0, 0.4, 0.4, 0.8, 0.8, 1]);
    expect(reds(found)).toEqual([255, 0, 0, 255, 255, 127.5]);
  });

  it('repeats past its ends where it extends, as far as the shape goes', async () => {
    const found = await axial('StartPoint="20 0" EndPoint="30 0" MapType="Repeat" Extend="3"');
    // With half of the line's width on each side the shape covers −0.1765…50.1765.
    expect(found.start.x).toBeCloseTo(-0.1765);
    expect(found.end.x).toBeCloseTo(50.1765);
    const red = found.stops.find((stop) => stop.offset > 0.02)!;
    expect(red.offset * (found.end.x - found.start.x) + found.start.x).toBeCloseTo(10);
  });

  it('mirrors to the left of its start too', async () => {
    const found = await axial('StartPoint="20 0" EndPoint="40 0" MapType="Reflect" Extend="1"');
    const at = (x: number) => {
      const offset = (x - found.start.x) / (found.end.x - found.start.x);
      const after = found.stops.findIndex((stop) => stop.offset >= offset - 1e-9);
      return found.stops[after]!.color[0];
    };
    expect(at(0)).toBeCloseTo(0);
    expect(at(20)).toBeCloseTo(255);
  });

  it('has no more periods than can be seen', async () => {
    const found = await axial(`${AXIS} MapType="Repeat" MapUnit="0.00001"`);
    expect(found.stops.length).toBeLessThan(2000);
  });

  it('has no more colours than can be seen, all periods counted', async () => {
    const segments = Array.from(
      { length: 20_000 },
      (_, i) => `<ofd:Segment><ofd:Color Value="${i % 256} 0 0"/></ofd:Segment>`,
    );
    const found = await paint(
      `<ofd:AxialShd ${AXIS} MapType="Repeat" MapUnit="0.01">${segments.join('')}</ofd:AxialShd>`,
    );
    expect((found as AxialPaint).stops.length).toBeLessThan(9000);
  });
});

describe('RadialShd', () => {
  it('is two circles', async () => {
    const found = await radial('StartPoint="5 6" StartRadius="1" EndPoint="8 10" EndRadius="20" Extend="2"');
    expect(found.matrix).toEqual([1, 0, 0, 1, 15, 26]);
    expect(found).toMatchObject({ start: { x: 0, y: 0 }, startRadius: 1, end: { x: 3, y: 4 }, endRadius: 20 });
    expect(found).toMatchObject({ extendStart: false, extendEnd: true });
    expect(offsets(found)).toEqual([0, 1]);
  });

  it('flattens and turns with Eccentricity and Angle', async () => {
    const found = await radial('StartPoint="5 6" EndPoint="5 6" EndRadius="10" Eccentricity="0.6" Angle="90"');
    // The minor axis is 0.8 of the major one, which points down.
    expect(found.matrix.map(rounded)).toEqual([0, 1, -0.8, 0, 15, 26]);
    expect(found.end).toEqual({ x: 0, y: 0 });
  });

  it('repeats by the growth of concentric circles', async () => {
    const found = await radial(
      'StartPoint="9 9" EndPoint="9 9" StartRadius="0" EndRadius="20" MapType="Repeat" MapUnit="10"',
    );
    expect([found.startRadius, found.endRadius]).toEqual([0, 20]);
    expect(offsets(found)).toEqual([0, 0.5, 0.5, 1]);
    expect(reds(found)).toEqual([255, 0, 255, 0]);
  });

  it('repeats by the distance of the centres, and outwards as far as the shape', async () => {
    const found = await radial(
      'StartPoint="20 20" EndPoint="25 20" StartRadius="1" EndRadius="11" MapType="Reflect" Extend="2"',
    );
    expect(found.start).toEqual({ x: 0, y: 0 });
    expect(found.endRadius).toBeGreaterThan(30);
    const [first, second] = found.stops.filter((stop) => stop.color[2] > 254);
    // One period (5 mm between centres) is the way from circle to circle.
    expect(first!.offset * (found.endRadius - found.startRadius)).toBeCloseTo(10);
    expect(second).toBeDefined();
  });
});
