import { readFileSync } from 'node:fs';
import { deflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { Diagnostic } from '../../src/display/list.js';
import { OfdError } from '../../src/ofd/error.js';
import { DEFAULT_LIMITS, type OfdLimits } from '../../src/ofd/limits.js';
import { OfdPackage } from '../../src/ofd/package.js';
import { buildOfd, ofdParts, textXml } from '../support/ofd-builder.js';
import { writeZip, type ZipFileSpec, type ZipOptions } from '../support/zip-writer.js';

const PAGE = 'Doc_0/Pages/Page_0/Content.xml';
const SPEC = { pages: [textXml('甲')], files: { 'Doc_0/Res/data.bin': Buffer.alloc(5000, 'ofd data ') } };
const FILES: readonly ZipFileSpec[] = Object.entries(ofdParts(SPEC)).map(([name, content]) => ({ name, content }));

interface Opened {
  readonly pkg: OfdPackage;
  readonly codes: () => string[];
  readonly diagnostics: readonly Diagnostic[];
}

async function open(bytes: Uint8Array, limits: Partial<OfdLimits> = {}): Promise<Opened> {
  const diagnostics: Diagnostic[] = [];
  const pkg = await OfdPackage.open(bytes, { ...DEFAULT_LIMITS, ...limits }, (d) => diagnostics.push(d));
  return { pkg, diagnostics, codes: () => diagnostics.map((d) => d.code) };
}

async function failure(bytes: Uint8Array, limits: Partial<OfdLimits> = {}): Promise<OfdError> {
  try {
    await open(bytes, limits);
  } catch (error) {
    if (error instanceof OfdError) return error;
    throw error;
  }
  throw new Error('the package opened');
}

const zip = (change: (file: ZipFileSpec) => ZipFileSpec, options?: ZipOptions): Uint8Array =>
  writeZip(FILES.map(change), options);

function readsWhole({ pkg }: Opened): void {
  for (const { name, content } of FILES) {
    expect(Buffer.from(pkg.bytes(String(name)) ?? []).equals(Buffer.from(content as string))).toBe(true);
  }
}

describe('ways of packing', () => {
  it.each<[string, (file: ZipFileSpec) => ZipFileSpec]>([
    ['deflated', (file) => file],
    ['stored', (file) => ({ ...file, method: 'stored' })],
    ['deflated with descriptors', (file) => ({ ...file, descriptor: true })],
    ['stored with descriptors', (file) => ({ ...file, method: 'stored', descriptor: true })],
    ['stored with bare descriptors', (file) => ({ ...file, method: 'stored', descriptor: 'bare' })],
    ['ZIP64', (file) => ({ ...file, zip64: true })],
    ['a slash in front', (file) => ({ ...file, name: `/${file.name}` })],
    ['backslashes', (file) => ({ ...file, name: String(file.name).replaceAll('/', '\\') })],
    ['a dot in front', (file) => ({ ...file, name: `./${file.name}` })],
  ])('reads %s without a word', async (_name, change) => {
    const opened = await open(zip(change));
    readsWhole(opened);
    expect(opened.diagnostics).toEqual([]);
  });

  it('passes over an entry without a name', async () => {
    const opened = await open(writeZip([{ name: '', content: 'x' }, ...FILES, { name: '', content: '' }]));
    readsWhole(opened);
    expect(opened.pkg.names()).toHaveLength(FILES.length);
  });

  it('passes over folders and a comment', async () => {
    const opened = await open(writeZip([{ name: 'Doc_0/', content: '' }, ...FILES], { comment: 'made by hand' }));
    expect(opened.pkg.names()).toEqual(FILES.map(({ name }) => name));
    readsWhole(opened);
  });

  it('reads names in GBK, with the UTF-8 flag or without, by either reading', async () => {
    // 图片.png and 联通.png; the latter happens to be valid UTF-8 too.
    const picture = Buffer.concat([Buffer.from([0xcd, 0xbc, 0xc6, 0xac]), Buffer.from('.png')]);
    const unicom = Buffer.concat([Buffer.from([0xc1, 0xaa, 0xcd, 0xa8]), Buffer.from('.png')]);
    const doubtful = Buffer.concat([Buffer.from([0xc2, 0xb7]), Buffer.from('.png')]);
    const names = [{ name: picture }, { name: unicom }, { name: doubtful, flags: 0x800 }];
    const { pkg } = await open(writeZip([...FILES, ...names.map((name) => ({ ...name, content: 'x' }))]));
    expect(pkg.resolve('/图片.png', '')).toBe('图片.png');
    expect(pkg.resolve('联通.png', '')).toBe('联通.png');
    expect(pkg.resolve('·.png', '')).toBe('·.png');
    expect(pkg.resolve('路.png', '')).toBe('·.png');
  });

  it('takes the last of entries with the same name and says so', async () => {
    const opened = await open(writeZip([{ name: PAGE, content: '<old/>' }, ...FILES]));
    readsWhole(opened);
    expect(opened.codes()).toEqual(['entry_duplicate']);
  });

  it('reads the same object as long as it is held', async () => {
    const { pkg } = await open(zip((file) => file));
    const first = pkg.bytes('Doc_0/Res/data.bin');
    expect(pkg.bytes('Doc_0/Res/data.bin')).toBe(first);
  });
});

describe('damage', () => {
  it.each<[string, Uint8Array]>([
    ['junk in front', zip((file) => file, { prefix: Buffer.alloc(777, 'junk ') })],
    ['junk behind', zip((file) => file, { suffix: Buffer.alloc(70_000, 'junk ') })],
    ['junk on both sides', zip((file) => file, { prefix: Buffer.from('MZ'), suffix: Buffer.alloc(3) })],
  ])('reads a package with %s', async (_name, bytes) => {
    const opened = await open(bytes);
    readsWhole(opened);
    expect(opened.diagnostics).toEqual([]);
  });

  it.each<[string, Uint8Array]>([
    ['a wrong offset of the directory', zip((file) => file, { directoryOffsetError: 60 })],
    ['no end record', zip((file) => file).subarray(0, -22)],
    ['half a directory', zip((file) => file).subarray(0, -200)],
    ['no directory, descriptors', withoutDirectory(zip((file) => ({ ...file, descriptor: true })))],
    [
      'no directory, stored, descriptors',
      withoutDirectory(zip((file) => ({ ...file, method: 'stored', descriptor: true }))),
    ],
    [
      'no directory, stored, bare descriptors',
      withoutDirectory(zip((file) => ({ ...file, method: 'stored', descriptor: 'bare' }))),
    ],
    ['no directory, ZIP64', withoutDirectory(zip((file) => ({ ...file, zip64: true })))],
    ['a fault in the directory', spoiltDirectory()],
  ])('recovers all parts with %s, and says so', async (_name, bytes) => {
    const opened = await open(bytes);
    readsWhole(opened);
    expect(opened.codes()).toEqual(['zip_recovered']);
  });

  it('does not take the entries of a stored package for its own', async () => {
    const inner = buildOfd({ pages: ['<inner/>'], files: { 'Inner.xml': '<inner/>' } });
    const files = [...FILES, { name: 'Doc_0/seal.ofd', content: inner, method: 'stored' as const, descriptor: true }];
    const opened = await open(withoutDirectory(writeZip([...files, { name: 'last.txt', content: 'last' }])));
    readsWhole(opened);
    expect(opened.pkg.bytes('Doc_0/seal.ofd')).toHaveLength(inner.length);
    expect(opened.pkg.has('Inner.xml')).toBe(false);
    expect(opened.pkg.has('last.txt')).toBe(true);
  });

  it('uses the name of the local header beside that of the directory', async () => {
    const bytes = zip((file) => (file.name === PAGE ? { ...file, centralName: `_0Dco${PAGE.slice(5)}` } : file));
    const opened = await open(bytes);
    readsWhole(opened);
    expect(opened.diagnostics).toMatchObject([{ code: 'zip_recovered', part: PAGE }]);
  });

  it('finds OFD.xml by its local header', async () => {
    const opened = await open(
      zip((file) => (file.name === 'OFD.xml' ? { ...file, centralName: 'OFD.xml\n\0' } : file)),
    );
    readsWhole(opened);
    expect(opened.codes()).toContain('zip_recovered');
  });

  it('uses the method of the local header where that of the directory is none', async () => {
    const opened = await open(zip((file) => (file.name === PAGE ? { ...file, centralMethod: 34312 } : file)));
    readsWhole(opened);
    expect(opened.diagnostics).toMatchObject([{ code: 'zip_recovered', part: PAGE }]);
  });

  it('uses a part with a wrong checksum and names it, once', async () => {
    const { pkg, diagnostics } = await open(zip((file) => (file.name === PAGE ? { ...file, crc32: 1 } : file)));
    expect(pkg.xml(PAGE)?.name).toBe('Page');
    expect(pkg.xml(PAGE)?.name).toBe('Page');
    expect(diagnostics).toMatchObject([{ code: 'crc_mismatch', part: PAGE }]);
  });

  it('uses what can be inflated before a fault', async () => {
    const content = Array.from({ length: 4000 }, (_, i) => `<o ID="${(i * 7919) % 10_007}"/>`).join('');
    const packed = deflateRawSync(Buffer.from(`<r>${content}</r>`));
    packed.fill(0xff, packed.length >> 1);
    const bytes = buildOfd({ pages: [], files: { 'a.xml': packed }, pack: asDeflated('a.xml') });
    const { pkg, diagnostics } = await open(bytes);
    const root = pkg.xml('a.xml');
    expect(root?.children.length).toBeGreaterThan(1000);
    expect(diagnostics.map((d) => [d.code, d.part])).toContainEqual(['part_truncated', 'a.xml']);
  });

  it('names a part that it cannot unpack', async () => {
    const { pkg, diagnostics } = await open(zip((file) => (file.name === PAGE ? { ...file, method: 99 } : file)));
    expect(pkg.bytes(PAGE)).toBeUndefined();
    expect(pkg.xml(PAGE)).toBeUndefined();
    expect(diagnostics).toMatchObject([{ code: 'part_unsupported', part: PAGE }]);
  });

  it('shows the documents that are left where OFD.xml is lost', async () => {
    const files = [...FILES.slice(1), FILES[0]!];
    const bytes = writeZip(files);
    const cut = bytes.subarray(0, Buffer.from(bytes).indexOf('OFD.xml') - 30);
    const { pkg, diagnostics } = await open(cut);
    const root = pkg.xml(pkg.resolve('OFD.xml', '') ?? '');
    expect(root?.child('DocBody')?.childText('DocRoot')).toBe('/Doc_0/Document.xml');
    expect(diagnostics.at(-1)).toMatchObject({ code: 'zip_recovered', part: 'OFD.xml' });
  });

  it('takes the only folder with an OFD.xml for the root', async () => {
    const opened = await open(zip((file) => ({ ...file, name: `Unpacked/${file.name}` })));
    readsWhole(opened);
    expect(opened.codes()).toEqual(['zip_recovered']);
  });
});

describe('refusals', () => {
  it.each<[string, Uint8Array, OfdError['reason'], RegExp]>([
    ['nothing', new Uint8Array(), 'not_ofd', /empty/],
    ['a PDF', Buffer.from('%PDF-1.7\n…'), 'not_ofd', /PDF/],
    ['text', Buffer.from('OFD Document, honestly'), 'not_ofd', /"OFD Docu"/],
    [
      'a ZIP without OFD.xml',
      writeZip([{ name: 'word/document.xml', content: '<w:document/>' }]),
      'not_ofd',
      /OFD\.xml/,
    ],
    ['an empty ZIP', writeZip([]), 'not_ofd', /OFD\.xml/],
    ['the first bytes of a ZIP', zip((file) => file).subarray(0, 20), 'corrupt', /damaged/],
    ['encrypted entries', zip((file) => ({ ...file, flags: 1 })), 'encrypted', /encrypted/],
    [
      'an encrypted package',
      writeZip([{ name: 'Encryptions.xml', content: '<Encryptions/>' }]),
      'encrypted',
      /encrypted/,
    ],
    [
      'an OFD.xml that cannot be unpacked',
      writeZip([{ name: 'OFD.xml', content: 'x', method: 12 }]),
      'corrupt',
      /OFD\.xml.*12/,
    ],
  ])('refuses %s', async (_name, bytes, reason, message) => {
    const error = await failure(bytes);
    expect(error.reason).toBe(reason);
    expect(error.message).toMatch(message);
  });

  it('ignores names that lead out of the package', async () => {
    const names = ['../../x', 'a/../../x', 'C:\\x', '/c:/x', 'a\0b', '..\\x'];
    const opened = await open(writeZip([...FILES, ...names.map((name) => ({ name, content: 'x' }))]));
    expect(opened.pkg.names()).toEqual(FILES.map(({ name }) => name));
    expect(opened.codes()).toEqual(names.map(() => 'entry_unsafe'));
    expect(opened.pkg.resolve('../../../etc/passwd', 'Doc_0')).toBeUndefined();
  });

  it('refuses too many entries, by directory and by local headers', async () => {
    expect(
      await failure(
        zip((file) => file),
        { maxEntries: 3 },
      ),
    ).toMatchObject({ reason: 'too_large' });
    const headersOnly = withoutDirectory(zip((file) => file));
    expect(await failure(headersOnly, { maxEntries: 3 })).toMatchObject({ reason: 'too_large' });
  });

  it('does not believe a directory that declares more than deflate can give', async () => {
    const opened = await open(zip((file) => ({ ...file, declaredBytes: 0x7fffffff })));
    readsWhole(opened);
  });

  it('refuses a directory that declares too much', async () => {
    const files = [...FILES, { name: 'big.bin', content: Buffer.alloc(1_000_000) }];
    expect(await failure(writeZip(files), { maxTotalBytes: 900_000 })).toMatchObject({ reason: 'too_large' });
  });

  it('refuses many entries over the same data', async () => {
    const files = [...FILES, { name: 'big.bin', content: Buffer.alloc(1_000_000) }];
    const error = await failure(writeZip(files, { repeatDirectory: 1200 }));
    expect(error.reason).toBe('too_large');
  });

  it.each<[string, Partial<OfdLimits>, string]>([
    ['entry', { maxEntryBytes: 400_000 }, 'big.bin'],
    ['ratio', { ratioFreeBytes: 1000, maxRatio: 100 }, 'big.bin'],
    ['total', { maxTotalBytes: 600_000 }, 'big.bin'],
  ])('refuses a part past the limit of %s when it is read', async (_name, limits, part) => {
    const files = [...FILES, { name: part, content: Buffer.alloc(500_000), declaredBytes: 5 }];
    const { pkg } = await open(
      writeZip([...files, { name: 'too.bin', content: Buffer.alloc(500_000), declaredBytes: 5 }]),
      limits,
    );
    expect(() => [pkg.bytes(part), pkg.bytes('too.bin')]).toThrow(OfdError);
    expect(() => [pkg.bytes(part), pkg.bytes('too.bin')]).toThrow(/unpack/);
  });
});

describe('cases', () => {
  it.each(['B162', 'B163', 'B164', 'B215'])('opens %s', async (id) => {
    const opened = await open(readFileSync(new URL(`../cases/${id}/input.ofd`, import.meta.url)));
    const root = opened.pkg.xml(opened.pkg.resolve('OFD.xml', '') ?? '');
    expect(opened.pkg.resolve(root?.child('DocBody')?.childText('DocRoot') ?? '', '')).toBe('Doc_0/Document.xml');
    const expected: Record<string, string[]> = { B164: ['zip_recovered'], B215: ['entry_unsafe'] };
    expect([...new Set(opened.codes())]).toEqual(expected[id] ?? []);
  });
});

it('opens, or refuses with a typed error, a package cut at any byte', async () => {
  const bytes = zip((file) => ({ ...file, descriptor: true }));
  for (let length = 0; length < bytes.length; length += 7) {
    try {
      const { pkg } = await open(bytes.subarray(0, length));
      for (const name of pkg.names()) pkg.bytes(name);
    } catch (error) {
      expect(error).toBeInstanceOf(OfdError);
    }
  }
});

function withoutDirectory(bytes: Uint8Array): Uint8Array {
  return bytes.subarray(0, Buffer.from(bytes).readUInt32LE(bytes.length - 6));
}

function spoiltDirectory(): Uint8Array {
  const bytes = Buffer.from(zip((file) => file));
  bytes.fill(0xee, bytes.lastIndexOf('PK\x01\x02', undefined, 'latin1'), bytes.length - 22);
  return bytes;
}

/** Declares the content of one part, already deflated, as such. */
function asDeflated(name: string): (file: ZipFileSpec) => ZipFileSpec {
  return (file) => (file.name === name ? { ...file, method: 8, declaredBytes: 200_000 } : file);
}
