import { describe, it } from 'vitest';
import type { Color } from '../../src/display/paint.js';
import { BLUE, draw, filledXml, GREEN, mix, RED, WHITE } from './support.js';

const STOPS: readonly (readonly [number, Color])[] = [
  [0, RED],
  [0.5, GREEN],
  [1, BLUE],
];
const SEGMENTS = STOPS.map(
  ([position, color]) => `<ofd:Segment Position="${position}"><ofd:Color Value="${color.join(' ')}"/></ofd:Segment>`,
).join('');

function colorOf(t: number): Color {
  return t < 0.5 ? mix(RED, GREEN, 2 * t) : mix(GREEN, BLUE, 2 * t - 1);
}

/** The colour at distance `x`, in periods, past the start; undefined near a jump. */
function mapped(x: number, mapType: string): Color | undefined {
  if (mapType === 'Direct') return colorOf(Math.min(1, Math.max(0, x)));
  if (mapType === 'Reflect') {
    const turn = x - 2 * Math.floor(x / 2);
    return colorOf(turn <= 1 ? turn : 2 - turn);
  }
  const part = x - Math.floor(x);
  return part < 0.04 || part > 0.96 ? undefined : colorOf(part);
}

function shaded(name: string, attributes: string, object = ''): string {
  return filledXml(
    '10 10 60 40',
    `<ofd:FillColor><ofd:${name} ${attributes}>${SEGMENTS}</ofd:${name}></ofd:FillColor>`,
    object,
  );
}

const KINDS = ['Direct', 'Repeat', 'Reflect'].flatMap((mapType) =>
  [0, 1, 2, 3].map((extend) => [mapType, extend] as const),
);

describe('AxialShd', () => {
  it.each(KINDS)('%s, Extend %i', async (mapType, extend) => {
    const [sx, sy, ex, ey] = [20, 10, 44, 28];
    const unit = mapType === 'Direct' ? 30 : 12.5;
    const drawn = await draw(
      shaded(
        'AxialShd',
        `StartPoint="${sx} ${sy}" EndPoint="${ex} ${ey}" MapType="${mapType}" MapUnit="12.5" Extend="${extend}"`,
      ),
    );
    const length = Math.hypot(ex - sx, ey - sy);
    drawn.expectField(
      [10, 10, 60, 40],
      (x, y) => {
        const d = ((x - 10 - sx) * (ex - sx) + (y - 10 - sy) * (ey - sy)) / length;
        if (Math.min(Math.abs(d), Math.abs(d - length)) < 0.3) return undefined;
        if ((d < 0 && (extend & 1) === 0) || (d > length && (extend & 2) === 0)) return WHITE;
        return mapped(d / unit, mapType);
      },
      10,
    );
  });
});

interface Cone {
  readonly start: readonly [number, number];
  readonly end: readonly [number, number];
  readonly startRadius: number;
  readonly endRadius: number;
  readonly eccentricity: number;
  readonly angle: number;
}

/** The largest parameter allowed at a point of the space of Boundary, found by the formula of the format reference. */
function parameter(cone: Cone, extend: number, x: number, y: number): number | undefined {
  const { start, end, startRadius: r0, endRadius: r1 } = cone;
  const radians = (-cone.angle * Math.PI) / 180;
  const squeeze = 1 / Math.sqrt(1 - cone.eccentricity ** 2);
  const toCircles = (px: number, py: number): readonly [number, number] => {
    const [dx, dy] = [px - start[0], py - start[1]];
    return [
      dx * Math.cos(radians) - dy * Math.sin(radians),
      squeeze * (dx * Math.sin(radians) + dy * Math.cos(radians)),
    ];
  };
  const [qx, qy] = toCircles(x, y);
  const [cx, cy] = toCircles(end[0], end[1]);
  const dr = r1 - r0;
  const a = cx * cx + cy * cy - dr * dr;
  const b = qx * cx + qy * cy + r0 * dr;
  const c = qx * qx + qy * qy - r0 * r0;
  const roots = Math.abs(a) < 1e-9 ? [c / (2 * b)] : [1, -1].map((sign) => (b + sign * Math.sqrt(b * b - a * c)) / a);
  const allowed = roots.filter(
    (s) => r0 + s * dr >= 0 && (s >= 0 || (extend & 1) === 1) && (s <= 1 || (extend & 2) === 2),
  );
  return allowed.length === 0 ? undefined : Math.max(...allowed);
}

