// Two thousand damaged packages, the same each time: nothing but OfdError is thrown, and none takes long.
import { expect, it } from 'vitest';
import { OfdError } from '../../src/ofd/error.js';
import { DEFAULT_LIMITS } from '../../src/ofd/limits.js';
import { OfdPackage } from '../../src/ofd/package.js';
import { readSeals } from '../../src/ofd/signature.js';
import { signatureV1, signatureV4 } from '../support/der.js';
import { buildOfd, textXml } from '../support/ofd-builder.js';
import { processorClock } from '../support/processor-time.js';
import type { ZipFileSpec } from '../support/zip-writer.js';

const MUTATIONS = 2000;
const SIGNATURES = 'Doc_0/Signs/Signatures.xml';

/** Numbers from 0 to below `limit`, from a seed (a linear congruence; the high bits are good enough here). */
function numbersFrom(seed: number): (limit: number) => number {
  let state = seed >>> 0;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

function basePackage(pack: (file: ZipFileSpec) => ZipFileSpec): Uint8Array {
  const picture = Buffer.from('\x89PNG\r\n\x1a\n and so on', 'latin1');
  const signature = (value: string): string =>
    `<Signature><SignedInfo><StampAnnot PageRef="1001" Boundary="1 2 3 4"/></SignedInfo><SignedValue>${value}</SignedValue></Signature>`;
  return buildOfd({
    pages: [
      textXml('第一页 &c.'),
      `<ofd:PathObject Boundary="0 0 9 9">${'<ofd:X a="1 2"/>'.repeat(40)}</ofd:PathObject>`,
    ],
    publicRes: '<ofd:Fonts><ofd:Font ID="1" FontName="宋体"/></ofd:Fonts>',
    docBody: `<ofd:Signatures>/${SIGNATURES}</ofd:Signatures>`,
    files: {
      [SIGNATURES]: '<Signatures><Signature ID="1" BaseLoc="1.xml"/><Signature ID="2" BaseLoc="2.xml"/></Signatures>',
      'Doc_0/Signs/1.xml': signature('1.dat'),
      'Doc_0/Signs/2.xml': signature('2.dat'),
      'Doc_0/Signs/1.dat': signatureV1({ type: 'png', picture }),
      'Doc_0/Signs/2.dat': signatureV4({ type: 'png', picture }),
    },
    pack,
  });
}

function mutated(base: Uint8Array, next: (limit: number) => number): Uint8Array {
  const bytes = Buffer.from(base);
  const at = next(bytes.length);
  const kind = next(6);
  if (kind === 0) return bytes.subarray(0, at);
  if (kind === 1) return bytes.subarray(at);
  if (kind === 2)
    return Buffer.concat([bytes.subarray(0, at), bytes.subarray(Math.min(bytes.length, at + 1 + next(60)))]);
  if (kind === 3) return Buffer.concat([bytes.subarray(0, at), bytes.subarray(next(bytes.length))]);
  if (kind === 4) {
    const end = bytes.length - next(300);
    for (let i = 0; i < 4; i++) bytes[Math.max(0, end - next(300) - 1)] = next(256);
    return bytes;
  }
  for (let i = 0; i < 1 + next(12); i++) bytes[next(bytes.length)] = next(2) === 0 ? next(256) : 0xff;
  return bytes;
}

async function readAll(bytes: Uint8Array): Promise<void> {
  const report = (): void => {};
  const pkg = await OfdPackage.open(bytes, DEFAULT_LIMITS, report);
  for (const name of pkg.names()) {
    if (name.endsWith('.xml')) pkg.xml(name);
    else pkg.bytes(name);
  }
  readSeals(pkg, pkg.resolve(SIGNATURES, '') ?? SIGNATURES, report);
}

it('survives them', async () => {
  const next = numbersFrom(33190);
  const bases = [
    basePackage((file) => file),
    basePackage((file) => ({ ...file, method: 'stored' })),
    basePackage((file) => ({ ...file, descriptor: true })),
    basePackage((file) => ({ ...file, method: 'stored', descriptor: 'bare', zip64: file.name === 'OFD.xml' })),
  ];
  const reasons = new Map<string, number>();
  let slowestMs = 0;
  for (let i = 0; i < MUTATIONS; i++) {
    const bytes = mutated(bases[i % bases.length]!, next);
    const took = processorClock();
    try {
      await readAll(bytes);
      reasons.set('read', (reasons.get('read') ?? 0) + 1);
    } catch (error) {
      if (!(error instanceof OfdError)) throw new Error(`mutation ${i} throws`, { cause: error });
      reasons.set(error.reason, (reasons.get(error.reason) ?? 0) + 1);
    }
    slowestMs = Math.max(slowestMs, took());
  }
  expect(slowestMs).toBeLessThan(1000);
  // Most damage leaves something to show.
  expect(reasons.get('read')).toBeGreaterThan(MUTATIONS / 2);
});
