/**
 * The PDF file as it grows: streams go out at once, small objects are gathered into object streams, and the
 * cross-reference stream comes last. What stays in memory is three numbers an object.
 */
import { createHash } from 'node:crypto';
import { deflateSync } from '../../zlib.js';
import type { OutputFile } from '../backend.js';
import { type Context, PDFContext, PDFHexString, type PDFObject, type Reference } from './pdf-lib.js';

/** Plain values as pdf-lib's `context.obj` takes them: a string is a name, an object a dictionary. */
export type Value = PDFObject | string | number | boolean | null | Value[] | Entries;

export interface Entries {
  [key: string]: Value;
}

const OBJECTS_PER_STREAM = 128;

/** Streams at least this long are deflated; below, the filter's name costs more than it saves. */
const SMALLEST_DEFLATED = 64;

/** Up to this size a stream goes out in one write together with its head. */
const LARGEST_JOINED = 64 * 1024;

/** Bounds of what is remembered to find equal objects. */
const MOST_KNOWN = 4096;
const LARGEST_COMPARED = 16 * 1024;

/** Kinds of entry in a cross-reference stream. */
const FREE = 0;
const AT_OFFSET = 1;
const IN_OBJECT_STREAM = 2;

export class PdfFile {
  readonly #context: Context = PDFContext.create();
  readonly #output: OutputFile;
  readonly #hash = createHash('sha256');
  #offset = 0;
  /** By object number: the kind of entry and its two values. */
  readonly #kinds: number[] = [FREE];
  readonly #first: number[] = [0];
  readonly #second: number[] = [65535];
  #gathered: { readonly objectNumber: number; readonly text: string }[] = [];

  readonly #known = new Map<string, Reference>();

  constructor(output: OutputFile) {
    this.#output = output;
    // Four bytes above 127 tell transfer programs that the file is binary.
    this.#write(Buffer.from('%PDF-1.7\n%\xe2\xe3\xcf\xd3\n', 'latin1'));
  }

  /** A reference to an object that will be added later. */
  allocate(): Reference {
    return this.#context.nextRef();
  }

  object(entries: Entries): PDFObject {
    return this.#context.obj(entries);
  }

  array(values: Value[]): PDFObject {
    return this.#context.obj(values);
  }

  /** Adds an object that is no stream. */
  add(object: PDFObject, reference: Reference = this.allocate()): Reference {
    this.#gathered.push({ objectNumber: reference.objectNumber, text: object.toString() });
    if (this.#gathered.length >= OBJECTS_PER_STREAM) this.#writeObjectStream();
    return reference;
  }

  /** As `add`, but an object with the same text is written only once. */
  addOnce(object: PDFObject): Reference {
    return this.#once(object.toString(), () => this.add(object));
  }

  /** As `addStream`, but a stream with the same entries and bytes is written only once; for streams without a filter. */
  addStreamOnce(entries: Entries, bytes: Buffer): Reference {
    if (bytes.length > LARGEST_COMPARED) return this.addStream(entries, bytes);
    const key = this.object(entries).toString() + bytes.toString('latin1');
    return this.#once(key, () => this.addStream(entries, bytes));
  }

  /** As `addStream`, without any filter: programs that do not know PDF find metadata by looking through the file. */
  addPlainStream(entries: Entries, bytes: Uint8Array): Reference {
    return this.#writeStream(entries, bytes, this.allocate());
  }

  /** Adds a stream; `bytes` are deflated here unless `entries` names a filter. */
  addStream(entries: Entries, bytes: Uint8Array, reference: Reference = this.allocate()): Reference {
    const isDeflated = entries.Filter === undefined && bytes.length >= SMALLEST_DEFLATED;
    const data = isDeflated ? deflateSync(bytes) : bytes;
    const filter = isDeflated ? { Filter: 'FlateDecode' } : {};
    return this.#writeStream({ ...entries, ...filter }, data, reference);
  }

  #writeStream(entries: Entries, data: Uint8Array, reference: Reference): Reference {
    const dictionary = this.object({ ...entries, Length: data.length });
    this.#enter(reference.objectNumber, AT_OFFSET, this.#offset, 0);
    const head = Buffer.from(`${reference.objectNumber} 0 obj\n${dictionary.toString()}\nstream\n`, 'latin1');
    const tail = Buffer.from('\nendstream\nendobj\n', 'latin1');
    if (data.length <= LARGEST_JOINED) {
      this.#write(Buffer.concat([head, data, tail]));
    } else {
      this.#write(head);
      this.#write(data);
      this.#write(tail);
    }
    return reference;
  }

