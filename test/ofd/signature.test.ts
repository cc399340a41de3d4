import { describe, expect, it } from 'vitest';
import type { Diagnostic } from '../../src/display/list.js';
import { BerError, berOctets, readBer } from '../../src/ofd/asn1.js';
import { DEFAULT_LIMITS, type OfdLimits } from '../../src/ofd/limits.js';
import { OfdPackage } from '../../src/ofd/package.js';
import { readSeals, type Seal } from '../../src/ofd/signature.js';
import {
  der,
  ia5,
  indefinite,
  integer,
  octets,
  sealV4,
  sequence,
  signatureV1,
  signatureV4,
  utf8,
} from '../support/der.js';
import { buildOfd } from '../support/ofd-builder.js';

const PNG = Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]), Buffer.alloc(300, 'pixels')]);
const LIST = 'Doc_0/Signs/Signatures.xml';
const STAMP = '<StampAnnot ID="1" PageRef=" 1001 " Boundary="10 20 40 40"/>';

/** Signature.xml of one signature. */
function signatureXml(stamps = STAMP, more = '', value = '<SignedValue>SignedValue.dat</SignedValue>'): string {
  return `<Signature><SignedInfo><Provider/>${stamps}${more}</SignedInfo>${value}</Signature>`;
}

function listXml(...ids: readonly string[]): string {
  return `<Signatures>${ids.map((id) => `<Signature ID="${id}" BaseLoc="Sign_${id}/Signature.xml"/>`).join('')}</Signatures>`;
}

interface Result {
  readonly seals: Seal[];
  readonly diagnostics: readonly Diagnostic[];
}

async function read(files: Record<string, Uint8Array | string>, limits: Partial<OfdLimits> = {}): Promise<Result> {
  const diagnostics: Diagnostic[] = [];
  const report = (diagnostic: Diagnostic): void => void diagnostics.push(diagnostic);
  const placed = Object.fromEntries(Object.entries(files).map(([name, content]) => [`Doc_0/Signs/${name}`, content]));
  const pkg = await OfdPackage.open(buildOfd({ pages: [''], files: placed }), { ...DEFAULT_LIMITS, ...limits }, report);
  return { seals: readSeals(pkg, LIST, report), diagnostics };
}

const one = (value: Uint8Array, signature = signatureXml()): Promise<Result> =>
  read({
    'Signatures.xml': listXml('s1'),
    'Sign_s1/Signature.xml': signature,
    'Sign_s1/SignedValue.dat': value,
  });

