import { describe, expect, it } from 'vitest';
import { build, extent, images, MEDIA, paths, png } from './support.js';

function image(attributes: string, children = ''): string {
  return `<ofd:ImageObject ID="3" ${attributes}>${children}</ofd:ImageObject>`;
}

async function page(xml: string, a = png(40, 20), b?: Uint8Array) {
  const files = { 'Doc_0/Res/a.png': a, ...(b === undefined ? {} : { 'Doc_0/Res/b.png': b }) };
  return build(xml, { publicRes: MEDIA, files });
}

describe('ImageObject', () => {
  it.each([
    ['CTM times the unit square', 'Boundary="10 20 30 40" CTM="30 0 0 40 0 0"', [30, 0, 0, 40, 10, 20]],
    ['without CTM fills Boundary', 'Boundary="10 20 30 40"', [30, 0, 0, 40, 10, 20]],
    ['identity with a large Boundary fills it', 'Boundary="10 20 30 40" CTM="1 0 0 1 0 0"', [30, 0, 0, 40, 10, 20]],
    ['identity with a small Boundary is 1 mm', 'Boundary="10 20 1 1" CTM="1 0 0 1 0 0"', [1, 0, 0, 1, 10, 20]],
    ['a quarter turn', 'Boundary="10 20 20 20" CTM="0 20 -20 0 20 0"', [0, 20, -20, 0, 30, 20]],
    ['a CTM of zeros fills Boundary', 'Boundary="10 20 30 40" CTM="0 0 0 0 0 0"', [30, 0, 0, 40, 10, 20]],
  ])('%s', async (_, attributes, matrix) => {
    const [item] = images((await page(image(`${attributes} ResourceID="10"`))).items);
    expect(item!.matrix).toEqual(matrix);
    expect(item).toMatchObject({ alpha: 1, clips: [], blendMode: 'normal', smooth: true });
    expect(item!.image).toMatchObject({ format: 'png', widthPx: 40, heightPx: 20, part: 'Doc_0/Res/a.png' });
  });

  it('is cut where it leaves Boundary', async () => {
    const [item] = images((await page(image('Boundary="10 20 30 40" CTM="60 0 0 40 0 0" ResourceID="10"'))).items);
    expect(extent(item!.clips[0]!.path)).toEqual([9.9, 19.9, 40.1, 60.1]);
  });

  it('has its opacity, and is not there with none', async () => {
    const box = 'Boundary="0 0 9 9" ResourceID="10"';
    expect(images((await page(image(`${box} Alpha="51"`))).items)[0]!.alpha).toBe(0.2);
    expect((await page(image(`${box} Alpha="0"`))).items).toEqual([]);
  });

  it('is one object for one part', async () => {
    const [first, second] = images((await page(image('Boundary="0 0 9 9" ResourceID="10"').repeat(2))).items);
    expect(second!.image).toBe(first!.image);
  });

  it('keeps the squares of small palettes and of one bit, when they show', async () => {
    const smooth = async (size: number, bitDepth: number, colorType: number, millimetres: number) => {
      const xml = image(`Boundary="0 0 ${millimetres} ${millimetres}" ResourceID="10"`);
      return images((await page(xml, png(size, size, bitDepth, colorType))).items)[0]!.smooth;
    };
    expect(await smooth(33, 1, 0, 30)).toBe(false);
    expect(await smooth(33, 8, 3, 30)).toBe(false);
    expect(await smooth(33, 8, 2, 30)).toBe(true);
    expect(await smooth(100, 1, 0, 30)).toBe(true);
    expect(await smooth(500, 8, 3, 400)).toBe(true);
    expect(await smooth(500, 1, 0, 400)).toBe(false);
  });

  it.each([
    ['it names no resource', '', 'image_missing'],
    ['the resource is not defined', 'ResourceID="99"', 'image_missing'],
    ['the file is not there', 'ResourceID="11"', 'image_missing'],
  ])('is left out with a warning where %s', async (_, attributes, code) => {
    const { items, diagnostics } = await page(image(`Boundary="0 0 9 9" ${attributes}`));
    expect(items).toEqual([]);
    expect(diagnostics).toMatchObject([{ code, page: 1, objectId: '3' }]);
  });

  it('is left out with a warning where it is no picture, or too large', async () => {
    const xml = image('Boundary="0 0 9 9" ResourceID="10"');
    expect((await page(xml, Buffer.from('text'))).codes).toEqual(['image_undecodable']);
    expect((await page(xml, png(100_000, 100_000))).codes).toEqual(['image_too_large']);
  });

  it('is replaced by its substitution', async () => {
    const found = await page(
      image('Boundary="0 0 9 9" ResourceID="10" Substitution="11"'),
      Buffer.from('text'),
      png(7, 7),
    );
    expect(images(found.items)[0]!.image.widthPx).toBe(7);
    expect(found.codes).toContain('image_undecodable');
  });

  it('has a mask, and is shown whole where that cannot be had', async () => {
    const xml = image('Boundary="0 0 9 9" ResourceID="10" ImageMask="11"');
    const masked = await page(xml, png(40, 20), png(40, 20, 1, 0));
    expect(images(masked.items)[0]!.mask?.part).toBe('Doc_0/Res/b.png');
    const whole = await page(xml);
    expect(images(whole.items)[0]).not.toHaveProperty('mask');
    expect(whole.codes).toContain('image_missing');
  });
});

describe('Border', () => {
  const box = 'Boundary="10 20 30 40" ResourceID="10"';

  it('runs round Boundary on top of the picture', async () => {
    const border = '<ofd:Border LineWidth="1" DashPattern="2 1"><ofd:BorderColor Value="255 0 0"/></ofd:Border>';
    const { items } = await page(image(box, border));
    expect(items.map((item) => item.kind)).toEqual(['image', 'path']);
    const [frame] = paths(items);
    expect(extent(frame!.path)).toEqual([10, 20, 40, 60]);
    expect(frame!.path.coordinates.slice(0, 4)).toEqual([10, 20, 40, 20]);
    expect(frame!.stroke).toMatchObject({ widthMm: 1, dash: [2, 1], paint: { color: [255, 0, 0] } });
    expect(images(items)[0]!.clips).toEqual([]);
  });

  it('is black and 0.353 mm by default, and absent with a width of 0', async () => {
    expect(paths((await page(image(box, '<ofd:Border/>'))).items)[0]!.stroke).toMatchObject({
      widthMm: 0.353,
      paint: { color: [0, 0, 0] },
    });
    expect(paths((await page(image(box, '<ofd:Border LineWidth="0"/>'))).items)).toEqual([]);
  });

  it.each(['HorizonalCornerRadius', 'HorizontalCornerRadius'])(
    'rounds corners by %s and cuts the picture',
    async (name) => {
      const border = `<ofd:Border ${name}="5" VerticalCornerRadius="100"/>`;
      const { items } = await page(image(box, border));
      const [frame] = paths(items);
      // The vertical radius ends at half the side.
      expect(frame!.path.coordinates.slice(0, 4)).toEqual([15, 20, 35, 20]);
      expect(frame!.path.coordinates.slice(8, 10)).toEqual([40, 40]);
      expect(extent(images(items)[0]!.clips[0]!.path)).toEqual([10, 20, 40, 60]);
    },
  );
});
