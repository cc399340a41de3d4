/** A package that is not as its maker meant it. */
import { writeZip, type ZipFileSpec, type ZipOptions } from '../support/zip-writer.js';
import { mutateBytes } from './mutate-bytes.js';
import { mutateXml } from './mutate-xml.js';
import type { Numbers } from './numbers.js';

/** The parts of a package by name, in the order of its directory. */
export type Parts = readonly (readonly [name: string, content: Uint8Array])[];

/** A package made from `parts` with something wrong in it. */
export function mutatedPackage(parts: Parts, numbers: Numbers): Uint8Array {
  const files = parts.map(([name, content]): ZipFileSpec => ({ name, content, method: 'stored' }));
  for (let count = 1 + numbers.below(3); count > 0; count--) mutatePart(files, numbers);
  const damagesZip = numbers.once(8);
  const bytes = writeZip(damagesZip ? oddly(files, numbers) : files, damagesZip ? oddOptions(numbers) : {});
  return damagesZip && numbers.once(2) ? mutateBytes(bytes, numbers) : bytes;
}

function mutatePart(files: ZipFileSpec[], numbers: Numbers): void {
  const index = numbers.below(files.length);
  const file = files[index]!;
  const content = Buffer.from(file.content as Uint8Array);
  const isXml = /\.xml$/i.test(String(file.name)) || content.subarray(0, 64).includes('<?xml');
  if (numbers.once(25)) files[index] = { ...file, content: files[numbers.below(files.length)]!.content };
  else if (isXml && !numbers.once(20)) {
    files[index] = { ...file, content: Buffer.from(mutateXml(content.toString('utf8'), numbers)) };
  } else files[index] = { ...file, content: mutateBytes(content, numbers) };
}

/** The same parts in entries that few writers make, or that none should. */
function oddly(files: readonly ZipFileSpec[], numbers: Numbers): ZipFileSpec[] {
  const kind = numbers.below(10);
  const victim = numbers.below(files.length);
  return files.flatMap((file, index): ZipFileSpec[] => {
    if (kind === 0) return [{ ...file, descriptor: numbers.once(2) ? true : 'bare' }];
    if (kind === 1) return [{ ...file, zip64: true }];
    if (kind === 2) return [{ ...file, name: String(file.name).replaceAll('/', '\\') }];
    if (kind === 3) return [{ ...file, method: 'deflated' }];
    if (index !== victim) return [file];
    if (kind === 4) return [];
    if (kind === 5) return [file, { ...file, content: mutateBytes(file.content as Uint8Array, numbers) }];
    if (kind === 6) return [{ ...file, declaredBytes: numbers.pick([0, 1, 0x7fffffff, 0xffffffff]) }];
    if (kind === 7) return [{ ...file, method: numbers.pick([1, 8, 9, 12, 14, 99]) }];
    if (kind === 8) return [{ ...file, flags: numbers.pick([1, 8, 0x41, 0x800, 0xffff]) }];
    return [{ ...file, centralName: `${String(file.name)}${numbers.pick(['', 'x', '/', '/../..'])}` }];
  });
}

function oddOptions(numbers: Numbers): ZipOptions {
  switch (numbers.below(5)) {
    case 0:
      return { prefix: Buffer.from('%PDF-1.4 or anything') };
    case 1:
      return { suffix: Buffer.alloc(numbers.below(70_000), numbers.below(256)) };
    case 2:
      return { directoryOffsetError: numbers.below(100) - 50 };
    case 3:
      return { repeatDirectory: 1 + numbers.below(20) };
    default:
      return {};
  }
}
