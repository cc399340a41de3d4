// Boxes around items, and clips that matter.
import { describe, expect, it } from 'vitest';
import { Path, rectanglePath } from '../../src/display/geometry.js';
import { effectiveClips, itemBounds, pixelBox, rectangleOf } from '../../src/render/bounds.js';
import { box, clip, group, image, line, pen, RED, rectangle, run } from './lists.js';
import { smallPicture } from './scenes.js';

describe('bounds', () => {
  it('hold fill, pen and corners', () => {
    expect(itemBounds(rectangle(box(1, 2, 3, 4), RED, { matrix: [2, 0, 0, 2, 10, 0] }))).toEqual(box(12, 4, 6, 8));
    expect(itemBounds(line([0, 5, 10, 5], pen(2)))).toEqual(box(-1, 4, 12, 2));
    const corner = itemBounds(line([0, 0, 10, 1, 0, 2], pen(2)))!;
    expect(corner.x + corner.width).toBeGreaterThanOrEqual(20);
  });

  it('hold glyphs where they stand, squeezed and turned', () => {
    expect(itemBounds(run([1, 1], [0, 10], [4, 4], { xScale: [1, 0.5] }))).toEqual(box(0, 0, 12, 4));
    const turned = itemBounds(run([1], [0], [0], { matrix: [0, 1, -1, 0, 20, 0] }))!;
    expect([turned.x, turned.y, turned.width, turned.height].map(Math.round)).toEqual([20, 0, 4, 4]);
  });

  it('are those of the children, cut by clips', async () => {
    const picture = image(await smallPicture(), [10, 0, 0, 10, 0, 0]);
    const both = group([picture, rectangle(box(20, 20, 5, 5), RED)], { matrix: [1, 0, 0, 1, 5, 5] });
    expect(itemBounds(both)).toEqual(box(5, 5, 25, 25));
    expect(itemBounds({ ...both, clips: [clip(rectanglePath(box(0, 0, 10, 10)))] })).toEqual(box(5, 5, 5, 5));
  });

  it('are none where nothing is painted', () => {
    const { fill: _, ...bare } = run([1], [0], [0]);
    expect(itemBounds(bare)).toBeUndefined();
    expect(itemBounds(run([0], [0], [0]))).toBeUndefined();
    expect(itemBounds(group([]))).toBeUndefined();
    expect(itemBounds(group([rectangle(box(0, 0, 1, 1), RED)], { alpha: 0 }))).toBeUndefined();
  });
});

describe('clips', () => {
  const item = rectangle(box(5, 5, 5, 5), RED);

  it('that hold the item whole do not matter', () => {
    expect(effectiveClips({ ...item, clips: [clip(rectanglePath(box(0, 0, 20, 20)))] })).toEqual([]);
    const cutting = clip(rectanglePath(box(0, 0, 7, 20)));
    expect(effectiveClips({ ...item, clips: [cutting] })).toEqual([cutting]);
  });

  it('that leave nothing hide the item', () => {
    expect(effectiveClips({ ...item, clips: [clip(new Path())] })).toBeUndefined();
    expect(effectiveClips({ ...item, clips: [clip(rectanglePath(box(30, 30, 5, 5)))] })).toBeUndefined();
  });

  it('are rectangles only where all four corners say so', () => {
    expect(rectangleOf(rectanglePath(box(1, 2, 3, 4)))).toEqual(box(1, 2, 3, 4));
    expect(rectangleOf(line([0, 0, 5, 0, 5, 5, 0, 5, 0, 0], pen(1)).path)).toEqual(box(0, 0, 5, 5));
    expect(rectangleOf(line([0, 0, 5, 0, 5, 5, 1, 5], pen(1)).path)).toBeUndefined();
    expect(rectangleOf(line([0, 0, 5, 0, 0, 5, 5, 5], pen(1)).path)).toBeUndefined();
    expect(rectangleOf(line([0, 0, 5, 5], pen(1)).path)).toBeUndefined();
  });
});

describe('pixels of a box', () => {
  it('are whole and inside the limit', () => {
    expect(pixelBox(box(1.2, 1.8, 2, 2), box(0, 0, 10, 10))).toEqual(box(1, 1, 3, 3));
    expect(pixelBox(box(-5, -5, 7, 100), box(0, 0, 10, 10))).toEqual(box(0, 0, 2, 10));
    expect(pixelBox(box(11, 0, 5, 5), box(0, 0, 10, 10))).toBeUndefined();
  });
});
