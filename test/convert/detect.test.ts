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

  it('keeps the claim beside the decision', async () => {
    expect(await detect({ fileName: 'a.html' }, ofd)).toEqual({ claimed: 'html', decided: 'ofd' });
    expect(await detect({}, ofd)).toEqual({ claimed: 'ofd', decided: 'ofd' });
  });

  it.each([
    ['an Office package without name or format', {}, office],
    ['an unknown extension', { fileName: 'a.wps' }, text('x')],
    ['a format that the content contradicts', { format: 'docx' }, ofd],
    ['an unknown format', { format: 'wps' }, ofd],
  ])('is refused for %s', async (_what, claims, bytes) => {
    await expect(detect(claims, bytes)).rejects.toThrow(expect.objectContaining({ code: 'invalid_request' }));
  });
});
