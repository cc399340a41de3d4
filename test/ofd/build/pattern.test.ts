import { describe, expect, it } from 'vitest';
import type { Paint, TilingPaint } from '../../../src/display/paint.js';
import { build, extent, groups, MEDIA, paths, pathXml, png, rounded } from './support.js';

const CELL = `<ofd:CellContent>${pathXml('M 0 0 L 5 5', 'Boundary="1 1 5 5"')}</ofd:CellContent>`;

async function paint(pattern: string, attributes = '', content = CELL): Promise<Paint | undefined> {
  const fill = `<ofd:FillColor Value="0 0 0"><ofd:Pattern ${pattern}>${content}</ofd:Pattern></ofd:FillColor>`;
  const xml = pathXml('M 0 0 L 50 0 L 50 40 C', `Fill="true" Stroke="false" ${attributes}`, fill);
  const page = await build(xml, { publicRes: MEDIA, files: { 'Doc_0/Res/a.png': png(4, 4) } });
  return paths(page.items)[0]?.fill?.paint;
}

async function tiling(pattern: string, attributes = '', content = CELL): Promise<TilingPaint> {
  const found = await paint(pattern, attributes, content);
  if (found?.kind !== 'tiling') throw new Error(`not a tiling: ${found?.kind}`);
  return found;
}

describe('Pattern', () => {
  it('starts at Boundary, in the space of the object', async () => {
    const found = await tiling('Width="10" Height="8"', 'CTM="2 0 0 2 1 1" Alpha="51"');
    expect(found).toMatchObject({ width: 10, height: 8, xStep: 10, yStep: 8, alpha: 0.2 });
    expect(found.matrix).toEqual([2, 0, 0, 2, 11, 21]);
    expect(paths(found.items)).toHaveLength(1);
  });

  it('steps no less than its cell', async () => {
    expect(await tiling('Width="10" Height="8" XStep="20" YStep="3"')).toMatchObject({ xStep: 20, yStep: 8 });
  });

  it('starts at the page where it says so', async () => {
    const found = await tiling('Width="10" Height="8" RelativeTo="Page" CTM="1 0 0 1 3 4"', 'CTM="2 0 0 2 1 1"');
    expect(found.matrix).toEqual([1, 0, 0, 1, 3, 4]);
  });

  it('has its own CTM on the finished tiling', async () => {
    expect((await tiling('Width="10" Height="8" CTM="0 1 -1 0 0 0"')).matrix).toEqual([0, 1, -1, 0, 10, 20]);
  });

  it.each([
    [
      'Row',
      10,
      22,
      [
        [1, 0, 0, 1, 0, 0],
        [1, 0, 0, -1, 0, 22],
      ],
    ],
    [
      'Column',
      25,
      8,
      [
        [1, 0, 0, 1, 0, 0],
        [-1, 0, 0, 1, 25, 0],
      ],
    ],
  ])('mirrored by %s is a larger cell', async (method, width, height, matrices) => {
    const found = await tiling(`Width="10" Height="8" XStep="15" YStep="14" ReflectMethod="${method}"`);
    expect(found).toMatchObject({ width, height });
    expect(groups(found.items).map((group) => group.matrix.map(rounded))).toEqual(matrices);
  });

  it('mirrored both ways is four cells, each cut to its size', async () => {
    const found = await tiling('Width="10" Height="8" ReflectMethod="RowAndColumn"');
    expect(found).toMatchObject({ width: 20, height: 16, xStep: 20, yStep: 16 });
    expect(groups(found.items).map((group) => extent(group.clips[0]!.path))).toEqual([
      [0, 0, 10, 8],
      [10, 0, 20, 8],
      [0, 8, 10, 16],
      [10, 8, 20, 16],
    ]);
  });

  it('shows nothing rather than black where its cell is empty or has no size', async () => {
    expect(await paint('Width="10" Height="8"', '', '<ofd:CellContent/>')).toBeUndefined();
    expect(await paint('Width="0" Height="8"')).toBeUndefined();
    expect(await paint('Height="8"')).toBeUndefined();
  });

  it('shows its thumbnail where the cell is empty', async () => {
    const found = await tiling('Width="10" Height="8"', '', '<ofd:CellContent Thumbnail="10"/>');
    expect(found.items).toMatchObject([{ kind: 'image', matrix: [10, 0, 0, 8, 0, 0] }]);
  });

  it('may hold a pattern', async () => {
    const inner = `<ofd:FillColor><ofd:Pattern Width="2" Height="2">${CELL}</ofd:Pattern></ofd:FillColor>`;
    const content = `<ofd:CellContent>${pathXml('M 0 0 L 5 5', 'Boundary="1 1 5 5" Fill="true"', inner)}</ofd:CellContent>`;
    const found = await tiling('Width="10" Height="8"', '', content);
    expect(paths(found.items)[0]!.fill!.paint).toMatchObject({ kind: 'tiling', width: 2 });
  });
});
