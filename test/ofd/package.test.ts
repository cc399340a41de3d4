import { deflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { Diagnostic } from '../../src/display/list.js';
import { systemFontBook } from '../../src/fonts/system.js';
import { OfdError } from '../../src/ofd/error.js';
import { openOfd } from '../../src/ofd/index.js';
import { DEFAULT_LIMITS } from '../../src/ofd/limits.js';
import { OfdPackage } from '../../src/ofd/package.js';
import { buildOfd, type OfdSpec, ofdParts, textXml } from '../support/ofd-builder.js';
import { writeZip } from '../support/zip-writer.js';

async function open(spec: OfdSpec): Promise<{ pkg: OfdPackage; diagnostics: Diagnostic[] }> {
  const diagnostics: Diagnostic[] = [];
  return { pkg: await OfdPackage.open(buildOfd(spec), DEFAULT_LIMITS, (d) => diagnostics.push(d)), diagnostics };
}

describe('parts', () => {
  it('lists them in the order of the directory', async () => {
    const spec = { pages: ['', textXml('二')], publicRes: '', files: { 'Doc_0/Res/x.bin': 'x' } };
    const { pkg, diagnostics } = await open(spec);
    expect(pkg.names()).toEqual(Object.keys(ofdParts(spec)));
    expect(pkg.has('Doc_0/Document.xml')).toBe(true);
    expect(pkg.has('/Doc_0/Document.xml')).toBe(false);
    expect(diagnostics).toEqual([]);
  });

  it('gives bytes without a word where there is no part, and a diagnostic for a tree', async () => {
    const { pkg, diagnostics } = await open({ pages: [] });
    expect(pkg.bytes('Doc_0/none.xml')).toBeUndefined();
    expect(diagnostics).toEqual([]);
    expect(pkg.xml('Doc_0/none.xml')).toBeUndefined();
    expect(diagnostics).toMatchObject([{ code: 'part_missing', part: 'Doc_0/none.xml' }]);
  });

  it('says the same thing once', async () => {
    const { pkg, diagnostics } = await open({ pages: [], files: { 'bad.xml': '<a><b></a>' } });
    pkg.xml('bad.xml');
    pkg.xml('bad.xml');
    expect(diagnostics).toMatchObject([{ code: 'xml_malformed', part: 'bad.xml' }]);
  });

  it('keeps what was read lately, and reads the rest anew', async () => {
    const megabytes = (n: number): Buffer => Buffer.alloc(n * 1024 * 1024, `${n} MiB of one byte pattern or other, `);
    const files = { a: megabytes(20), b: megabytes(20), c: megabytes(40) };
    const { pkg } = await open({ pages: [], files });
    for (const [name, content] of [...Object.entries(files), ...Object.entries(files)]) {
      expect(pkg.bytes(name)?.length).toBe(content.length);
    }
  });
});

describe('documents of which nothing is left', () => {
  const page = 'Doc_0/Pages/Page_0/Content.xml';
  const failure = async (bytes: Uint8Array): Promise<unknown> => {
    const options = { limits: DEFAULT_LIMITS, fonts: systemFontBook([]), report: () => {} };
    return openOfd(bytes, options).then(
      () => 'opened',
      (error: unknown) => (error instanceof OfdError ? `${error.reason}: ${error.message}` : error),
    );
  };

  it('are corrupt where the only page breaks off before its content', async () => {
    const cut = deflateRawSync(Buffer.from('<Page>abcdefghijklmnopqrst<Content/></Page>')).subarray(0, 16);
    const spoilt = Buffer.concat([cut, Buffer.alloc(20, 0xff)]);
    const pack: NonNullable<OfdSpec['pack']> = (file) => (file.name === page ? { ...file, method: 8 } : file);
    expect(await failure(buildOfd({ pages: [''], files: { [page]: spoilt }, pack }))).toMatch(/^corrupt: .*Page_0/);
  });

  it('are corrupt where damage took the only page', async () => {
    const parts = Object.entries(ofdParts({ pages: [''] })).map(([name, content]) => ({ name, content }));
    const whole = writeZip(parts);
    const cut = whole.subarray(0, Buffer.from(whole).indexOf(page) - 30);
    expect(await failure(cut)).toMatch(/^corrupt: .*Page_0/);
  });

  it('are encrypted where their parts are', async () => {
    for (const lost of ['Doc_0/Document.xml', page]) {
      const pack: NonNullable<OfdSpec['pack']> = (file) => (file.name === lost ? { ...file, flags: 1 } : file);
      expect(await failure(buildOfd({ pages: [''], pack }))).toMatch(/^encrypted: /);
    }
  });
});

describe('encryption', () => {
  it('tells of a package that is encrypted and has a plain OFD.xml', async () => {
    expect((await open({ pages: [] })).pkg.isEncrypted).toBe(false);
    expect((await open({ pages: [], files: { 'encryptions.xml': '<Encryptions/>' } })).pkg.isEncrypted).toBe(true);
  });

  it('tells of one encrypted part, and names it when it is read', async () => {
    const page = 'Doc_0/Pages/Page_0/Content.xml';
    const pack: NonNullable<OfdSpec['pack']> = (file) => (file.name === page ? { ...file, flags: 1 } : file);
    const { pkg, diagnostics } = await open({ pages: [''], pack });
    expect(pkg.isEncrypted).toBe(true);
    expect(pkg.xml(page)).toBeUndefined();
    expect(diagnostics).toMatchObject([{ code: 'part_encrypted', part: page }]);
  });
});
