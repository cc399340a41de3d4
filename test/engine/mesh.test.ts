import { describe, expect, it } from 'vitest';
import type { Color } from '../../src/display/paint.js';
import { BLUE, draw, filledXml, GREEN, mix, RED, WHITE } from './support.js';

type Corner = readonly [x: number, y: number, color: Color];

function point([x, y, color]: Corner, attributes = ''): string {
  return `<ofd:Point X="${x}" Y="${y}" ${attributes}><ofd:Color Value="${color.join(' ')}"/></ofd:Point>`;
}

function shaded(name: string, content: string, attributes = '', object = ''): string {
  return filledXml(
    '10 10 60 40',
    `<ofd:FillColor><ofd:${name} ${attributes}>${content}</ofd:${name}></ofd:FillColor>`,
    object,
  );
}

/** Weights of the corners at a point; all of one sign inside. */
function barycentric([a, b, c]: readonly Corner[], x: number, y: number): readonly [number, number, number] {
  const area = (b![0] - a![0]) * (c![1] - a![1]) - (c![0] - a![0]) * (b![1] - a![1]);
  const ofB = ((x - a![0]) * (c![1] - a![1]) - (c![0] - a![0]) * (y - a![1])) / area;
  const ofC = ((b![0] - a![0]) * (y - a![1]) - (x - a![0]) * (b![1] - a![1])) / area;
  return [1 - ofB - ofC, ofB, ofC];
}

/** The colour of triangles given in the space of the object at (10, 10); the last that holds the point. */
function meshColor(
  triangles: readonly (readonly Corner[])[],
  outside: Color,
): (x: number, y: number) => Color | undefined {
  return (x, y) => {
    let found: Color | undefined = outside;
    for (const corners of triangles) {
      const weights = barycentric(corners, x - 10, y - 10);
      const least = Math.min(...weights);
      if (least > 0.02) {
        const channel = (i: number) =>
          corners.reduce((sum, [, , color], corner) => sum + weights[corner]! * color[i]!, 0);
        found = [channel(0), channel(1), channel(2)];
      } else if (least > -0.02) found = undefined;
    }
    return found;
  };
}

const A: Corner = [0, 0, RED];
const B: Corner = [60, 0, GREEN];
const C: Corner = [0, 40, BLUE];
const D: Corner = [60, 40, [255, 255, 0]];
const E: Corner = [30, 20, [255, 0, 255]];

