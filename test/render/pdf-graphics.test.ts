// Paths, pens, clips, gradients, tilings and groups, as poppler paints them.
import { describe, expect, it } from 'vitest';
import { IDENTITY, type Matrix, Path, translation } from '../../src/display/geometry.js';
import type { Item } from '../../src/display/list.js';
import type { AxialPaint, Color, GradientStop, Paint, RadialPaint, TilingPaint } from '../../src/display/paint.js';
import {
  BLUE,
  block,
  circle,
  faultsOf,
  GREEN,
  group,
  isNear,
  makePdf,
  page,
  pathItem,
  pen,
  pixels,
  RED,
  rectangle,
  solid,
  unpacked,
  WHITE,
} from './pdf-support.js';

async function painted(items: readonly Item[]): Promise<(xMm: number, yMm: number) => [number, number, number]> {
  const { bytes } = await makePdf([page(items)]);
  expect(faultsOf(bytes)).toBe('');
  return pixels(bytes);
}

function expectColors(at: (xMm: number, yMm: number) => number[], wanted: [number, number, Color][], by = 6): void {
  const wrong = wanted.filter(([x, y, color]) => !isNear(at(x, y), color, by));
  expect(wrong.map(([x, y, color]) => `at ${x},${y}: ${at(x, y)} instead of ${color}`)).toEqual([]);
}

function filled(path: Path, paint: Paint, more: { matrix?: Matrix } = {}): Item {
  return pathItem(path, { fill: { paint, rule: 'nonzero' }, ...more });
}

const RED_TO_BLUE: GradientStop[] = [
  { offset: 0, color: RED, alpha: 1 },
  { offset: 1, color: BLUE, alpha: 1 },
];

function axial(length: number, more: Partial<AxialPaint> = {}): AxialPaint {
  const line = { start: { x: 0, y: 0 }, end: { x: length, y: 0 } };
  return { kind: 'axial', matrix: IDENTITY, stops: RED_TO_BLUE, extendStart: true, extendEnd: true, ...line, ...more };
}

/** Red top left and blue bottom right in cells of 10 mm with gaps of 2 mm. */
function tiling(matrix: Matrix, more: Partial<TilingPaint> = {}): TilingPaint {
  const items = [block(0, 0, 5, 5, RED), block(5, 5, 5, 5, BLUE)];
  return { kind: 'tiling', matrix, width: 10, height: 10, xStep: 12, yStep: 12, items, alpha: 1, ...more };
}

describe('paths', () => {
  it('stand at their millimetres with y down', async () => {
    const at = await painted([block(10, 20, 30, 5, RED)]);
    expectColors(at, [
      [10.3, 20.3, RED],
      [39.7, 24.7, RED],
      [9.7, 22, WHITE],
      [25, 25.3, WHITE],
      [25, 19.7, WHITE],
    ]);
  });

  it('go by their rule', async () => {
    const ring = (): Path => {
      const path = rectangle(0, 0, 20, 20);
      path.addPath(rectangle(5, 5, 10, 10));
      return path;
    };
    const at = await painted([
      pathItem(ring(), { matrix: translation(10, 10), fill: { paint: solid(RED), rule: 'evenodd' } }),
      pathItem(ring(), { matrix: translation(50, 10), fill: { paint: solid(RED), rule: 'nonzero' } }),
    ]);
    expectColors(at, [
      [12, 12, RED],
      [20, 20, WHITE],
      [60, 20, RED],
    ]);
  });

  it('raise quadratic curves to cubic ones', async () => {
    const path = new Path();
    path.moveTo(10, 50);
    path.quadTo(50, 0, 90, 50);
    path.close();
    const at = await painted([filled(path, solid(RED))]);
    expectColors(at, [
      [50, 25.6, RED],
      [50, 24.4, WHITE],
      [30, 31.8, RED],
      [30, 30.7, WHITE],
    ]);
  });

  it('squeeze the pen under an uneven matrix', async () => {
    const at = await painted([
      pathItem(rectangle(0, 0, 10, 10), { matrix: [4, 0, 0, 1, 20, 20], stroke: pen(solid(RED), 2) }),
    ]);
    expectColors(at, [
      [16.3, 25, RED],
      [23.7, 25, RED],
      [24.4, 25, WHITE],
      [40, 19.2, RED],
      [40, 21.6, WHITE],
    ]);
  });

  it('scale the pen and its dashes under an even matrix', async () => {
    const line = new Path();
    line.moveTo(0, 0);
    line.lineTo(20, 0);
    const at = await painted([
      pathItem(line, { matrix: [0, 3, -3, 0, 50, 10], stroke: pen(solid(RED), 1, { dash: [2, 1], dashOffset: 0 }) }),
    ]);
    expectColors(at, [
      [51.2, 12, RED],
      [48.8, 15, RED],
      [52, 12, WHITE],
      [50, 17.5, WHITE],
      [50, 20, RED],
    ]);
  });

  it('show the fill through a translucent stroke', async () => {
    const both = { fill: { paint: solid(RED), rule: 'nonzero' }, stroke: pen(solid(BLUE, 0.5), 10) } as const;
    const at = await painted([pathItem(rectangle(20, 20, 40, 40), both)]);
    expectColors(at, [
      [17, 40, [128, 128, 255]],
      [23, 40, [128, 0, 128]],
      [40, 40, RED],
    ]);
  });

  it('flattened to a line leave a hairline', async () => {
    const item = pathItem(rectangle(10, 10, 50, 20), { matrix: [1, 0, 0, 0, 0, 40], stroke: pen(solid(RED), 2) });
    const { bytes } = await makePdf([page([item])]);
    const at = pixels(bytes, 254);
    expect([39.95, 40.05].some((y) => !isNear(at(30, y), WHITE))).toBe(true);
    expect(isNear(at(30, 39), WHITE)).toBe(true);
  });

  it('start again where a closed figure began', async () => {
    const path = new Path();
    path.moveTo(10, 10);
    path.lineTo(40, 10);
    path.lineTo(40, 40);
    path.close();
    path.lineTo(10, 60);
    const at = await painted([pathItem(path, { stroke: pen(solid(RED), 2) })]);
    expectColors(at, [[10, 50, RED]]);
  });

  it('draw a pen of no width as a hairline', async () => {
    const { bytes } = await makePdf([page([pathItem(rectangle(10, 10, 20, 20), { stroke: pen(solid(RED), 0) })])]);
    expect(unpacked(bytes)).toMatch(/^0 w$/m);
    expect(isNear(pixels(bytes, 254)(10.05, 20), WHITE)).toBe(false);
  });
});

