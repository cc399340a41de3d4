// What pictures must show, for every backend that makes pictures: a list and the colours at some of its points.
import { Path, rectanglePath } from '../../src/display/geometry.js';
import type { DisplayList, EncodedImage } from '../../src/display/list.js';
import type { Color } from '../../src/display/paint.js';
import { encodePng, pixelRows } from '../../src/render/png-encoder.js';
import {
  axial,
  BLACK,
  BLUE,
  box,
  clip,
  filled,
  GREEN,
  group,
  image,
  line,
  page,
  pen,
  RED,
  radial,
  rectangle,
  run,
  solid,
  tiling,
  WHITE,
} from './lists.js';

/** Colour at a point of the page in millimetres. */
type Point = readonly [xMm: number, yMm: number, color: Color];

export interface Scene {
  readonly name: string;
  readonly list: DisplayList;
  readonly points: readonly Point[];
}

function circle(x: number, y: number, r: number): Path {
  const k = 0.5522847498 * r;
  const path = new Path();
  path.moveTo(x + r, y);
  path.cubicTo(x + r, y + k, x + k, y + r, x, y + r);
  path.cubicTo(x - k, y + r, x - r, y + k, x - r, y);
  path.cubicTo(x - r, y - k, x - k, y - r, x, y - r);
  path.cubicTo(x + k, y - r, x + r, y - k, x + r, y);
  path.close();
  return path;
}

function twoSquares(): Path {
  const path = rectanglePath(box(5, 5, 30, 30));
  path.addPath(rectanglePath(box(15, 15, 10, 10)));
  return path;
}

/** 2 × 2 pixels: red, green over blue, white; or any others. */
export async function smallPicture(
  colors: readonly (readonly number[])[] = [RED, GREEN, BLUE, WHITE],
  widthPx = 2,
): Promise<EncodedImage> {
  const rgba = Uint8Array.from(colors.flatMap(([r = 0, g = 0, b = 0, a = 255]) => [r, g, b, a]));
  const heightPx = colors.length / widthPx;
  return {
    bytes: await encodePng(pixelRows({ widthPx, heightPx, rgba })),
    format: 'png',
    widthPx,
    heightPx,
    part: 'small.png',
  } as const;
}

const PURPLE: Color = [128, 0, 128];
const PINK: Color = [255, 128, 128];
const GREY: Color = [128, 128, 128];
const closed = { extendStart: false, extendEnd: false };
const picture = await smallPicture();
const shared = [rectangle(box(0, 0, 5, 5), RED), rectangle(box(5, 0, 5, 5), BLUE)];

