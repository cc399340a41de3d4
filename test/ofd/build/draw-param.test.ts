import { describe, expect, it } from 'vitest';
import type { Item } from '../../../src/display/list.js';
import { build, FONTS, groups, paths, pathXml, runs } from './support.js';

const PARAMS =
  '<ofd:DrawParams>' +
  '<ofd:DrawParam ID="20" LineWidth="4" Cap="Round"><ofd:FillColor Value="0 0 255"/><ofd:StrokeColor Value="128 0 0"/></ofd:DrawParam>' +
  '<ofd:DrawParam ID="21" Relative="20" LineWidth="2"/>' +
  '<ofd:DrawParam ID="22" Relative="21"><ofd:FillColor Value="0 160 0"/></ofd:DrawParam>' +
  '<ofd:DrawParam ID="30" Relative="31" LineWidth="3"/><ofd:DrawParam ID="31" Relative="30" Join="Round"/>' +
  '<ofd:DrawParam ID="40" Relative="99" LineWidth="5"/>' +
  '<ofd:DrawParam ID="50"><ofd:StrokeColor/></ofd:DrawParam>' +
  '</ofd:DrawParams>';
const UNIT =
  '<ofd:CompositeGraphicUnits><ofd:CompositeGraphicUnit ID="60" Width="50" Height="40"><ofd:Content>' +
  `${pathXml('M 0 5 L 40 5')}</ofd:Content></ofd:CompositeGraphicUnit></ofd:CompositeGraphicUnits>`;
const publicRes = FONTS + PARAMS + UNIT;
const LINE = 'M 0 5 L 40 5';

async function built(xml: string) {
  return build(xml, { publicRes });
}

function stroke(items: readonly Item[], index = 0) {
  return paths(items)[index]!.stroke!;
}

function layer(objects: string, attributes: string): string {
  return `<ofd:Page><ofd:Content><ofd:Layer ID="2" ${attributes}>${objects}</ofd:Layer></ofd:Content></ofd:Page>`;
}

describe('DrawParam', () => {
  it('gives each property by its own from the nearest that states it', async () => {
    const { items } = await built(pathXml(LINE, 'DrawParam="22" Fill="true"'));
    expect(stroke(items)).toMatchObject({ widthMm: 2, cap: 'round', join: 'miter', paint: { color: [128, 0, 0] } });
    expect(paths(items)[0]!.fill!.paint).toMatchObject({ color: [0, 160, 0] });
  });

  it('yields to the object itself', async () => {
    const own = '<ofd:StrokeColor Value="1 2 3"/>';
    const { items } = await built(pathXml(LINE, 'DrawParam="22" LineWidth="7"', own));
    expect(stroke(items)).toMatchObject({ widthMm: 7, cap: 'round', paint: { color: [1, 2, 3] } });
  });

  it('of the layer fills what the object and its own leave open', async () => {
    const objects = `<ofd:PageBlock>${pathXml(LINE, 'LineWidth="1"')}</ofd:PageBlock>${pathXml(LINE, 'DrawParam="30"')}`;
    const { items } = await built(layer(objects, 'DrawParam="20"'));
    expect(stroke(items)).toMatchObject({ widthMm: 1, cap: 'round', paint: { color: [128, 0, 0] } });
    expect(stroke(items, 1)).toMatchObject({ widthMm: 3, join: 'round', cap: 'round' });
  });

  it('does not leak to siblings', async () => {
    const { items } = await built(pathXml(LINE, 'DrawParam="20"') + pathXml(LINE));
    expect(stroke(items, 1)).toMatchObject({ widthMm: 0.353, cap: 'butt', paint: { color: [0, 0, 0] } });
  });

  it('never switches filling on', async () => {
    const { items } = await built(pathXml(LINE, 'DrawParam="22"'));
    expect(paths(items)[0]!.fill).toBeUndefined();
  });

  it('colours text', async () => {
    const xml =
      '<ofd:TextObject ID="3" Font="1" Size="4" DrawParam="22"><ofd:TextCode>a</ofd:TextCode></ofd:TextObject>';
    expect(runs((await built(xml)).items)[0]!.fill).toMatchObject({ color: [0, 160, 0] });
  });

  it('survives rings and missing references', async () => {
    const page = await built(
      pathXml(LINE, 'DrawParam="30"') + pathXml(LINE, 'DrawParam="40"') + pathXml(LINE, 'DrawParam="41"'),
    );
    expect(stroke(page.items)).toMatchObject({ widthMm: 3, join: 'round' });
    expect(stroke(page.items, 1)).toMatchObject({ widthMm: 5 });
    expect(page.codes.filter((code) => code === 'reference_missing')).toHaveLength(2);
    expect(page.codes.filter((code) => code === 'reference_ring')).toHaveLength(1);
  });

  it('reaches into composites through the object that places them', async () => {
    const composite = (attributes: string) =>
      `<ofd:CompositeObject ID="5" Boundary="0 0 50 40" ResourceID="60" ${attributes}/>`;
    const inner = async (xml: string) => {
      const [group] = groups((await built(xml)).items);
      return stroke(groups(group!.items)[0]!.items);
    };
    expect(await inner(composite('DrawParam="20" LineWidth="9"'))).toMatchObject({ widthMm: 9, cap: 'round' });
    expect(await inner(layer(composite('DrawParam="30"'), 'DrawParam="20"'))).toMatchObject({
      widthMm: 3,
      cap: 'round',
      join: 'round',
    });
  });

  it('is overridden by a colour without a value only in its opacity', async () => {
    const clear = '<ofd:StrokeColor Value="" Alpha="51"/>';
    const { items } = await built(pathXml(LINE, 'DrawParam="20"', clear) + pathXml(LINE, 'DrawParam="50"'));
    expect(stroke(items).paint).toEqual({ kind: 'solid', color: [128, 0, 0], alpha: 0.2 });
    expect(stroke(items, 1).paint).toMatchObject({ color: [0, 0, 0], alpha: 1 });
  });
});
