// The OFD engine as the service calls it: which pages are read, what options change, which warnings end it.
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ConversionOptions } from '../../src/convert/converter-types.js';
import { convertOfd } from '../../src/convert/engines/ofd.js';
import { documentName, OutputFiles, pageName } from '../../src/convert/output-files.js';
import { systemFontBook } from '../../src/fonts/system.js';
import type { FormatId } from '../../src/formats.js';
import { buildOfd, textXml } from '../support/ofd-builder.js';
import { withFolder } from '../support/rendering.js';

const fonts = systemFontBook([]);
const publicRes = '<ofd:Fonts><ofd:Font ID="1" FontName="DejaVu Sans"/></ofd:Fonts>';

async function convert(input: Uint8Array, to: FormatId, options: ConversionOptions) {
  return withFolder(async (folder) => {
    const directory = join(folder, 'out');
    mkdirSync(directory);
    const names = {
      document: () => documentName(undefined, to),
      page: (pageNumber: number) => pageName(undefined, pageNumber, to),
    };
    const output = new OutputFiles(directory, names);
    try {
      const { pages, warnings } = await convertOfd({ input, to, options, output, fonts });
      const files = (await output.finish()).map(({ path }) => readFileSync(path, 'utf8'));
      return { pages, codes: warnings.map(({ code }) => code), files, left: readdirSync(directory), error: undefined };
    } catch (error) {
      return { pages: 0, codes: [], files: [], left: readdirSync(directory), error };
    }
  });
}

describe('a page list', () => {
  const pages = Array.from({ length: 20 }, (_, i) => textXml(`page ${i + 1}`));
  const broken = Object.fromEntries(
    pages.flatMap((_, i) => (i === 16 ? [] : [[`Doc_0/Pages/Page_${i}/Content.xml`, '']])),
  );

  it('reads the parts of its own pages and no other', async () => {
    const {
      files,
      codes,
      pages: count,
    } = await convert(buildOfd({ pages, publicRes, files: broken }), 'txt', { pages: '17' });
    expect({ files, codes, count }).toEqual({ files: ['page 17\n'], codes: [], count: 1 });
  });

  it('still finds out that a page which cannot be read is not the whole document', async () => {
    const { codes, error } = await convert(buildOfd({ pages, publicRes, files: broken }), 'txt', { pages: '16' });
    expect(error).toBeUndefined();
    expect(codes).toContain('page_missing');
  });

  it('names no page that the document has', async () => {
    const { error } = await convert(buildOfd({ pages, publicRes }), 'txt', { pages: '21-' });
    expect(error).toMatchObject({ code: 'invalid_request', message: 'pages: "21-" names no page of a document of 20' });
  });
});

describe('annotations', () => {
  const annotation =
    '<ofd:PageAnnot xmlns:ofd="http://www.ofdspec.org/2016"><ofd:Annot ID="50" Type="Watermark">' +
    `<ofd:Appearance Boundary="10 40 100 10">${textXml('COPY')}</ofd:Appearance></ofd:Annot></ofd:PageAnnot>`;
  const input = buildOfd({
    pages: [textXml('page')],
    publicRes,
    document: '<ofd:Annotations>Annots.xml</ofd:Annotations>',
    files: {
      'Doc_0/Annots.xml':
        '<ofd:Annotations xmlns:ofd="http://www.ofdspec.org/2016"><ofd:Page PageID="1001"><ofd:FileLoc>Annot.xml</ofd:FileLoc></ofd:Page></ofd:Annotations>',
      'Doc_0/Annot.xml': annotation,
    },
  });

  it('are part of every product, unless left out', async () => {
    expect((await convert(input, 'txt', {})).files[0]).toContain('COPY');
    expect((await convert(input, 'txt', { annotations: true })).files[0]).toContain('COPY');
    expect((await convert(input, 'txt', { annotations: false })).files).toEqual(['page\n']);
  });
});

describe('fail_on', () => {
  const input = buildOfd({
    pages: ['', textXml('text'), textXml('text', 'ID="3" Boundary="10 10 100 10" Font="9" Size="4"')],
    publicRes,
  });

  it('makes a warning that is named end the conversion, and leaves nothing', async () => {
    const { error, left } = await convert(input, 'png', { failOn: ['image_missing', 'reference_missing'], width: 20 });
    expect(error).toMatchObject({ code: 'conversion_failed', reason: 'unsupported' });
    expect((error as Error).message).toMatch(/^fail_on: reference_missing: Font 9 is not defined/);
    expect(left).toEqual([]);
  });

  it('lets other warnings be, and those of pages that are not wanted', async () => {
    expect((await convert(input, 'txt', { failOn: ['image_missing'] })).codes).toContain('reference_missing');
    expect((await convert(input, 'txt', { failOn: ['reference_missing'], pages: '1-2' })).error).toBeUndefined();
  });

  it('counts warnings that are found on opening', async () => {
    const twice = buildOfd({ pages: [''], commonData: '<ofd:DocumentRes>absent.xml</ofd:DocumentRes>' });
    const { error } = await convert(twice, 'txt', { failOn: ['part_missing'] });
    expect(error).toMatchObject({ message: expect.stringContaining('fail_on: part_missing: ') });
  });
});
