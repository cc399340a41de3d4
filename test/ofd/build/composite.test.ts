import { describe, expect, it } from 'vitest';
import type { Group, Item } from '../../../src/display/list.js';
import { build, extent, FONTS, groups, images, MEDIA, paths, pathXml, png, textOf } from './support.js';

function unit(id: number, content: string, attributes = 'Width="500" Height="500"'): string {
  return `<ofd:CompositeGraphicUnit ID="${id}" ${attributes}><ofd:Content>${content}</ofd:Content></ofd:CompositeGraphicUnit>`;
}

function units(...list: readonly string[]): string {
  return `${FONTS}${MEDIA}<ofd:CompositeGraphicUnits>${list.join('')}</ofd:CompositeGraphicUnits>`;
}

function composite(id: number, attributes = 'Boundary="10 20 50 40"'): string {
  return `<ofd:CompositeObject ID="5" ${attributes} ResourceID="${id}"/>`;
}

const LINE = pathXml('M 0 5 L 40 5', 'Boundary="1 2 40 10"');
const TEXT = '<ofd:TextObject ID="9" Font="1" Size="4"><ofd:TextCode>a</ofd:TextCode></ofd:TextObject>';

function inner(items: readonly Item[], index = 0): Group {
  return groups(groups(items)[index]!.items)[0]!;
}

/** Groups inside each other. */
function nesting(items: readonly Item[]): number {
  return Math.max(0, ...groups(items).map((group) => 1 + nesting(group.items)));
}

