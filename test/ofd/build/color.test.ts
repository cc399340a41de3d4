import { describe, expect, it } from 'vitest';
import { build, FONTS, paths, pathXml } from './support.js';

const SPACES =
  '<ofd:ColorSpaces><ofd:ColorSpace ID="1" Type="GRAY"/><ofd:ColorSpace ID="2" Type="RGB" BitsPerComponent="4"/>' +
  '<ofd:ColorSpace ID="3" Type="CMYK"/><ofd:ColorSpace ID="4" Type="RGB"><ofd:Palette><ofd:CV>255 0 0</ofd:CV>' +
  '<ofd:CV>#0 #FF #80</ofd:CV></ofd:Palette></ofd:ColorSpace><ofd:ColorSpace ID="5" Type="CMYK" Profile="x.icc"/>' +
  '</ofd:ColorSpaces>';

async function color(attributes: string, commonData = ''): Promise<number[]> {
  const xml = pathXml('M 0 0 L 9 9', 'Fill="true"', `<ofd:FillColor ${attributes}/>`);
  const { items } = await build(xml, { publicRes: FONTS + SPACES, commonData });
  const { paint } = paths(items)[0]!.fill!;
  return paint.kind === 'solid' ? paint.color.map(Math.round) : [];
}

describe('colours', () => {
  it.each([
    ['decimal', 'Value="255 128 0"', [255, 128, 0]],
    ['hexadecimal', 'Value="#FF #80 #0"', [255, 128, 0]],
    ['mixed', 'Value="#FF 128 #0"', [255, 128, 0]],
    ['of the web', 'Value="#ff8000"', [255, 128, 0]],
    ['floats', 'Value="255.0 127.6 0.0"', [255, 128, 0]],
    ['commas', 'Value="255,128,0"', [255, 128, 0]],
    ['beyond the range', 'Value="300 -5 0"', [255, 0, 0]],
    ['one channel without a space', 'Value="128"', [128, 128, 128]],
    ['four channels without a space', 'Value="0 0 0 0"', [255, 255, 255]],
    ['two channels', 'Value="1 2"', [0, 0, 0]],
    ['empty', 'Value=""', [0, 0, 0]],
    ['grey', 'Value="64" ColorSpace="1"', [64, 64, 64]],
    ['four bits', 'Value="15 0 5" ColorSpace="2"', [255, 0, 85]],
    ['a count that does not fit the space', 'Value="255 128 0" ColorSpace="3"', [255, 128, 0]],
    ['a space that is not there', 'Value="255 128 0" ColorSpace="77"', [255, 128, 0]],
    ['an index', 'Index="1" ColorSpace="4"', [0, 255, 128]],
    ['value before index', 'Value="1 2 3" Index="1" ColorSpace="4"', [1, 2, 3]],
    ['an index out of range', 'Index="7" ColorSpace="4"', [0, 0, 0]],
    ['no ink at all', 'ColorSpace="3"', [255, 255, 255]],
    ['a profile is passed over', 'Value="0 0 0 0" ColorSpace="5"', [255, 255, 255]],
  ])('%s', async (_, attributes, expected) => {
    expect(await color(attributes)).toEqual(expected);
  });

  it.each([
    ['255 0 0 0', [0, 173, 239]],
    ['0 255 0 0', [236, 0, 140]],
    ['0 0 255 0', [255, 242, 0]],
    ['0 0 0 255', [35, 31, 32]],
    ['113 21 243 33', [127, 172, 40]],
  ])('of inks %s look as in print', async (value, expected) => {
    expect(await color(`Value="${value}" ColorSpace="3"`)).toEqual(expected);
  });

  it('are of the default space of the document where they name none', async () => {
    const common = '<ofd:DefaultCS>2</ofd:DefaultCS>';
    expect(await color('Value="15 0 5"', common)).toEqual([255, 0, 85]);
    expect(await color('Value="64" ColorSpace="1"', common)).toEqual([64, 64, 64]);
  });
});
