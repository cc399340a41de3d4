// The table of backends: complete, and each loaded only when asked for.
import { describe, expect, it } from 'vitest';
import { FORMATS } from '../../src/formats.js';
import { loadBackend, RENDERED_FORMATS } from '../../src/render/index.js';

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