describe('clips', () => {
  it('all hold, and end with their item', async () => {
    const clips = [
      { path: circle(50, 50, 20), rule: 'nonzero' },
      { path: rectangle(50, 0, 50, 100), rule: 'evenodd' },
    ] as const;
    const at = await painted([{ ...block(0, 0, 100, 100, RED), clips }, block(0, 0, 5, 5, BLUE)]);
    expectColors(at, [
      [60, 50, RED],
      [40, 50, WHITE],
      [75, 50, WHITE],
      [2, 2, BLUE],
    ]);
  });

  it('hide everything where they are empty', async () => {
    const at = await painted([{ ...block(0, 0, 100, 100, RED), clips: [{ path: new Path(), rule: 'nonzero' }] }]);
    expectColors(at, [[50, 50, WHITE]]);
  });

  it('that cut nothing off are left out', async () => {
    const { bytes } = await makePdf([
      page([{ ...block(10, 10, 10, 10, RED), clips: [{ path: rectangle(10, 10, 10, 10), rule: 'nonzero' }] }]),
    ]);
    expect(unpacked(bytes)).not.toMatch(/^W n$/m);
  });

  it('are written once for neighbours', async () => {
    const clipped = (x: number): Item => ({
      ...block(x, 0, 10, 10, RED),
      clips: [{ path: circle(20, 5, 15), rule: 'nonzero' }],
    });
    const { bytes } = await makePdf([page([clipped(10), clipped(20), block(50, 0, 5, 5, RED)])]);
    expect(unpacked(bytes).match(/^W n$/gm)).toHaveLength(1);
    expectColors(pixels(bytes), [
      [12, 5, RED],
      [52, 2, RED],
    ]);
  });
});

describe('opacity', () => {
  it('of paints mixes with what is below', async () => {
    const at = await painted([
      block(0, 0, 50, 50, BLUE),
      filled(rectangle(25, 25, 50, 50), solid(RED, 0.25)),
      block(80, 80, 10, 10, GREEN),
    ]);
    expectColors(at, [
      [30, 30, [64, 0, 191]],
      [60, 60, [255, 191, 191]],
      [85, 85, GREEN],
    ]);
  });

  it('of a group holds for the group as one picture', async () => {
    const at = await painted([group([block(10, 10, 30, 30, RED), block(20, 20, 30, 30, BLUE)], { alpha: 0.5 })]);
    expectColors(at, [
      [15, 15, [255, 128, 128]],
      [30, 30, [128, 128, 255]],
    ]);
  });

  it('follows blend modes', async () => {
    const at = await painted([
      block(0, 0, 50, 100, [255, 255, 0]),
      { ...block(10, 10, 20, 20, [0, 255, 255]), blendMode: 'multiply' },
      { ...block(10, 50, 20, 20, [100, 200, 200]), blendMode: 'darken' },
      group([block(35, 10, 20, 20, [0, 255, 255])], { blendMode: 'multiply' }),
      block(60, 60, 10, 10, RED),
    ]);
    expectColors(at, [
      [20, 20, GREEN],
      [20, 60, [100, 200, 0]],
      [40, 20, GREEN],
      [65, 65, RED],
    ]);
  });
});

