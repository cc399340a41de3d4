/** The pages of a TIFF, each as a TIFF of its own, so that whoever knows one page only can read all. */

/** Bytes a value takes, by type. */
const TYPE_SIZES = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4];
const LONG = 4;
const NEW_SUBFILE_TYPE = 254;
/** A smaller version of another page, or a mask for one. */
const NOT_A_PAGE = 1 | 4;
const OFFSET_TAGS: Readonly<Record<number, number>> = { 273: 279, 324: 325 };
/** They point at more directories. */
const DROPPED_TAGS: ReadonlySet<number> = new Set([330, 34_665, 34_853]);
const MAX_DIRECTORIES = 20_000;
/** Of a page with its values, in files: blocks that lie over each other could make any size of a small one. */
const MOST_FILES = 2;
const SPARE_BYTES = 1024 * 1024;

interface Entry {
  readonly tag: number;
  readonly type: number;
  readonly count: number;
  readonly value: Uint8Array;
}

/** Where the directories of the pages stand. A chain that bites its tail, or leaves the file, ends there. */
export function tiffPages(bytes: Uint8Array): readonly number[] {
  return [...new TiffFile(bytes).pages()];
}

/** A file with one page alone; an empty one where the page claims more than the file can hold. @param directoryAt one of `tiffPages` */
export function tiffPage(bytes: Uint8Array, directoryAt: number): Uint8Array {
  return new TiffFile(bytes).alone(directoryAt);
}

class TiffFile {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #isLittleEndian: boolean;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#isLittleEndian = bytes[0] === 0x49;
  }

  *pages(): Generator<number> {
    const seen = new Set<number>();
    let at = this.#bytes.length >= 8 ? this.#view.getUint32(4, this.#isLittleEndian) : 0;
    while (at >= 8 && at + 2 <= this.#bytes.length && !seen.has(at) && seen.size < MAX_DIRECTORIES) {
      seen.add(at);
      const kind = this.#entries(at).find(({ tag }) => tag === NEW_SUBFILE_TYPE);
      const flags = kind === undefined ? 0 : (this.#numbers(kind)[0] ?? 0);
      if ((flags & NOT_A_PAGE) === 0) yield at;
      const next = at + 2 + 12 * this.#view.getUint16(at, this.#isLittleEndian);
      if (next + 4 > this.#bytes.length) return;
      at = this.#view.getUint32(next, this.#isLittleEndian);
    }
  }

  /** A file with one page: its values and blocks behind the header, its directory last. */
  alone(directoryAt: number): Uint8Array {
    const entries = this.#entries(directoryAt);
    const parts: Uint8Array[] = [];
    let length = 8;
    const put = (part: Uint8Array): number => {
      const at = length;
      const padded = part.length + (part.length & 1);
      parts.push(part, new Uint8Array(padded - part.length));
      length += padded;
      return at;
    };
    const kept = entries
      .filter(({ tag }) => !DROPPED_TAGS.has(tag))
      .map((entry) => {
        const countsTag = OFFSET_TAGS[entry.tag];
        if (countsTag === undefined) return entry;
        const counts = entries.find(({ tag }) => tag === countsTag);
        return this.#moved(entry, counts, put);
      });
    const directory = new Uint8Array(2 + 12 * kept.length + 4);
    const view = new DataView(directory.buffer);
    view.setUint16(0, kept.length, this.#isLittleEndian);
    kept.forEach(({ tag, type, count, value }, i) => {
      const at = 2 + 12 * i;
      view.setUint16(at, tag, this.#isLittleEndian);
      view.setUint16(at + 2, type, this.#isLittleEndian);
      view.setUint32(at + 4, count, this.#isLittleEndian);
      if (value.length <= 4) directory.set(value, at + 8);
      else view.setUint32(at + 8, put(value), this.#isLittleEndian);
    });
    if (length > MOST_FILES * this.#bytes.length + SPARE_BYTES) return new Uint8Array(0);
    const header = Uint8Array.from(this.#bytes.subarray(0, 8));
    new DataView(header.buffer).setUint32(4, length, this.#isLittleEndian);
    return Buffer.concat([header, ...parts, directory]);
  }

  /** The entry with its blocks where they now stand. */
  #moved(offsets: Entry, counts: Entry | undefined, put: (part: Uint8Array) => number): Entry {
    const sizes = counts && this.#numbers(counts);
    const starts = this.#numbers(offsets);
    const rising = [...new Set(starts)].sort((a, b) => a - b);
    const next = new Map(rising.map((start, i) => [start, rising[i + 1] ?? this.#bytes.length]));
    // Writers put blocks that are the same, such as blank ones, once.
    const known = new Map<string, number>();
    const places = starts.map((offset, i) => {
      const end = sizes?.[i] === undefined ? next.get(offset) : offset + sizes[i];
      const place = known.get(`${offset} ${end}`) ?? put(this.#bytes.subarray(offset, end));
      known.set(`${offset} ${end}`, place);
      return place;
    });
    const value = new Uint8Array(4 * places.length);
    const view = new DataView(value.buffer);
    for (const [i, place] of places.entries()) view.setUint32(4 * i, place, this.#isLittleEndian);
    return { tag: offsets.tag, type: LONG, count: places.length, value };
  }

  #entries(at: number): Entry[] {
    const count = this.#view.getUint16(at, this.#isLittleEndian);
    const entries: Entry[] = [];
    for (let i = 0, place = at + 2; i < count && place + 12 <= this.#bytes.length; i++, place += 12) {
      const entry = this.#entry(place);
      if (entry !== undefined) entries.push(entry);
    }
    return entries;
  }

  #entry(place: number): Entry | undefined {
    const type = this.#view.getUint16(place + 2, this.#isLittleEndian);
    const count = this.#view.getUint32(place + 4, this.#isLittleEndian);
    const size = (TYPE_SIZES[type] ?? 0) * count;
    const at = size <= 4 ? place + 8 : this.#view.getUint32(place + 8, this.#isLittleEndian);
    if (size === 0 || at + size > this.#bytes.length) return undefined;
    const tag = this.#view.getUint16(place, this.#isLittleEndian);
    return { tag, type, count, value: this.#bytes.subarray(at, at + size) };
  }

  #numbers({ type, count, value }: Entry): number[] {
    const view = new DataView(value.buffer, value.byteOffset, value.byteLength);
    if (type === 3) return Array.from({ length: count }, (_, i) => view.getUint16(2 * i, this.#isLittleEndian));
    if (type === LONG) return Array.from({ length: count }, (_, i) => view.getUint32(4 * i, this.#isLittleEndian));
    return type === 1 ? [...value] : [];
  }
}