export const SCENES: readonly Scene[] = [
  {
    name: 'fills by the nonzero and the even-odd rule',
    list: page([
      filled(twoSquares(), RED, { matrix: [0.5, 0, 0, 0.5, 0, 0] }),
      filled(twoSquares(), RED, {
        matrix: [0.5, 0, 0, 0.5, 20, 0],
        fill: { paint: solid(RED), rule: 'evenodd' },
      }),
    ]),
    points: [
      [10, 10, RED],
      [30, 10, WHITE],
      [24, 10, RED],
      [1, 1, WHITE],
    ],
  },
  {
    name: 'half transparent fill and stroke',
    list: page([rectangle(box(10, 10, 20, 20), solid(RED, 0.5), { stroke: pen(4, { paint: solid(BLACK, 0.5) }) })]),
    points: [
      [20, 20, PINK],
      [9, 20, GREY],
      [11, 20, [128, 64, 64]],
    ],
  },
  {
    name: 'pen under an uneven matrix',
    list: page([
      line([0, 0, 0, 10], pen(1), { matrix: [8, 0, 0, 1, 10, 5] }),
      line([0, 0, 1, 0], pen(1), { matrix: [16, 0, 0, 1, 20, 30] }),
    ]),
    points: [
      [6.5, 10, BLACK],
      [13.5, 10, BLACK],
      [5.5, 10, WHITE],
      [14.5, 10, WHITE],
      [25, 30, BLACK],
      [25, 31, WHITE],
      [25, 29, WHITE],
    ],
  },
  {
    name: 'lines thinner than a pixel, and without width, still show',
    list: page([
      line([5, 10, 35, 10], pen(0.001), { matrix: [1, 0, 0, 1, 0, 0.05] }),
      line([5, 20, 35, 20], pen(0), { matrix: [1, 0, 0, 1, 0, 0.05] }),
    ]),
    points: [],
  },
  {
    name: 'dashes',
    list: page([
      line([0, 10, 40, 10], pen(2, { dash: [4, 6] })),
      line([0, 20, 40, 20], pen(2, { dash: [4, 6], dashOffset: 4 })),
      line([0, 15, 20, 15], pen(1, { dash: [2, 3] }), { matrix: [2, 0, 0, 2, 0, 0] }),
    ]),
    points: [
      [2, 10, BLACK],
      [7, 10, WHITE],
      [12, 10, BLACK],
      [2, 20, WHITE],
      [8, 20, BLACK],
      [2, 30, BLACK],
      [7, 30, WHITE],
    ],
  },
  {
    name: 'caps and joins',
    list: page([
      line([10, 5, 30, 5], pen(4, { cap: 'square' })),
      line([10, 15, 30, 15], pen(4, { cap: 'round' })),
      line([10, 35, 20, 25, 30, 35], pen(4, { join: 'bevel' })),
    ]),
    points: [
      [8.5, 5, BLACK],
      [8.5, 6.7, BLACK],
      [8.5, 15, BLACK],
      [8.3, 16.8, WHITE],
      [20, 22.6, WHITE],
      [20, 24.5, BLACK],
    ],
  },
  {
    name: 'clips: intersection, even-odd, nothing left',
    list: page([
      rectangle(box(0, 0, 40, 40), RED, { clips: [clip(circle(15, 20, 10)), clip(circle(25, 20, 10))] }),
      rectangle(box(0, 0, 10, 10), BLUE, { clips: [clip(new Path())] }),
      rectangle(box(0, 30, 10, 10), BLUE, { clips: [clip(rectanglePath(box(20, 30, 5, 5)))] }),
      group([rectangle(box(0, 0, 20, 20), GREEN)], {
        matrix: [0.5, 0, 0, 0.5, 30, 30],
        clips: [clip(rectanglePath(box(35, 30, 10, 10)))],
      }),
    ]),
    points: [
      [20, 20, RED],
      [10, 20, WHITE],
      [30, 20, WHITE],
      [5, 5, WHITE],
      [5, 35, WHITE],
      [32, 35, WHITE],
      [37, 35, GREEN],
    ],
  },
  {
    name: 'a ring as a clip',
    list: page([rectangle(box(0, 0, 40, 40), BLUE, { clips: [clip(twoSquares(), 'evenodd')] })]),
    points: [
      [10, 20, BLUE],
      [20, 20, WHITE],
      [2, 2, WHITE],
    ],
  },
  {
    name: 'group opacity: overlapping children do not add up',
    list: page([group([rectangle(box(5, 5, 20, 20), RED), rectangle(box(15, 15, 20, 20), BLUE)], { alpha: 0.5 })]),
    points: [
      [10, 10, PINK],
      [20, 20, [128, 128, 255]],
      [30, 30, [128, 128, 255]],
      [30, 10, WHITE],
    ],
  },
  {
    name: 'multiply and darken, also inside clipped groups',
    list: page([
      rectangle(box(0, 0, 20, 40), [255, 255, 0]),
      rectangle(box(5, 2, 30, 6), [0, 255, 255], { blendMode: 'multiply' }),
      rectangle(box(5, 12, 30, 6), [0, 128, 255], { blendMode: 'darken' }),
      group([rectangle(box(0, 0, 30, 6), [0, 255, 255], { blendMode: 'multiply' }), rectangle(box(25, 0, 3, 3), RED)], {
        matrix: [1, 0, 0, 1, 5, 22],
        clips: [clip(circle(20, 25, 16))],
      }),
    ]),
    points: [
      [10, 5, GREEN],
      [30, 5, [0, 255, 255]],
      [10, 15, [0, 128, 0]],
      [30, 15, [0, 128, 255]],
      [10, 25, GREEN],
      [25, 25, [0, 255, 255]],
      [31, 23, RED],
    ],
  },
  {
    name: 'axial gradient with and without extension',
    list: page([
      rectangle(box(0, 0, 40, 10), axial(10, 0, 30, 0)),
      rectangle(box(0, 12, 40, 10), axial(10, 0, 30, 0, closed)),
      rectangle(box(0, 24, 40, 10), axial(10, 0, 30, 0, { extendStart: false })),
    ]),
    points: [
      [5, 5, RED],
      [20, 5, PURPLE],
      [35, 5, BLUE],
      [5, 17, WHITE],
      [20, 17, PURPLE],
      [35, 17, WHITE],
      [5, 30, WHITE],
      [35, 30, BLUE],
    ],
  },
  {
    name: 'gradient with its own matrix, whatever that of the item',
    list: page([
      group(
        [
          rectangle(box(0, 0, 1, 1), axial(0, 0, 10, 0, { matrix: [0, 1, -1, 0, 0, 5] }), {
            matrix: [20, 0, 0, 20, 0, 0],
          }),
        ],
        {
          matrix: [1, 0, 0, 1, 10, 10],
        },
      ),
    ]),
    points: [
      [20, 12, RED],
      [20, 20, PURPLE],
      [15, 20, PURPLE],
      [20, 29, BLUE],
    ],
  },
  {
    name: 'stops with opacity and hard edges',
    list: page([
      rectangle(
        box(0, 0, 40, 40),
        axial(0, 0, 40, 0, {
          stops: [
            { offset: 0, color: RED, alpha: 1 },
            { offset: 0.5, color: RED, alpha: 1 },
            { offset: 0.5, color: BLUE, alpha: 0.5 },
            { offset: 1, color: BLUE, alpha: 0.5 },
          ],
        }),
      ),
    ]),
    points: [
      [19, 20, RED],
      [21, 20, [128, 128, 255]],
      [39, 20, [128, 128, 255]],
    ],
  },
  {
    name: 'radial gradient, circles in one another',
    list: page([
      rectangle(box(0, 0, 40, 40), radial([20, 20, 4], [20, 20, 16], closed)),
      rectangle(box(0, 0, 4, 4), radial([20, 20, 4], [20, 20, 16])),
    ]),
    points: [
      [20, 20, WHITE],
      [25, 20, [234, 0, 21]],
      [30, 20, PURPLE],
      [39, 20, WHITE],
      [1, 1, BLUE],
    ],
  },
  {
    name: 'radial gradient from the outer to the inner circle',
    list: page([rectangle(box(0, 0, 40, 40), radial([20, 20, 16], [24, 20, 4], closed))]),
    points: [
      [24, 20, WHITE],
      [5, 20, [240, 0, 15]],
      [38, 38, WHITE],
    ],
  },
  {
    name: 'radial gradient, circles side by side',
    list: page([
      rectangle(box(0, 0, 40, 40), radial([10, 10, 5], [30, 10, 5], closed)),
      rectangle(box(0, 20, 40, 20), radial([15, 30, 2], [25, 30, 6])),
    ]),
    points: [
      [6, 10, [242, 0, 13]],
      [12, 10, [166, 0, 89]],
      [34, 10, [13, 0, 242]],
      [38, 10, WHITE],
      [20, 17, WHITE],
      [2, 22, WHITE],
      [36, 30, BLUE],
      [11, 30, RED],
    ],
  },
  {
    name: 'stroke with a gradient',
    list: page([line([10, 10, 30, 10, 30, 30, 10, 30], pen(4, { paint: axial(10, 0, 30, 0) }))]),
    points: [
      [10.5, 10, RED],
      [20, 10, PURPLE],
      [30, 20, BLUE],
      [20, 20, WHITE],
    ],
  },
  {
    name: 'a pattern, clipped to the shape and to its cells',
    list: page([
      filled(circle(20, 20, 18), tiling([rectangle(box(0, 0, 9, 3), RED), rectangle(box(3, 3, 3, 3), BLUE)], 6, 10)),
    ]),
    points: [
      [21, 21, RED],
      [25, 21, RED],
      [27, 21, WHITE],
      [24, 24, BLUE],
      [21, 24, WHITE],
      [31, 21, RED],
      [1, 1, WHITE],
      [11, 11, RED],
    ],
  },
  {
    name: 'a turned half transparent pattern',
    list: page([
      rectangle(
        box(0, 0, 40, 40),
        tiling([rectangle(box(0, 0, 5, 10), RED)], 10, 10, { matrix: [0, 1, -1, 0, 0, 0], alpha: 0.5 }),
      ),
    ]),
    points: [
      [20, 2, PINK],
      [20, 8, WHITE],
      [20, 12, PINK],
      [20, 18, WHITE],
    ],
  },
  {
    name: 'a pattern of very many cells',
    list: page([rectangle(box(2, 2, 36, 36), tiling([rectangle(box(0, 0, 0.2, 0.2), BLACK)], 0.4, 0.4))]),
    points: [[1, 1, WHITE]],
  },
  {
    name: 'a picture, upright, mirrored, turned',
    list: page([
      image(picture, [10, 0, 0, 10, 5, 5]),
      image(picture, [-10, 0, 0, 10, 35, 5]),
      image(picture, [0, 10, -10, 0, 15, 25]),
      image(picture, [7, 7, -7, 7, 28, 21]),
    ]),
    points: [
      [7, 7, RED],
      [13, 7, GREEN],
      [7, 13, BLUE],
      [13, 13, WHITE],
      [33, 7, RED],
      [27, 7, GREEN],
      [33, 13, BLUE],
      [13, 27, RED],
      [13, 33, GREEN],
      [7, 27, BLUE],
      [28, 24, RED],
      [32, 28, GREEN],
      [24, 28, BLUE],
    ],
  },
  {
    name: 'a picture with opacity, transparency and a mask',
    list: page([
      image(await smallPicture([RED, [255, 0, 0, 0], [0, 0, 255, 128], BLUE]), [10, 0, 0, 10, 5, 5]),
      image(picture, [10, 0, 0, 10, 25, 5], { alpha: 0.5 }),
      image(await smallPicture([BLACK, BLACK, BLACK, BLACK]), [10, 0, 0, 10, 5, 25], {
        mask: await smallPicture([WHITE, BLACK, GREY, WHITE]),
      }),
    ]),
    points: [
      [7, 7, RED],
      [13, 7, WHITE],
      [7, 13, [127, 127, 255]],
      [13, 13, BLUE],
      [27, 7, PINK],
      [33, 7, [128, 255, 128]],
      [7, 27, BLACK],
      [13, 27, WHITE],
      [7, 33, [127, 127, 127]],
      [13, 33, BLACK],
    ],
  },
  {
    name: 'glyph runs: places, shape, squeeze, bold',
    list: page([
      run([1, 0, 1], [5, 9, 13], [9, 9, 9]),
      run([2, 2], [25, 30], [9, 9], { fill: solid(RED) }),
      run([1, 1], [5, 15], [19, 19], { xScale: [0.5, 1] }),
      run([1], [5], [29], { shape: [1, 0, -1, 1] }),
      run([1], [25], [29], { emboldenMm: 2 }),
      run([1], [3], [3], { matrix: [0, 1, -1, 0, 38, 30] }),
    ]),
    points: [
      [7, 7, BLACK],
      [11, 7, WHITE],
      [15, 7, BLACK],
      [7, 9.5, WHITE],
      [25.4, 7, RED],
      [27, 7, WHITE],
      [30.4, 7, RED],
      [6, 17, BLACK],
      [8, 17, WHITE],
      [18, 17, BLACK],
      [5.3, 28.7, BLACK],
      [5.3, 25.5, WHITE],
      [12, 25.4, BLACK],
      [24.4, 27, BLACK],
      [29.6, 27, BLACK],
      [23.5, 27, WHITE],
      [37, 35, BLACK],
      [37, 32, WHITE],
    ],
  },
  {
    name: 'glyphs with gradient, pattern and outline; invisible ones',
    list: page([
      run([1, 1], [0, 20], [20, 20], { sizeMm: 16, fill: axial(0, 0, 40, 0) }),
      run([1], [4], [36], { sizeMm: 8, stroke: pen(2, { paint: solid(BLUE) }), fill: solid(RED) }),
      (() => {
        const { fill: _, ...bare } = run([1], [20], [38], { sizeMm: 8 });
        return bare;
      })(),
    ]),
    points: [
      [1, 12, [249, 0, 6]],
      [24, 12, [102, 0, 153]],
      [8, 32, RED],
      [4, 32, BLUE],
      [24, 34, WHITE],
    ],
  },
  {
    name: 'one content in several places',
    list: page([
      group(shared, { isShared: true, matrix: [1, 0, 0, 1, 5, 5] }),
      group(shared, { isShared: true, matrix: [1, 0, 0, 1, 25, 5], alpha: 0.5 }),
      group(shared, { isShared: true, matrix: [2, 0, 0, 2, 5, 25] }),
    ]),
    points: [
      [7, 7, RED],
      [12, 7, BLUE],
      [27, 7, PINK],
      [8, 28, RED],
      [20, 30, BLUE],
    ],
  },
  {
    name: 'lines without length: dots under round and square ends, nothing under others',
    list: page([
      line([10, 10, 10, 10], pen(6, { cap: 'round' })),
      line([20, 10, 20, 10], pen(6, { cap: 'square' })),
      line([30, 10, 30, 10], pen(6)),
      line([10, 30, 10, 30, 20, 30], pen(6, { cap: 'square' })),
    ]),
    points: [
      [10, 10, BLACK],
      [12, 12, BLACK],
      [20, 10, BLACK],
      [22.5, 12.5, BLACK],
      [12.6, 12.6, WHITE],
      [30, 10, WHITE],
      [15, 30, BLACK],
    ],
  },
];