  /** Writes what is gathered, the cross-reference stream and the end. The file's identifier is a hash of its content. */
  finish(root: Reference, info: Reference): void {
    if (this.#gathered.length > 0) this.#writeObjectStream();
    const reference = this.allocate();
    const start = this.#offset;
    this.#enter(reference.objectNumber, AT_OFFSET, start, 0);
    const identifier = PDFHexString.of(this.#hash.copy().digest('hex').slice(0, 32));
    const size = this.#context.largestObjectNumber + 1;
    const offsetBytes = Math.max(2, Math.ceil(Math.log2(start + 1) / 8));
    const rowBytes = 1 + offsetBytes + 2;
    const entries = {
      Type: 'XRef',
      Size: size,
      W: [1, offsetBytes, 2],
      Root: root,
      Info: info,
      ID: [identifier, identifier],
      Filter: 'FlateDecode',
      DecodeParms: { Predictor: 12, Columns: rowBytes },
    };
    this.addStream(entries, deflateSync(this.#crossReferenceRows(size, offsetBytes)), reference);
    this.#write(Buffer.from(`startxref\n${start}\n%%EOF\n`, 'latin1'));
  }

  /** One row an object, each written as the difference to the row above (PNG's filter "up"), which deflates far better. */
  #crossReferenceRows(size: number, offsetBytes: number): Buffer {
    const rowBytes = 1 + offsetBytes + 2;
    const rows = Buffer.alloc(size * (rowBytes + 1));
    let above = Buffer.alloc(rowBytes);
    for (let number = 0; number < size; number++) {
      const row = Buffer.alloc(rowBytes);
      row[0] = this.#kinds[number] ?? FREE;
      row.writeUIntBE(this.#first[number] ?? 0, 1, offsetBytes);
      row.writeUInt16BE(this.#second[number] ?? 0, 1 + offsetBytes);
      const at = number * (rowBytes + 1);
      rows[at] = 2;
      for (let i = 0; i < rowBytes; i++) rows[at + 1 + i] = row[i]! - above[i]!;
      above = row;
    }
    return rows;
  }

  #writeObjectStream(): void {
    const objects = this.#gathered;
    this.#gathered = [];
    const reference = this.allocate();
    let directory = '';
    let body = '';
    for (const [index, { objectNumber, text }] of objects.entries()) {
      directory += `${objectNumber} ${body.length} `;
      body += `${text}\n`;
      this.#enter(objectNumber, IN_OBJECT_STREAM, reference.objectNumber, index);
    }
    const entries = { Type: 'ObjStm', N: objects.length, First: directory.length };
    this.addStream(entries, Buffer.from(directory + body, 'latin1'), reference);
  }

  #once(key: string, add: () => Reference): Reference {
    const known = this.#known.get(key);
    if (known) return known;
    const reference = add();
    if (this.#known.size >= MOST_KNOWN) this.#known.clear();
    this.#known.set(key, reference);
    return reference;
  }

  #enter(objectNumber: number, kind: number, first: number, second: number): void {
    this.#kinds[objectNumber] = kind;
    this.#first[objectNumber] = first;
    this.#second[objectNumber] = second;
  }

  #write(bytes: Uint8Array): void {
    this.#hash.update(bytes);
    this.#offset += bytes.length;
    this.#output.write(bytes);
  }
}
