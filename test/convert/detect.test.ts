// The format of an upload (contract B2).
import { describe, expect, it } from 'vitest';
import { sourceOf } from '../../src/convert/byte-source.js';
import { type Detected, detectFormat } from '../../src/convert/detect.js';
import { readSigns } from '../../src/convert/signs.js';
import { writeZip } from '../support/zip-writer.js';

const text = (content: string): Buffer => Buffer.from(content, 'latin1');
const ofd = Buffer.from(
  writeZip([
    { name: 'OFD.xml', content: '<ofd/>' },
    { name: 'Doc_0/Document.xml', content: 'x' },
  ]),
);
const office = Buffer.from(
  writeZip([
    { name: '[Content_Types].xml', content: 'x' },
    { name: 'word/OFD.xml', content: 'x' },
  ]),
);
const archive = (...names: string[]): Buffer => Buffer.from(writeZip(names.map((name) => ({ name, content: 'x' }))));
const openDocument = (type: string): Buffer =>
  Buffer.from(
    writeZip([
      { name: 'mimetype', content: `application/vnd.oasis.opendocument.${type}`, method: 'stored' },
      { name: 'content.xml', content: 'x' },
    ]),
  );
const pdf = text('%PDF-1.7\n...');

const detect = async (claims: Parameters<typeof detectFormat>[0], bytes: Buffer): Promise<Detected> =>
  detectFormat(claims, await readSigns(sourceOf(bytes)));

describe('the format of an upload', () => {
  it.each([
    ['explicit alone', { format: 'txt' }, text('x'), 'txt'],
    ['explicit in capitals, with a dot', { format: ' .JPG ' }, text('x'), 'jpeg'],
    ['explicit before the extension', { format: 'docx', fileName: 'a.txt' }, text('x'), 'docx'],
    ['the extension', { fileName: 'a.b.HTM' }, text('x'), 'html'],
    ['content before the extension: OFD', { fileName: 'a.docx' }, ofd, 'ofd'],
    ['content before the extension: PDF', { fileName: 'a.ofd' }, pdf, 'pdf'],
    ['content alone: OFD', {}, ofd, 'ofd'],
    ['content alone: PDF behind other bytes', {}, text(`${'x'.repeat(100)}%PDF-1.4`), 'pdf'],
    ['a text that speaks of PDF', { fileName: 'a.txt' }, text('The header is %PDF-1.4'), 'txt'],
    ['an Office package by its name', { fileName: 'a.docx' }, office, 'docx'],
    [
      'OFD in a package that names its root oddly',
      {},
      Buffer.from(writeZip([{ name: '/ofd.XML', content: '' }])),
      'ofd',
    ],
    ['OFD in a cut package', {}, ofd.subarray(0, ofd.length - 60), 'ofd'],
    [
      'OFD in a package whose directory is elsewhere',
      {},
      Buffer.from(writeZip([{ name: 'OFD.xml', content: 'x' }], { directoryOffsetError: 9 })),
      'ofd',
    ],
    ['OFD in a package of ZIP64', {}, Buffer.from(writeZip([{ name: 'OFD.xml', content: 'x', zip64: true }])), 'ofd'],
    ['what the name says of bytes that are no package', { fileName: 'a.ofd' }, text('nonsense'), 'ofd'],
  ] as const)('%s', async (_what, claims, bytes, wanted) => {
    expect((await detect(claims, bytes)).decided).toBe(wanted);
  });

  it.each([0, 1, 2])('is found in a large package that is cut or whole, %i', async (how) => {
    const names = Array.from({ length: 30_000 }, (_, i) => ({
      name: `Doc_0/Pages/Page_${i}/Content.xml`,
      content: 'x',
    }));
    const root = { name: 'OFD.xml', content: '<ofd/>' };
    const whole = Buffer.from(writeZip([...names, root]));
    const zip = [whole, whole.subarray(0, whole.length - 60), Buffer.from(writeZip(names))][how] as Buffer;
    expect((await readSigns(sourceOf(zip))).isOfd).toBe(how < 2);
  });

  it.each([
    ['docx', office],
    ['xlsx', archive('xl/workbook.xml', '[Content_Types].xml')],
    ['pptx', archive('[Content_Types].xml', 'docProps/a.xml', 'ppt/presentation.xml')],
    ['odt', openDocument('text')],
    ['odt', openDocument('text-template')],
    ['ods', openDocument('spreadsheet')],
    ['odp', openDocument('presentation')],
    ['rtf', text('{\\rtf1\\ansi x}')],
    ['png', text('\x89PNG\r\n\x1a\n\0\0\0\rIHDR')],
    ['jpeg', text('\xff\xd8\xff\xe0\0\x10JFIF')],
    ['tiff', text('II*\0\x08\0\0\0')],
    ['tiff', text('MM\0*\0\0\0\x08')],
    ['webp', text('RIFF\x24\0\0\0WEBPVP8 ')],
    ['bmp', text('BM\x46\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0')],
  ] as const)('is told by the content alone: %s', async (format, bytes) => {
    expect(await detect({}, bytes)).toEqual({ claimed: format, decided: format });
    expect(await detect({ fileName: 'a.unknown' }, bytes)).toEqual({ claimed: format, decided: format });
    // LibreOffice looks into what is misnamed; a claim is no contradiction here.
    expect(await detect({ fileName: 'a.doc' }, bytes)).toEqual({ claimed: 'doc', decided: 'doc' });
    expect(await detect({ format: 'txt' }, bytes)).toEqual({ claimed: 'txt', decided: 'txt' });
  });

  it('keeps the claim beside the decision', async () => {
    expect(await detect({ fileName: 'a.html' }, ofd)).toEqual({ claimed: 'html', decided: 'ofd' });
    expect(await detect({}, ofd)).toEqual({ claimed: 'ofd', decided: 'ofd' });
  });

  it.each([
    ['an archive that is no document', {}, archive('a.txt', 'word/document.xml')],
    ['an Office package of two programs', {}, archive('[Content_Types].xml', 'word/document.xml', 'xl/workbook.xml')],
    ['an Office package that is cut', {}, office.subarray(0, office.length - 40)],
    ['an OpenDocument package of another program', {}, openDocument('graphics')],
    ['a web page', {}, text('<!DOCTYPE html><html></html>')],
    ['a text that begins as a picture does', {}, text('BMW builds cars in Munich')],
    ['an unknown extension', { fileName: 'a.wps' }, text('x')],
    ['a format that the content contradicts', { format: 'docx' }, ofd],
    ['an unknown format', { format: 'wps' }, ofd],
  ])('is refused for %s', async (_what, claims, bytes) => {
    await expect(detect(claims, bytes)).rejects.toThrow(expect.objectContaining({ code: 'invalid_request' }));
  });
});
