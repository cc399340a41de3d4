/** Reads the first image file directory of a TIFF: tags with whole-number values. */

export interface TiffDirectory {
  readonly isLittleEndian: boolean;
  /** Values of a tag; undefined where it is absent, of another type, or points outside the file. */
  values(tag: number): readonly number[] | undefined;
  /** The first value of a tag, or `fallback`. */
  value(tag: number, fallback: number): number;
  /** Raw bytes of a tag. */
  raw(tag: number): Uint8Array | undefined;
}

/** Bytes a value takes, by type; 0 for types that hold no whole numbers. */
const TYPE_SIZES = [0, 1, 1, 2, 4, 0, 1, 1, 2, 4, 0, 0, 0, 4];

interface Entry {
  readonly type: number;
  readonly count: number;
  readonly at: number;
}

/** Throws RangeError where the file ends before its directory. */
export function readTiffDirectory(bytes: Uint8Array): TiffDirectory {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const isLittleEndian = bytes[0] === 0x49;
  const start = view.getUint32(4, isLittleEndian);
  const count = view.getUint16(start, isLittleEndian);
  const entries = new Map<number, Entry>();
  for (let i = 0; i < count; i++) {
    const at = start + 2 + i * 12;
    if (at + 12 > bytes.length) break;
    const entry = readEntry(view, at, isLittleEndian);
    if (entry !== undefined) entries.set(view.getUint16(at, isLittleEndian), entry);
  }
  const values = (tag: number) => readValues(view, entries.get(tag), isLittleEndian);
  return {
    isLittleEndian,
    values,
    value: (tag, fallback) => values(tag)?.[0] ?? fallback,
    raw: (tag) => {
      const entry = entries.get(tag);
      return entry && bytes.subarray(entry.at, entry.at + entry.count * TYPE_SIZES[entry.type]!);
    },
  };
}

function readEntry(view: DataView, at: number, isLittleEndian: boolean): Entry | undefined {
  const type = view.getUint16(at + 2, isLittleEndian);
  const count = view.getUint32(at + 4, isLittleEndian);
  const size = (TYPE_SIZES[type] ?? 0) * count;
  if (size === 0) return undefined;
  const valueAt = size <= 4 ? at + 8 : view.getUint32(at + 8, isLittleEndian);
  return valueAt + size <= view.byteLength ? { type, count, at: valueAt } : undefined;
}

function readValues(view: DataView, entry: Entry | undefined, isLittleEndian: boolean): number[] | undefined {
  if (entry === undefined) return undefined;
  const size = TYPE_SIZES[entry.type]!;
  return Array.from({ length: entry.count }, (_, i) => {
    const at = entry.at + i * size;
    if (size === 1) return view.getUint8(at);
    return size === 2 ? view.getUint16(at, isLittleEndian) : view.getUint32(at, isLittleEndian);
  });
}