describe('GouraudShd', () => {
  it('blends between the corners of a triangle, and paints nothing beside it', async () => {
    const drawn = await draw(shaded('GouraudShd', point(A) + point(B) + point(C)));
    drawn.expectField([10, 10, 60, 40], meshColor([[A, B, C]], WHITE));
    expect(drawn.codes).toEqual([]);
  });

  it.each([
    [
      '1: the last two corners',
      1,
      [
        [A, B, C],
        [B, C, D],
      ],
    ],
    [
      '2: the first and the last corner',
      2,
      [
        [A, C, B],
        [A, B, D],
      ].map((t, i) => (i === 0 ? [A, C, B] : t)),
    ],
    [
      '3: the first two corners',
      3,
      [
        [B, C, A],
        [B, C, D],
      ],
    ],
  ] as const)('goes on with EdgeFlag %s', async (_, flag, triangles) => {
    const [first] = triangles;
    const points = first.map((corner) => point(corner, 'EdgeFlag="0"')).join('') + point(D, `EdgeFlag="${flag}"`);
    const drawn = await draw(shaded('GouraudShd', points));
    drawn.expectField([10, 10, 60, 40], meshColor(triangles, WHITE));
  });

  it('ignores the flags of the second and third corner, and starts anew with 0', async () => {
    const points =
      point(A, 'EdgeFlag="0"') +
      point(B, 'EdgeFlag="2"') +
      point(E, 'EdgeFlag="1"') +
      point(C, 'EdgeFlag="0"') +
      point(D, 'EdgeFlag="0"') +
      point(E, 'EdgeFlag="0"');
    const drawn = await draw(shaded('GouraudShd', points));
    drawn.expectField(
      [10, 10, 60, 40],
      meshColor(
        [
          [A, B, E],
          [C, D, E],
        ],
        WHITE,
      ),
    );
  });

  it('fills what is outside with BackColor where it extends', async () => {
    const content = `${point(A)}${point(B)}${point(E)}<ofd:BackColor Value="0 128 128"/>`;
    const extended = await draw(shaded('GouraudShd', content, 'Extend="1"'));
    extended.expectField([10, 10, 60, 40], meshColor([[A, B, E]], [0, 128, 128]));
    const plain = await draw(shaded('GouraudShd', content));
    plain.expectField([10, 10, 60, 40], meshColor([[A, B, E]], WHITE));
  });

  it('is not moved by the CTM of its object, but by its Boundary', async () => {
    const xml =
      '<ofd:PathObject ID="9" Boundary="10 10 60 40" CTM="2 0 0 2 0 0" Fill="true" Stroke="false"><ofd:FillColor><ofd:GouraudShd>' +
      `${point(A)}${point(B)}${point(C)}</ofd:GouraudShd></ofd:FillColor><ofd:AbbreviatedData>M 0 0 L 30 0 L 30 20 L 0 20 C</ofd:AbbreviatedData></ofd:PathObject>`;
    (await draw(xml)).expectField([10, 10, 60, 40], meshColor([[A, B, C]], WHITE));
  });

  it('blends opacities, times that of the object', async () => {
    const see = (corner: Corner, alpha: number) => point(corner).replace('/>', ` Alpha="${alpha}"/>`);
    const corners: Corner[] = [
      [0, 0, RED],
      [60, 0, RED],
      [0, 40, RED],
    ];
    const xml = shaded(
      'GouraudShd',
      see(corners[0]!, 255) + see(corners[1]!, 0) + see(corners[2]!, 255),
      '',
      'Alpha="128"',
    );
    const drawn = await draw(xml);
    drawn.expectField([10, 10, 60, 40], (x, y) => {
      const weights = barycentric(corners, x - 10, y - 10);
      const least = Math.min(...weights);
      if (Math.abs(least) <= 0.02) return undefined;
      return least < 0 ? WHITE : mix(WHITE, RED, ((weights[0] + weights[2]) * 128) / 255);
    });
  });

  it.each([
    ['opaque', 255, 255],
    ['evenly translucent', 128, 128],
    ['unevenly translucent', 128, 129],
  ])('leaves no seams between triangles: %s', async (_, alpha, centreAlpha) => {
    const grey = (level: number): Color => [level, level, level];
    const rim: Corner[] = Array.from({ length: 25 }, (_, i) => {
      const angle = (i * Math.PI) / 12;
      return [30 + 29 * Math.cos(angle), 20 + 19 * Math.sin(angle), grey(90)];
    });
    const see = (corner: Corner, opacity: number) => point(corner).replace('/>', ` Alpha="${opacity}"/>`);
    const centre = see([30, 20, grey(110)], centreAlpha);
    const points = rim.slice(1).map((corner, i) => centre + see(rim[i]!, alpha) + see(corner, alpha));
    const drawn = await draw(shaded('GouraudShd', points.join('')));
    const seen = (level: number): number => 255 + ((level - 255) * alpha) / 255;
    for (const kind of ['png', 'svg', 'pdf'] as const) {
      for (let x = 20; x < 60; x += 0.2) {
        for (let y = 22; y < 38; y += 0.2) {
          const [level] = drawn.colorAt(kind, x, y);
          if (level < seen(90) - 3 || level > seen(110) + 3) expect([kind, x, y, level]).toEqual([]);
        }
      }
    }
  });

  it('colours lines and letters', async () => {
    const shading = `<ofd:GouraudShd>${point(A)}${point(B)}${point(C)}${point(D, 'EdgeFlag="1"')}</ofd:GouraudShd>`;
    const xml =
      `<ofd:PathObject ID="9" Boundary="10 10 60 40" LineWidth="8"><ofd:StrokeColor>${shading}</ofd:StrokeColor><ofd:AbbreviatedData>M 5 20 L 55 20</ofd:AbbreviatedData></ofd:PathObject>` +
      `<ofd:TextObject ID="8" Boundary="10 10 60 40" Font="1" Size="10"><ofd:FillColor>${shading}</ofd:FillColor><ofd:TextCode X="2" Y="12">一</ofd:TextCode></ofd:TextObject>`;
    const publicRes = '<ofd:Fonts><ofd:Font ID="1" FontName="SimHei"/></ofd:Fonts>';
    const drawn = await draw({ pages: [xml], physicalBox: '0 0 100 80', publicRes });
    const color = meshColor(
      [
        [A, B, C],
        [B, C, D],
      ],
      WHITE,
    );
    drawn.expectField([16, 27, 48, 6], (x, y) => color(x, y));
    // The bar of the character lies about 3.8 mm above the baseline.
    const bar = color(17, 18.2)!;
    expect([18, 18.3, 18.6].some((y) => Math.abs(drawn.colorAt('png', 17, y)[0] - bar[0]) < 20)).toBe(true);
    expect(drawn.pdfText).toBe('一');
  });

  it('says so where there is no triangle', async () => {
    const drawn = await draw(shaded('GouraudShd', point(A) + point(B)));
    expect(drawn.codes).toEqual(['paint_invalid']);
    drawn.expectColors([[30, 20, WHITE]]);
  });
});

describe('LaGourandShd', () => {
  const rows: Corner[] = [
    [0, 0, RED],
    [30, 0, GREEN],
    [60, 0, BLUE],
    [0, 40, BLUE],
    [30, 40, [255, 255, 0]],
    [60, 40, RED],
  ];
  const [p, q, r, s, t, u] = rows as [Corner, Corner, Corner, Corner, Corner, Corner];
  const triangles = [
    [p, q, s],
    [q, t, s],
    [q, r, t],
    [r, u, t],
  ];

  it.each(['LaGourandShd', 'LaGouraudShd'])('is a lattice (%s)', async (name) => {
    const drawn = await draw(shaded(name, rows.map((corner) => point(corner)).join(''), 'VerticesPerRow="3"'));
    drawn.expectField([10, 10, 60, 40], meshColor(triangles, WHITE));
  });

  it('drops an incomplete row and has a BackColor', async () => {
    const content = `${[...rows, E, E].map((corner) => point(corner)).join('')}<ofd:BackColor Value="9 9 9"/>`;
    const drawn = await draw(shaded('LaGourandShd', content, 'VerticesPerRow="3" Extend="3"', 'CTM="1 0 0 1.2 0 0"'));
    drawn.expectField([10, 10, 60, 40], meshColor(triangles, [9, 9, 9]));
  });

  it('needs two points a row', async () => {
    expect((await draw(shaded('LaGourandShd', point(A)))).codes).toEqual(['paint_invalid']);
  });
});

describe('a mesh of triangles without end', () => {
  it('is drawn in bounded time', async () => {
    const huge = [A, B, C].map((corner) => point(corner)).join('');
    const start = process.cpuUsage();
    const drawn = await draw(shaded('GouraudShd', huge.repeat(3000)));
    expect(process.cpuUsage(start).user / 1e6).toBeLessThan(20);
    drawn.expectField([10, 10, 60, 40], meshColor([[A, B, C]], WHITE), 20);
  });
});