describe('pictures', () => {
  it.each<[string, Uint8Array]>([
    ['v4', signatureV4({ type: 'png', picture: PNG })],
    ['v1', signatureV1({ type: 'png', picture: PNG })],
    ['v1 that claims to be v4', signatureV1({ type: 'PNG', picture: PNG, version: 4 })],
    ['v4 that claims to be v1', signatureV4({ type: ' png ', picture: PNG, version: 1 })],
    ['v5', signatureV4({ type: 'png', picture: PNG, version: 5 })],
    ['a bare seal', sealV4({ type: 'png', picture: PNG })],
    ['a wrong type', signatureV4({ type: 'jpg', picture: PNG })],
    [
      'a signature in the octets of a shell',
      sequence(der(0x06, Buffer.from([42])), octets(signatureV4({ type: 'png', picture: PNG }))),
    ],
    ['bytes behind', Buffer.concat([signatureV4({ type: 'png', picture: PNG }), Buffer.alloc(9)])],
    ['the end cut off', signatureV4({ type: 'png', picture: PNG }).subarray(0, -40)],
  ])('finds the picture of %s', async (_name, value) => {
    const { seals, diagnostics } = await one(value);
    expect(seals).toHaveLength(1);
    expect(Buffer.compare(seals[0]!.picture, PNG)).toBe(0);
    expect(seals[0]).toMatchObject({
      signatureId: 's1',
      pictureType: 'png',
      sealName: '测试章',
      part: 'Doc_0/Signs/Sign_s1/SignedValue.dat',
      stamps: [{ pageRef: '1001', boundary: { x: 10, y: 20, width: 40, height: 40 } }],
    });
    expect(diagnostics).toEqual([]);
  });

  it('reads indefinite lengths and octets in pieces', async () => {
    const pieces = indefinite(0x24, octets(PNG.subarray(0, 100)), octets(PNG.subarray(100)));
    const info = indefinite(
      0x30,
      sequence(ia5('ES'), integer(4), ia5('V')),
      ia5('id'),
      indefinite(0x30, integer(1), utf8('章')),
      indefinite(0x30, ia5('png'), pieces, integer(40), integer(40)),
    );
    const { seals } = await one(indefinite(0x30, indefinite(0x30, integer(4), indefinite(0x30, info, octets(PNG)))));
    expect(Buffer.compare(seals[0]!.picture, PNG)).toBe(0);
    expect(seals[0]!.sealName).toBe('章');
  });

  it.each<[string, Uint8Array, string]>([
    ['gif', Buffer.from('GIF89a and so on'), 'gif'],
    ['', Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 0]), 'jpeg'],
    ['bmp', Buffer.from('BM......'), 'bmp'],
    ['png', Buffer.from('<?xml version="1.0"?>\n<svg xmlns="x"/>'), 'svg'],
    ['Es ', Buffer.from('who knows'), 'es'],
  ])('sniffs the type of a picture that claims to be %j', async (type, picture, expected) => {
    expect((await one(signatureV4({ type, picture }))).seals[0]?.pictureType).toBe(expected);
  });

  it('finds a package behind the bytes that a vendor puts before it', async () => {
    const inner = buildOfd({ pages: ['<seal/>'] });
    const { seals } = await one(signatureV4({ type: 'OFD', picture: Buffer.concat([Buffer.from('head'), inner]) }));
    expect(seals[0]!.pictureType).toBe('ofd');
    expect(Buffer.compare(seals[0]!.picture, inner)).toBe(0);
  });

  it('looks in the seal file, then for a picture file', async () => {
    const base = {
      'Signatures.xml': listXml('a', 'b'),
      'pic.png': PNG,
      'Seal.esl': sealV4({ type: 'png', picture: PNG }),
    };
    const { seals, diagnostics } = await read({
      ...base,
      'Sign_a/Signature.xml': signatureXml(STAMP, '<Seal><BaseLoc>/Doc_0/Signs/Seal.esl</BaseLoc></Seal>'),
      'Sign_b/Signature.xml': signatureXml(STAMP, '<Seal><ImageLoc>../pic.png</ImageLoc></Seal>'),
      'Sign_b/SignedValue.dat': 'nothing of use',
    });
    expect(seals.map(({ part }) => part)).toEqual(['Doc_0/Signs/Seal.esl', 'Doc_0/Signs/pic.png']);
    expect(seals[0]!.picture).toBe(seals[1]!.picture);
    expect(diagnostics).toEqual([]);
  });
});

describe('stamps', () => {
  it('gives each place, with the part that shows', async () => {
    const stamps = `${STAMP}<StampAnnot PageRef="1002" Boundary="202 40 40 40" Clip="0 0 8 40"/>
      <StampAnnot PageRef="1003" Boundary="1 2 3 4" Clip="0 0 0 0"/>`;
    const { seals } = await one(signatureV4({ type: 'png', picture: PNG }), signatureXml(stamps));
    expect(seals[0]!.stamps).toEqual([
      { pageRef: '1001', boundary: { x: 10, y: 20, width: 40, height: 40 } },
      {
        pageRef: '1002',
        boundary: { x: 202, y: 40, width: 40, height: 40 },
        clip: { x: 0, y: 0, width: 8, height: 40 },
      },
      { pageRef: '1003', boundary: { x: 1, y: 2, width: 3, height: 4 } },
    ]);
  });

  it('passes over a stamp without place, and a signature without stamp', async () => {
    const { seals, diagnostics } = await one(
      signatureV4({ type: 'png', picture: PNG }),
      signatureXml('<StampAnnot ID="9" PageRef="1"/>'),
    );
    expect(seals).toEqual([]);
    expect(diagnostics).toMatchObject([{ code: 'stamp_invalid' }]);
    expect(await one(Buffer.from('x'), signatureXml(''))).toEqual({ seals: [], diagnostics: [] });
  });
});

