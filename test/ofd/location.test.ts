import { describe, expect, it } from 'vitest';
import { DEFAULT_LIMITS } from '../../src/ofd/limits.js';
import { folderOf, joinLocation, normalisePath, resolveResource } from '../../src/ofd/location.js';
import { OfdPackage } from '../../src/ofd/package.js';
import { writeZip } from '../support/zip-writer.js';

const open = (...names: readonly string[]): Promise<OfdPackage> =>
  OfdPackage.open(
    writeZip(['OFD.xml', ...names].map((name) => ({ name, content: '<x/>', flags: 0x800 }))),
    DEFAULT_LIMITS,
    () => {},
  );

describe('paths', () => {
  it('normalises', () => {
    expect(normalisePath(' /Doc_0//./Pages\\Page_0/../Page_1/Content.xml ')).toBe('Doc_0/Pages/Page_1/Content.xml');
    expect(normalisePath('../../../etc/passwd')).toBe('etc/passwd');
    expect(folderOf('Doc_0/Document.xml')).toBe('Doc_0');
    expect(folderOf('OFD.xml')).toBe('');
  });

  it('joins', () => {
    expect(joinLocation('Doc_0/Pages', 'Page_0/Content.xml')).toBe('Doc_0/Pages/Page_0/Content.xml');
    expect(joinLocation('Doc_0/Pages', '/Doc_0/Res.xml')).toBe('Doc_0/Res.xml');
    expect(joinLocation('Doc_0/Pages', '../Res.xml')).toBe('Doc_0/Res.xml');
    expect(joinLocation('Doc_0', ' \\Doc_0\\Res.xml')).toBe('Doc_0/Res.xml');
    expect(joinLocation('', 'Doc_0/Res.xml')).toBe('Doc_0/Res.xml');
  });
});

describe('locations', () => {
  it.each<[string, string, string | undefined]>([
    ['relative to the part that holds it', 'Pages/Page_0/Content.xml', 'Doc_0/Pages/Page_0/Content.xml'],
    ['absolute', '/Doc_0/Pages/Page_0/Content.xml', 'Doc_0/Pages/Page_0/Content.xml'],
    ['absolute without its slash', 'Doc_0/Pages/Page_0/Content.xml', 'Doc_0/Pages/Page_0/Content.xml'],
    ['with backslashes and blanks', ' Pages\\Page_0\\Content.xml\n', 'Doc_0/Pages/Page_0/Content.xml'],
    ['in another case', 'pages/PAGE_0/content.XML', 'Doc_0/Pages/Page_0/Content.xml'],
    ['percent-encoded', 'Res/%E5%9B%BE%201.png', 'Doc_0/Res/图 1.png'],
    ['a name that looks percent-encoded and is not', 'Res/100%25.png', 'Doc_0/Res/100%25.png'],
    ['with a stray percent sign', 'Res/100%.png', undefined],
    ['in decomposed characters', 'Res/e\u0301.png', 'Doc_0/Res/é.png'],
    ['climbing over the root', '../../../Doc_0/Pages/Page_0/Content.xml', 'Doc_0/Pages/Page_0/Content.xml'],
    ['of no part', 'Pages/Page_9/Content.xml', undefined],
    ['empty', '', undefined],
  ])('finds a location %s', async (_name, location, expected) => {
    const pkg = await open(
      'Doc_0/Pages/Page_0/Content.xml',
      'Doc_0/Res/图 1.png',
      'Doc_0/Res/100%25.png',
      'Doc_0/Res/100%.png2',
      'Doc_0/Res/é.png',
    );
    expect(pkg.resolve(location, 'Doc_0')).toBe(expected);
  });

  it('prefers the exact name, and looks in other folders before the root', async () => {
    const pkg = await open('Doc_0/a.xml', 'Doc_0/A.xml', 'Doc_0/Attachs/f.txt', 'Doc_0/g.txt', 'g.txt');
    expect(pkg.resolve('A.xml', 'Doc_0')).toBe('Doc_0/A.xml');
    expect(pkg.resolve('g.txt', 'Doc_0/Attachs', 'Doc_0')).toBe('Doc_0/g.txt');
    expect(pkg.resolve('g.txt', 'Doc_0/Attachs')).toBe('g.txt');
  });
});

describe('files of a Res part', () => {
  it.each<[string, string, string, string, string | undefined]>([
    ['BaseLoc beside the Res part', 'a.png', 'Res', 'Doc_0/Res/a.png', 'Doc_0/Res/a.png'],
    ['an absolute BaseLoc', 'a.png', '/Doc_0/Res', 'Doc_0/Res/a.png', 'Doc_0/Res/a.png'],
    [
      'an absolute target without BaseLoc put in front',
      '/Doc_0/Res/a.png',
      'Res',
      'Doc_0/Res/a.png',
      'Doc_0/Res/a.png',
    ],
    ['a target relative to the document', 'Res/a.png', 'Res', 'Doc_0/Res/a.png', 'Doc_0/Res/a.png'],
    ['a target relative to the root', 'Doc_0/Res/a.png', 'Res', 'Doc_0/Res/a.png', 'Doc_0/Res/a.png'],
    ['BaseLoc that names the document too', 'a.png', 'Doc_0/Res', 'Doc_0/Res/a.png', 'Doc_0/Res/a.png'],
    ['a file beside the Res part', 'a.png', 'Res', 'Doc_0/a.png', 'Doc_0/a.png'],
    ['a BaseLoc that is not there', 'a.png', 'Res_0', 'Doc_0/Res/a.png', 'Doc_0/Res/a.png'],
    ['another case', 'A.PNG', 'res', 'Doc_0/Res/a.png', 'Doc_0/Res/a.png'],
    ['the only file of that name', 'images/a.png', 'Res', 'Other/Deep/a.png', 'Other/Deep/a.png'],
    ['no BaseLoc', 'Res/a.png', '', 'Doc_0/Res/a.png', 'Doc_0/Res/a.png'],
    ['no such file', 'b.png', 'Res', 'Doc_0/Res/a.png', undefined],
    ['no name', ' ', 'Res', 'Doc_0/Res/a.png', undefined],
  ])('finds %s', async (_name, target, baseLoc, entry, expected) => {
    const pkg = await open(entry);
    expect(resolveResource(pkg, target, 'Doc_0/PublicRes.xml', baseLoc, 'Doc_0')).toBe(expected);
  });

  it('prefers the rule to the other places, and does not choose between two files of a name', async () => {
    const pkg = await open('Doc_0/Res/a.png', 'Doc_0/a.png', 'a.png', 'x/b.png', 'y/b.png');
    expect(resolveResource(pkg, 'a.png', 'Doc_0/PublicRes.xml', 'Res', 'Doc_0')).toBe('Doc_0/Res/a.png');
    expect(resolveResource(pkg, 'b.png', 'Doc_0/PublicRes.xml', 'Res', 'Doc_0')).toBeUndefined();
    const page = 'Doc_0/Pages/Page_0/PageRes.xml';
    expect(resolveResource(pkg, 'a.png', page, 'Res', 'Doc_0')).toBe('Doc_0/a.png');
  });
});