describe('gradients', () => {
  it('run along their axis under their matrix', async () => {
    const at = await painted([filled(rectangle(0, 0, 100, 100), axial(20, { matrix: [0, 3, 3, 0, 20, 20] }))]);
    expectColors(at, [
      [50, 10, RED],
      [50, 50, [128, 0, 128]],
      [10, 50, [128, 0, 128]],
      [50, 90, BLUE],
    ]);
  });

  it('stop where they do not go on', async () => {
    const paint = axial(60, { matrix: translation(20, 0), extendStart: false, extendEnd: false });
    const at = await painted([filled(rectangle(0, 0, 100, 100), paint)]);
    expectColors(at, [
      [10, 50, WHITE],
      [50, 50, [128, 0, 128]],
      [90, 50, WHITE],
    ]);
  });

  it('keep hard edges, at their ends too', async () => {
    const stops = [
      { offset: 0, color: GREEN, alpha: 1 },
      { offset: 0, color: RED, alpha: 1 },
      { offset: 0.5, color: RED, alpha: 1 },
      { offset: 0.5, color: BLUE, alpha: 1 },
      { offset: 1, color: BLUE, alpha: 1 },
      { offset: 1, color: GREEN, alpha: 1 },
    ];
    const at = await painted([filled(rectangle(0, 0, 100, 100), axial(80, { matrix: translation(10, 0), stops }))]);
    expectColors(at, [
      [5, 50, GREEN],
      [15, 50, RED],
      [48, 50, RED],
      [52, 50, BLUE],
      [85, 50, BLUE],
      [95, 50, GREEN],
    ]);
  });

  it('spread between circles', async () => {
    const paint: RadialPaint = {
      kind: 'radial',
      matrix: [2, 0, 0, 1, 0, 0],
      start: { x: 25, y: 50 },
      startRadius: 0,
      end: { x: 25, y: 50 },
      endRadius: 20,
      stops: RED_TO_BLUE,
      extendStart: true,
      extendEnd: false,
    };
    const at = await painted([filled(rectangle(0, 0, 100, 100), paint)]);
    expectColors(
      at,
      [
        [50, 50.5, RED],
        [70, 50, [128, 0, 128]],
        [50, 60, [128, 0, 128]],
        [88, 50, [12, 0, 242]],
        [50, 75, WHITE],
      ],
      16,
    );
  });

  it('fade by a mask', async () => {
    const stops = [
      { offset: 0, color: RED, alpha: 1 },
      { offset: 1, color: RED, alpha: 0 },
    ];
    const at = await painted([
      filled(rectangle(0, 0, 100, 40), axial(100, { stops })),
      pathItem(rectangle(10, 60, 80, 20), { stroke: pen(axial(100, { stops }), 10) }),
      block(45, 45, 5, 5, BLUE),
    ]);
    expectColors(at, [
      [50, 20, [255, 128, 128]],
      [75, 20, [255, 191, 191]],
      [50, 60, [255, 128, 128]],
      [50, 70, WHITE],
      [47, 47, BLUE],
    ]);
  });

  it('keep one opacity for all stops without a mask', async () => {
    const stops = RED_TO_BLUE.map((stop) => ({ ...stop, alpha: 0.5 }));
    const { bytes } = await makePdf([page([filled(rectangle(0, 0, 100, 100), axial(100, { stops }))])]);
    expect(unpacked(bytes)).not.toContain('/SMask');
    expectColors(pixels(bytes), [[50, 50, [191, 128, 191]]]);
  });

  it('are as opaque as they say after a line of a translucent one', async () => {
    const stops = RED_TO_BLUE.map((stop) => ({ ...stop, alpha: 0.2 }));
    const line = pathItem(rectangle(5, 40, 30, 5), { stroke: pen(axial(40, { stops }), 2) });
    const at = await painted([line, filled(rectangle(5, 5, 30, 20), axial(40))]);
    expectColors(at, [[10, 15, [191, 0, 64]]]);
  });

  it('without length are their last colour, or nothing', async () => {
    const at = await painted([
      filled(rectangle(10, 10, 20, 20), axial(0)),
      filled(rectangle(40, 10, 20, 20), axial(0, { extendEnd: false })),
      filled(rectangle(70, 10, 20, 20), axial(10, { matrix: [0, 0, 0, 0, 5, 5] })),
    ]);
    expectColors(at, [
      [20, 20, BLUE],
      [50, 20, WHITE],
      [80, 20, WHITE],
    ]);
  });
});

