// The table of backends: complete, and each loaded only when asked for.
import { describe, expect, it } from 'vitest';
import { FORMATS } from '../../src/formats.js';
import { loadBackend, RENDERED_FORMATS } from '../../src/render/index.js';
import { image, page } from './lists.js';
import { render } from './output.js';

describe('the table of backends', () => {
  it.each(RENDERED_FORMATS)('has %s, with the paging of the format registry', async (format) => {
    const backend = await loadBackend(format);
    expect(backend.format).toBe(format);
    const registered: Record<string, object> = FORMATS;
    expect(registered[format]).toMatchObject({ paging: backend.paging });
  });

  it('refuses a format that none makes, and names those that are made', async () => {
    await expect(loadBackend('ofd')).rejects.toThrow(/no backend makes "ofd"; there are pdf, png/);
    await expect(loadBackend('constructor')).rejects.toThrow(RangeError);
  });
});

describe('pictures', () => {
  const drawing = ['pdf', 'png', 'jpeg', 'webp', 'svg', 'html'];
  const sizes = [
    // More than a raster page may have, and no more than a picture may.
    [8_001, 8_000, 'image_undecodable'],
    [10_000, 10_000, 'image_undecodable'],
    [10_001, 10_000, 'image_too_large'],
  ] as const;

  it.each(drawing.flatMap((format) => sizes.map((size) => [format, ...size] as const)))(
    'of one limit in %s: %i × %i is %s',
    async (format, widthPx, heightPx, code) => {
      const encoded = { bytes: Uint8Array.of(1, 2, 3), format: 'bmp', widthPx, heightPx, part: 'a.bmp' } as const;
      const list = page([image(encoded, [10, 0, 0, 10, 0, 0])]);
      const { diagnostics } = await render(await loadBackend(format), [list], { dpi: 20 });
      expect(diagnostics.map((found) => found.code).filter((found) => found.startsWith('image'))).toEqual([code]);
    },
  );
});
