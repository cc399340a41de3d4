import { describe, expect, it } from 'vitest';
import { build, extent, paths, pathXml } from './support.js';

function area(data: string, attributes = '', areaAttributes = ''): string {
  return `<ofd:Area ${areaAttributes}><ofd:Path ${attributes}><ofd:AbbreviatedData>${data}</ofd:AbbreviatedData></ofd:Path></ofd:Area>`;
}

function square(x: number, y: number, size: number): string {
  return `M ${x} ${y} L ${x + size} ${y} L ${x + size} ${y + size} L ${x} ${y + size} C`;
}

function clips(areas: string, attributes = 'TransFlag="false"'): string {
  return `<ofd:Clips ${attributes}><ofd:Clip>${areas}</ofd:Clip></ofd:Clips>`;
}

async function clipsOf(children: string, attributes = '') {
  const [item] = paths((await build(pathXml('M 0 0 L 5 5', attributes, children))).items);
  return item!.clips;
}

async function extents(children: string, attributes = ''): Promise<number[][]> {
  return (await clipsOf(children, attributes)).map((clip) => extent(clip.path));
}

describe('Clips', () => {
  const CTM = 'CTM="2 0 0 2 5 5"';
  const full = area(square(1, 2, 3), 'Boundary="10 10 1 1" CTM="3 0 0 3 1 1"', 'CTM="0.5 0 0 0.5 0 0"');

  it('are T(B)·A·T(b)·m without TransFlag', async () => {
    // m: 1→4, 2→7, size 9; b: 14, 17; A: 7, 8.5, size 4.5; B: 17, 28.5
    expect(await extents(clips(full), CTM)).toEqual([[17, 28.5, 21.5, 33]]);
  });

  it('are T(B)·M·A·T(b)·m with it', async () => {
    // M: 7→19, 8.5→22, size 9; B: 29, 42
    expect(await extents(clips(full, 'TransFlag="true"'), CTM)).toEqual([[29, 42, 38, 51]]);
  });

  it('follow the form that fits Boundary better where nothing is said', async () => {
    const wide = area(square(0, 0, 50));
    expect(await extents(clips(wide, ''), 'CTM="0.1 0 0 0.1 0 0"')).toEqual([[10, 20, 60, 70]]);
    const unit = area(square(0, 0, 1));
    expect(await extents(clips(unit, ''), 'CTM="50 0 0 40 0 0"')).toContainEqual([10, 20, 60, 60]);
    expect(await extents(clips(wide, ''))).toEqual([[10, 20, 60, 70]]);
  });

  it('without a Boundary of the path start at the object', async () => {
    expect(await extents(clips(area(square(1, 2, 3))))).toEqual([[11, 22, 14, 25]]);
  });

  it('intersect, and unite their areas', async () => {
    const two = `<ofd:Clips><ofd:Clip>${area(square(0, 0, 4))}${area(square(2, 2, 4))}</ofd:Clip><ofd:Clip>${area(square(1, 1, 9))}</ofd:Clip></ofd:Clips>`;
    expect(await extents(two)).toEqual([
      [10, 20, 16, 26],
      [11, 21, 20, 30],
    ]);
  });

  it('that say the same are one, and there are no more than the limit', async () => {
    const clip = (side: number) => `<ofd:Clip>${area(square(0, 0, side))}</ofd:Clip>`;
    const same = `<ofd:Clips TransFlag="false">${clip(4).repeat(1000)}${clip(5)}</ofd:Clips>`;
    expect(await extents(same)).toEqual([
      [10, 20, 14, 24],
      [10, 20, 15, 25],
    ]);
    const many = Array.from({ length: 300 }, (_, i) => clip(1 + i)).join('');
    expect(await clipsOf(`<ofd:Clips TransFlag="false">${many}</ofd:Clips>`)).toHaveLength(256);
  });

  it('unite areas that turn against each other without a hole', async () => {
    const reversed = area('M 2 2 L 2 6 L 6 6 L 6 2 C');
    const [clip] = await clipsOf(clips(area(square(0, 0, 4)) + reversed));
    expect(clip!.rule).toBe('nonzero');
    const { coordinates } = clip!.path;
    const signed = (from: number) => {
      const [ax, ay, bx, by, cx, cy] = coordinates.slice(from, from + 6) as [
        number,
        number,
        number,
        number,
        number,
        number,
      ];
      return Math.sign((bx - ax) * (cy - by) - (by - ay) * (cx - bx));
    };
    expect(signed(8)).toBe(signed(0));
  });

  it('keep their rule', async () => {
    const odd = area(square(0, 0, 9) + square(2, 2, 3), 'Rule="Even-Odd"');
    expect((await clipsOf(clips(odd)))[0]!.rule).toBe('evenodd');
    expect((await clipsOf(clips(odd + area(square(20, 20, 3)))))[0]!.rule).toBe('evenodd');
  });

  it('hide nothing where they are empty', async () => {
    expect(await clipsOf('<ofd:Clips/>')).toEqual([]);
    expect(await clipsOf('<ofd:Clips><ofd:Clip/></ofd:Clips>')).toEqual([]);
    expect(await clipsOf(clips(area('')))).toEqual([]);
    expect(await extents(clips(area('') + area(square(0, 0, 4))))).toEqual([[10, 20, 14, 24]]);
  });
});
