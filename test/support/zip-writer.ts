/** Writes ZIP files for tests, odd and broken ones too. Not for the product: it trusts its caller in everything. */
import { crc32, deflateRawSync } from 'node:zlib';

export interface ZipFileSpec {
  /** Bytes are written as they are, a string as UTF-8. */
  readonly name: string | Uint8Array;
  readonly content: Uint8Array | string;
  /** A number is written into the headers, the content stored. Default 'deflated'. */
  readonly method?: 'stored' | 'deflated' | number;
  /** Sizes and checksum after the data instead of in the local header; 'bare' without signature. */
  readonly descriptor?: boolean | 'bare';
  /** Instead of the right one. */
  readonly crc32?: number;
  /** Bits added to the general purpose flag (1 encrypted, 0x800 names are UTF-8). */
  readonly flags?: number;
  /** Name in the directory where it is another than in the local header. */
  readonly centralName?: string | Uint8Array;
  /** Method in the directory where it is another than in the local header. */
  readonly centralMethod?: number;
  /** Size after inflation that the directory claims. */
  readonly declaredBytes?: number;
  /** Sizes and offset in ZIP64 extra fields. */
  readonly zip64?: boolean;
}

export interface ZipOptions {
  /** Bytes in front; offsets do not count them. */
  readonly prefix?: Uint8Array;
  readonly suffix?: Uint8Array;
  readonly comment?: string;
  /** Added to the offset of the directory in the end record. */
  readonly directoryOffsetError?: number;
  /** Directory entries written this many times, all pointing to the same data. */
  readonly repeatDirectory?: number;
}

const END_SIZE = 22;
const IN_ZIP64 = 0xffffffff;
const FLAG_DESCRIPTOR = 8;

interface Written {
  readonly spec: ZipFileSpec;
  readonly offset: number;
  readonly method: number;
  readonly crc: number;
  readonly packedBytes: number;
  readonly sizeBytes: number;
}

export function writeZip(files: readonly ZipFileSpec[], options: ZipOptions = {}): Uint8Array {
  const chunks: Buffer[] = [];
  const written: Written[] = [];
  let offset = 0;
  const put = (chunk: Buffer): void => {
    chunks.push(chunk);
    offset += chunk.length;
  };
  for (const spec of files) {
    const at = offset;
    const { record, data } = pack(spec, at);
    put(localHeader(record));
    put(data);
    if (spec.descriptor) put(descriptor(record));
    written.push(record);
  }
  const directoryStart = offset;
  const repeat = options.repeatDirectory ?? 1;
  for (let i = 0; i < repeat; i++) {
    for (const record of written) put(centralHeader(record, i === 0 ? '' : `_${i}`));
  }
  const directoryBytes = offset - directoryStart;
  const count = written.length * repeat;
  if (written.some(({ spec }) => spec.zip64)) put(zip64End(count, directoryBytes, directoryStart, offset));
  put(endRecord(count, directoryBytes, directoryStart + (options.directoryOffsetError ?? 0), options.comment ?? ''));
  return Buffer.concat([options.prefix ?? Buffer.alloc(0), ...chunks, options.suffix ?? Buffer.alloc(0)]);
}

function bytesOf(text: Uint8Array | string): Buffer {
  return typeof text === 'string' ? Buffer.from(text, 'utf8') : Buffer.from(text);
}

function pack(spec: ZipFileSpec, offset: number): { record: Written; data: Buffer } {
  const content = bytesOf(spec.content);
  const method = spec.method ?? 'deflated';
  const data = method === 'deflated' ? deflateRawSync(content) : content;
  const number = method === 'deflated' ? 8 : method === 'stored' ? 0 : method;
  const crc = spec.crc32 ?? crc32(content);
  return { record: { spec, offset, method: number, crc, packedBytes: data.length, sizeBytes: content.length }, data };
}

function flagsOf({ spec }: Written): number {
  return (spec.flags ?? 0) | (spec.descriptor ? FLAG_DESCRIPTOR : 0);
}