describe('CompositeObject', () => {
  it('places its unit by Boundary and CTM, and scales it by nothing else', async () => {
    const page = await build(composite(50, 'Boundary="10 20 50 40" CTM="0.5 0 0 0.5 3 4"'), {
      publicRes: units(unit(50, LINE)),
    });
    const [group] = groups(page.items);
    expect(group).toMatchObject({ matrix: [0.5, 0, 0, 0.5, 13, 24], alpha: 1 });
    expect(extent(group!.clips[0]!.path)).toEqual([9.5, 19.5, 60.5, 60.5]);
    const [line] = paths(inner(page.items).items);
    expect(line!.matrix).toEqual([1, 0, 0, 1, 1, 2]);
  });

  it('is cut at the size of its unit only without a Boundary', async () => {
    const publicRes = units(unit(50, LINE, 'Width="30" Height="20"'));
    const page = await build(composite(50, 'CTM="2 0 0 2 0 0"'), { publicRes });
    expect(extent(groups(page.items)[0]!.clips[0]!.path)).toEqual([-1, -1, 61, 41]);
  });

  it('fades as one picture, and keeps its text where it cannot be seen', async () => {
    const publicRes = units(unit(50, LINE + TEXT));
    const faded = await build(composite(50, 'Boundary="10 20 50 40" Alpha="51"'), { publicRes });
    expect(groups(faded.items)[0]!.alpha).toBe(0.2);
    const gone = await build(composite(50, 'Boundary="10 20 50 40" Alpha="0"'), { publicRes });
    expect(textOf(gone.items)).toBe('a');
    expect(paths(inner(gone.items).items)).toEqual([]);
    expect(inner(gone.items).items[0]).not.toHaveProperty('fill');
  });

  it('shares its unit through all uses on all pages that look the same', async () => {
    const publicRes = units(unit(50, LINE));
    const xml = composite(50) + composite(50, 'Boundary="0 0 9 9"') + composite(50, 'Boundary="0 0 9 9" LineWidth="3"');
    const page = await build(xml, { publicRes, pages: [xml, xml] });
    const [first, second, third] = [0, 1, 2].map((index) => inner(page.items, index));
    expect(first!.isShared).toBe(true);
    expect(second).toBe(first);
    expect(third).not.toBe(first);
    expect(inner(page.document.page(1).items)).toBe(first);
  });

  it('of a page with resources of its own is not shared with others', async () => {
    const pageXml = (content: string) =>
      `<ofd:Page><ofd:PageRes>Res.xml</ofd:PageRes><ofd:Content><ofd:Layer ID="2">${content}</ofd:Layer></ofd:Content></ofd:Page>`;
    const res = `<Res BaseLoc="">${FONTS.replaceAll('ofd:', '')}</Res>`;
    const page = await build('', {
      publicRes: units(unit(50, TEXT)),
      pages: [pageXml(composite(50) + composite(50)), composite(50)],
      files: { 'Doc_0/Pages/Page_0/Res.xml': res },
    });
    expect(inner(page.items, 1)).toBe(inner(page.items, 0));
    expect(inner(page.document.page(1).items)).not.toBe(inner(page.items));
  });

  it('with a pattern that starts at the page is built for each place', async () => {
    const fill =
      '<ofd:FillColor><ofd:Pattern Width="9" Height="9" RelativeTo="Page"><ofd:CellContent>' +
      `${LINE}</ofd:CellContent></ofd:Pattern></ofd:FillColor>`;
    const publicRes = units(unit(50, pathXml('M 0 0 L 9 9 L 0 9 C', 'Fill="true"', fill)));
    const { items } = await build(composite(50) + composite(50, 'Boundary="30 20 50 40"'), { publicRes });
    const offsets = groups(items).map((group) => {
      const paint = paths(group.items)[0]!.fill!.paint;
      return paint.kind === 'tiling' ? paint.matrix.slice(4) : undefined;
    });
    expect(offsets).toEqual([
      [-10, -20],
      [-30, -20],
    ]);
  });

  it('may stand inside another, and inside itself stops', async () => {
    const ring = units(unit(50, LINE + composite(51)), unit(51, composite(50) + LINE));
    const page = await build(composite(50), { publicRes: ring });
    const [outer] = groups(page.items);
    expect(outer!.items.map((item) => item.kind)).toEqual(['path', 'group']);
    expect(paths(groups(outer!.items)[0]!.items)).toHaveLength(1);
    expect(page.codes).toContain('reference_ring');
  });

  it('nests no deeper than allowed, shared or not', async () => {
    const chain = Array.from({ length: 60 }, (_, i) => unit(100 + i, composite(101 + i) + LINE));
    const xml = composite(130) + composite(100);
    const page = await build(xml, { publicRes: units(...chain, unit(160, LINE)) });
    expect(nesting(page.items)).toBeLessThanOrEqual(64);
    expect(page.codes).toContain('nesting_cut');
  });

  it('counts its objects each time, so that doubling ends', async () => {
    const bomb = Array.from({ length: 30 }, (_, i) => unit(100 + i, composite(101 + i) + composite(101 + i)));
    const page = await build(
      composite(100),
      { publicRes: units(...bomb, unit(130, LINE)) },
      {},
      { maxObjectsPerPage: 1000 },
    );
    expect(page.codes).toContain('objects_cut');
  });

  it('that is not defined is left out with a warning', async () => {
    const page = await build(composite(77) + LINE, { publicRes: units() });
    expect(page.items).toHaveLength(1);
    expect(page.codes).toContain('reference_missing');
  });

  it('without content shows its picture', async () => {
    const publicRes = units(
      '<ofd:CompositeGraphicUnit ID="50" Width="9" Height="9"><ofd:Thumbnail>10</ofd:Thumbnail></ofd:CompositeGraphicUnit>',
    );
    const page = await build(composite(50), { publicRes, files: { 'Doc_0/Res/a.png': png(4, 4) } });
    expect(images(page.items)[0]!.matrix).toEqual([50, 0, 0, 40, 10, 20]);
  });

  it('may be written as a unit among the objects', async () => {
    const xml = `<ofd:CompositeGraphicUnit ID="5" Boundary="10 20 50 40"><ofd:Content>${LINE}</ofd:Content></ofd:CompositeGraphicUnit>`;
    const page = await build(xml);
    expect(paths(groups(page.items)[0]!.items)).toHaveLength(1);
  });
});