/** Expects a radial shading on the object at (10, 10), but near the edges of what is painted. */
async function expectRadial(cone: Cone, mapType: string, extend: number, mapUnit?: number): Promise<void> {
  const { start, end } = cone;
  const attributes =
    `StartPoint="${start.join(' ')}" EndPoint="${end.join(' ')}" StartRadius="${cone.startRadius}" EndRadius="${cone.endRadius}" ` +
    `Eccentricity="${cone.eccentricity}" Angle="${cone.angle}" MapType="${mapType}" Extend="${extend}" ${mapUnit === undefined ? '' : `MapUnit="${mapUnit}"`}`;
  const drawn = await draw(shaded('RadialShd', attributes));
  const distance = Math.hypot(end[0] - start[0], end[1] - start[1]);
  const axis = distance === 0 ? Math.abs(cone.endRadius - cone.startRadius) : distance;
  const periods = mapType === 'Direct' ? 1 : axis / (mapUnit ?? axis);
  const at = (x: number, y: number) => parameter(cone, extend, x - 10, y - 10);
  drawn.expectField(
    [10, 10, 60, 40],
    (x, y) => {
      const around = [
        [0, 0],
        [0.3, 0],
        [-0.3, 0],
        [0, 0.3],
        [0, -0.3],
      ].map(([dx, dy]) => at(x + dx!, y + dy!));
      const [s] = around;
      if (around.some((near) => (near === undefined) !== (s === undefined))) return undefined;
      if (s === undefined) return WHITE;
      const isSteep = around.some((near) => Math.abs(near! - s) * periods > 0.04);
      const isEdge = around.some((near) => near! < 0 !== s < 0 || near! > 1 !== s > 1);
      return isSteep || isEdge ? undefined : mapped(s * periods, mapType);
    },
    14,
  );
}

const ROUND: Cone = { start: [30, 20], end: [30, 20], startRadius: 4, endRadius: 18, eccentricity: 0, angle: 0 };
const OVAL: Cone = { start: [28, 18], end: [34, 22], startRadius: 2, endRadius: 17, eccentricity: 0.8, angle: 30 };

describe('RadialShd', () => {
  it.each(KINDS)('concentric, %s, Extend %i', async (mapType, extend) => {
    await expectRadial(ROUND, mapType, extend, mapType === 'Direct' ? undefined : 7);
  });

  it.each(KINDS)('oval and turned, one circle in the other, %s, Extend %i', async (mapType, extend) => {
    await expectRadial(OVAL, mapType, extend, mapType === 'Direct' ? undefined : 3);
  });

  it.each([0, 1, 2, 3])('a cone beside its start, Extend %i', async (extend) => {
    await expectRadial({ ...ROUND, start: [15, 20], end: [45, 20], startRadius: 3, endRadius: 9 }, 'Direct', extend);
  });

  it.each([0, 3])('a strip of circles of one size, Extend %i', async (extend) => {
    await expectRadial({ ...ROUND, start: [15, 20], end: [45, 22], startRadius: 8, endRadius: 8 }, 'Direct', extend);
  });

  it.each([0, 1, 2, 3])('from the larger circle inwards, Extend %i', async (extend) => {
    await expectRadial({ ...ROUND, startRadius: 18, endRadius: 5 }, 'Direct', extend);
  });

  it('has the distance of its centres as period, or the growth of concentric circles', async () => {
    await expectRadial({ ...ROUND, start: [26, 20], end: [34, 20], startRadius: 2, endRadius: 18 }, 'Repeat', 2);
    await expectRadial(ROUND, 'Reflect', 2);
  });
});

describe('stops', () => {
  it('without positions stand evenly, and positions beyond 1 are parts of the greatest', async () => {
    const segment = (color: Color, position = ''): string =>
      `<ofd:Segment ${position}><ofd:Color Value="${color.join(' ')}"/></ofd:Segment>`;
    const fill = (segments: string): string =>
      `<ofd:FillColor><ofd:AxialShd StartPoint="0 0" EndPoint="60 0">${segments}</ofd:AxialShd></ofd:FillColor>`;
    const drawn = await draw(
      filledXml('10 10 60 20', fill(segment(RED) + segment(GREEN) + segment(BLUE))) +
        filledXml(
          '10 40 60 20',
          fill(segment(RED, 'Position="0"') + segment(GREEN, 'Position="50"') + segment(BLUE, 'Position="100"')),
        ),
    );
    drawn.expectField([10, 10, 60, 20], (x) => colorOf((x - 10) / 60), 8);
    drawn.expectField([10, 40, 60, 20], (x) => colorOf((x - 10) / 60), 8);
  });
});

describe('shadings of lines', () => {
  it('are not moved by CTM', async () => {
    const shading = `<ofd:AxialShd StartPoint="0 0" EndPoint="60 0">${SEGMENTS}</ofd:AxialShd>`;
    const drawn = await draw(
      `<ofd:PathObject ID="9" Boundary="10 10 60 40" CTM="2 0 0 2 0 0" LineWidth="6"><ofd:StrokeColor>${shading}</ofd:StrokeColor>` +
        '<ofd:AbbreviatedData>M 0 10 L 30 10</ofd:AbbreviatedData></ofd:PathObject>',
    );
    drawn.expectField([10.5, 25, 59, 10], (x) => colorOf((x - 10) / 60), 8);
    drawn.expectColors([
      [40, 23, WHITE],
      [40, 37, WHITE],
    ]);
  });
});