function localHeader(record: Written): Buffer {
  const { spec } = record;
  const name = bytesOf(spec.name);
  const extra = spec.zip64 ? zip64Extra([record.sizeBytes, record.packedBytes]) : Buffer.alloc(0);
  const header = Buffer.alloc(30);
  header.writeUInt32LE(0x04034b50, 0);
  header.writeUInt16LE(20, 4);
  header.writeUInt16LE(flagsOf(record), 6);
  header.writeUInt16LE(record.method, 8);
  if (!spec.descriptor) {
    header.writeUInt32LE(record.crc, 14);
    header.writeUInt32LE(spec.zip64 ? IN_ZIP64 : record.packedBytes, 18);
    header.writeUInt32LE(spec.zip64 ? IN_ZIP64 : record.sizeBytes, 22);
  }
  header.writeUInt16LE(name.length, 26);
  header.writeUInt16LE(extra.length, 28);
  return Buffer.concat([header, name, extra]);
}

function descriptor(record: Written): Buffer {
  const fields = Buffer.alloc(16);
  fields.writeUInt32LE(0x08074b50, 0);
  fields.writeUInt32LE(record.crc, 4);
  fields.writeUInt32LE(record.packedBytes, 8);
  fields.writeUInt32LE(record.sizeBytes, 12);
  return record.spec.descriptor === 'bare' ? fields.subarray(4) : fields;
}

function centralHeader(record: Written, nameSuffix: string): Buffer {
  const { spec } = record;
  const name = Buffer.concat([bytesOf(spec.centralName ?? spec.name), Buffer.from(nameSuffix)]);
  const sizeBytes = spec.declaredBytes ?? record.sizeBytes;
  const extra = spec.zip64 ? zip64Extra([sizeBytes, record.packedBytes, record.offset]) : Buffer.alloc(0);
  const header = Buffer.alloc(46);
  header.writeUInt32LE(0x02014b50, 0);
  header.writeUInt16LE(20, 4);
  header.writeUInt16LE(20, 6);
  header.writeUInt16LE(flagsOf(record), 8);
  header.writeUInt16LE(spec.centralMethod ?? record.method, 10);
  header.writeUInt32LE(record.crc, 16);
  header.writeUInt32LE(spec.zip64 ? IN_ZIP64 : record.packedBytes, 20);
  header.writeUInt32LE(spec.zip64 ? IN_ZIP64 : sizeBytes, 24);
  header.writeUInt16LE(name.length, 28);
  header.writeUInt16LE(extra.length, 30);
  header.writeUInt32LE(spec.zip64 ? IN_ZIP64 : record.offset, 42);
  return Buffer.concat([header, name, extra]);
}

function zip64Extra(values: readonly number[]): Buffer {
  const extra = Buffer.alloc(4 + values.length * 8);
  extra.writeUInt16LE(1, 0);
  extra.writeUInt16LE(values.length * 8, 2);
  values.forEach((value, i) => {
    extra.writeBigUInt64LE(BigInt(value), 4 + i * 8);
  });
  return extra;
}

function zip64End(count: number, directoryBytes: number, directoryStart: number, at: number): Buffer {
  const end = Buffer.alloc(56 + 20);
  end.writeUInt32LE(0x06064b50, 0);
  end.writeBigUInt64LE(44n, 4);
  end.writeBigUInt64LE(BigInt(count), 24);
  end.writeBigUInt64LE(BigInt(count), 32);
  end.writeBigUInt64LE(BigInt(directoryBytes), 40);
  end.writeBigUInt64LE(BigInt(directoryStart), 48);
  end.writeUInt32LE(0x07064b50, 56);
  end.writeBigUInt64LE(BigInt(at), 64);
  end.writeUInt32LE(1, 72);
  return end;
}

function endRecord(count: number, directoryBytes: number, directoryStart: number, comment: string): Buffer {
  const text = Buffer.from(comment, 'utf8');
  const end = Buffer.alloc(END_SIZE);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(Math.min(count, 0xffff), 8);
  end.writeUInt16LE(Math.min(count, 0xffff), 10);
  end.writeUInt32LE(directoryBytes, 12);
  end.writeUInt32LE(directoryStart, 16);
  end.writeUInt16LE(text.length, 20);
  return Buffer.concat([end, text]);
}