describe('tilings', () => {
  it('repeat their cell with y down', async () => {
    const at = await painted([filled(rectangle(0, 0, 100, 100), tiling(translation(4, 4)))]);
    expectColors(at, [
      [6, 6, RED],
      [11, 11, BLUE],
      [11, 6, WHITE],
      [6, 11, WHITE],
      [15, 15, WHITE],
      [18, 30, RED],
      [23, 35, BLUE],
    ]);
  });

  it('take part in opacity', async () => {
    const at = await painted([filled(rectangle(0, 0, 100, 100), tiling(translation(4, 4), { alpha: 0.5 }))]);
    expectColors(at, [
      [6, 6, [255, 128, 128]],
      [11, 11, [128, 128, 255]],
    ]);
  });

  it('hold other patterns', async () => {
    const items = [
      filled(rectangle(0, 0, 20, 20), axial(20)),
      filled(rectangle(0, 20, 20, 20), tiling(translation(0, 20))),
    ];
    const outer = tiling(translation(10, 10), { width: 20, height: 40, xStep: 40, yStep: 50, items });
    const at = await painted([filled(rectangle(0, 0, 100, 100), outer)]);
    expectColors(
      at,
      [
        [20, 15, [128, 0, 128]],
        [60, 65, [128, 0, 128]],
        [12, 32, RED],
        [17, 37, BLUE],
        [52, 32, RED],
      ],
      14,
    );
  });
});

describe('patterns inside forms', () => {
  const inner = [
    filled(rectangle(0, 0, 30, 10), axial(30)),
    filled(rectangle(0, 20, 30, 24), tiling(translation(0, 20))),
    filled(rectangle(0, 50, 30, 10), axial(30, { stops: RED_TO_BLUE.map((stop, i) => ({ ...stop, alpha: 1 - i })) })),
  ];
  const middle = (at: (x: number, y: number) => number[], place: (x: number, y: number) => [number, number]): void => {
    expectColors(
      at,
      [
        [...place(15, 5), [128, 0, 128]],
        [...place(2, 22), RED],
        [...place(7, 27), BLUE],
        [...place(14, 34), RED],
        [...place(15, 55), [191, 128, 191]],
      ],
      12,
    );
  };

  it('keep to the space of a shared group', async () => {
    const shared = group(inner, { isShared: true });
    const { bytes } = await makePdf([
      page(
        [
          { ...shared, matrix: translation(10, 10) },
          { ...shared, matrix: [0, 1, -1, 0, 110, 20] },
        ],
        1,
        120,
        100,
      ),
      page([shared], 2),
    ]);
    expect(faultsOf(bytes)).toBe('');
    middle(pixels(bytes), (x, y) => [x + 10, y + 10]);
    middle(pixels(bytes), (x, y) => [110 - y, x + 20]);
    expect(unpacked(bytes).match(/\/PatternType 1/g)).toHaveLength(1);
  });

  it('keep to the space of inline groups and of groups seen as one', async () => {
    const at = await painted([
      group([group(inner, { matrix: [0.5, 0, 0, 0.5, 0, 0] })], {
        matrix: [2, 0, 0, 2, 10, 10],
        blendMode: 'multiply',
      }),
    ]);
    middle(at, (x, y) => [x + 10, y + 10]);
  });
});

describe('the file', () => {
  it('has shared groups once', async () => {
    const shared = group([block(0, 0, 10, 10, RED)], { isShared: true });
    const pages = [1, 2, 3].map((number) => page([{ ...shared, matrix: translation(number, 0) }], number));
    const { bytes } = await makePdf(pages);
    expect(unpacked(bytes).match(/\/Subtype \/Form/g)).toHaveLength(1);
  });

  it('writes coordinates short and without exponents', async () => {
    const { bytes } = await makePdf([
      page([
        block(0.1 + 0.2, 1e-9, 33.333333333, 1e-7, RED),
        pathItem(rectangle(0, 0, 1e-5, 5), { matrix: [1e5, 0, 0, 1, 0, 0], stroke: pen(solid(RED), 1e-7) }),
      ]),
    ]);
    expect(faultsOf(bytes)).toBe('');
    const content = unpacked(bytes).match(/stream\n(2\.8346[\s\S]*?)endstream/)![1]!;
    expect(content).not.toMatch(/\d[eE][-+]?\d/);
    expect(content).toContain('.3 0 33.333 0 re');
  });
});