describe('damage', () => {
  it.each<[string, Uint8Array]>([
    ['text', Buffer.from('this is no BER at all')],
    ['nothing', Buffer.alloc(0)],
    ['a bare signature', sequence(integer(1), integer(2))],
    ['values without measure', Buffer.alloc(100_000, Buffer.from([0x30, 0x80]))],
    ['too many values', sequence(Buffer.alloc(200_000, Buffer.from([0x05, 0x00])))],
    ['an empty picture', signatureV4({ type: 'png', picture: Buffer.alloc(0) })],
  ])('says so for %s and reads the others', async (_name, value) => {
    const { seals, diagnostics } = await read({
      'Signatures.xml': listXml('bad', 'gone', 'good'),
      'Sign_bad/Signature.xml': signatureXml(),
      'Sign_bad/SignedValue.dat': value,
      'Sign_good/Signature.xml': signatureXml(),
      'Sign_good/SignedValue.dat': signatureV4({ type: 'png', picture: PNG }),
    });
    expect(seals.map(({ signatureId }) => signatureId)).toEqual(['good']);
    expect(diagnostics.map(({ code }) => code)).toEqual(['seal_unreadable', 'part_missing']);
    expect(diagnostics[0]!.message).toContain('Sign_bad');
  });

  it('is silent about a plain signature without a picture', async () => {
    const { seals, diagnostics } = await read({
      'Signatures.xml': '<Signatures><Signature ID="1" Type="Sign" BaseLoc="/Doc_0/Signs/Signature.xml"/></Signatures>',
      'Signature.xml': signatureXml(),
      'SignedValue.dat': sequence(integer(1), integer(2)),
    });
    expect(seals).toEqual([]);
    expect(diagnostics).toEqual([]);
  });

  it('looks at no more signatures than allowed', async () => {
    const { diagnostics } = await read({ 'Signatures.xml': listXml('1', '2', '3') }, { maxSignatures: 1 });
    expect(diagnostics.map(({ code }) => code)).toEqual(['signatures_cut', 'part_missing']);
  });
});

describe('stamps', () => {
  const value = signatureV4({ type: 'png', picture: PNG });

  it('are no more than the limit, through all signatures, and the rest is not even read', async () => {
    const two = signatureXml(STAMP.repeat(2));
    const files = ['1', '2', '3'].flatMap((id) => [
      [`Sign_${id}/Signature.xml`, two] as const,
      [`Sign_${id}/SignedValue.dat`, value] as const,
    ]);
    const { seals, diagnostics } = await read(
      { 'Signatures.xml': listXml('1', '2', '3', '4'), ...Object.fromEntries(files) },
      { maxStamps: 3 },
    );
    expect(seals.map(({ stamps }) => stamps.length)).toEqual([2, 1]);
    expect(diagnostics.map(({ code }) => code)).toEqual(['signatures_cut']);
    const all = await read(
      { 'Signatures.xml': listXml('1', '2', '3'), ...Object.fromEntries(files) },
      { maxStamps: 6 },
    );
    expect(all.seals.map(({ stamps }) => stamps.length)).toEqual([2, 2, 2]);
    expect(all.diagnostics).toEqual([]);
  });

  it('of a file that is listed again are there once', async () => {
    const { seals, diagnostics } = await read({
      'Signatures.xml': listXml('1', '1', '1'),
      'Sign_1/Signature.xml': signatureXml(),
      'Sign_1/SignedValue.dat': value,
    });
    expect(seals.map(({ stamps }) => stamps.length)).toEqual([1]);
    expect(diagnostics).toEqual([]);
  });
});

describe('BER', () => {
  it('reads long lengths and long tags', () => {
    const value = readBer(Buffer.concat([Buffer.from([0x7f, 0x81, 0x01, 0x84, 0, 0, 0, 3]), octets(Buffer.from('x'))]));
    expect(value.tag).toBe(-1);
    expect(Buffer.from(berOctets(value.children[0]) ?? []).toString()).toBe('x');
  });

  it.each<[string, readonly number[]]>([
    ['no bytes', []],
    ['half a header', [0x30]],
    ['half a length', [0x30, 0x84, 1]],
    ['a primitive of indefinite length', [0x04, 0x80, 0, 0]],
  ])('refuses %s', (_name, bytes) => {
    expect(() => readBer(Uint8Array.from(bytes))).toThrow(BerError);
  });
});
