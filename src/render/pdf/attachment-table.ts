/** Files inside the file: each written once, when something first points to it or at the end. */
import { createHash } from 'node:crypto';
import type { Attachment, DocumentFacts } from '../../display/facts.js';
import { mediaTypeOf } from '../media-type.js';
import { pdfDate } from './dates.js';
import type { PdfFile } from './file.js';
import { PDFHexString, type PDFObject, PDFString, type Reference } from './pdf-lib.js';
import { textString } from './text-string.js';

/** Kinds of file that hold as data what the pages show. */
const DATA_TYPES: ReadonlySet<string> = new Set(['text/xml', 'text/csv', 'application/json']);

export interface WrittenAttachment {
  readonly name: string;
  readonly reference: Reference;
}

export class AttachmentTable {
  readonly #file: PdfFile;
  readonly #facts: () => DocumentFacts;
  #known: ReadonlyMap<string, Attachment> | undefined;
  /** Undefined for what cannot be read. */
  readonly #written = new Map<string, Reference | undefined>();
  /** A file that is attached several times is written once. */
  readonly #streams = new Map<Attachment['bytes'], Reference>();

  constructor(file: PdfFile, facts: () => DocumentFacts) {
    this.#file = file;
    this.#facts = facts;
  }

  /** The file specification of an attachment; undefined where there is none or nothing of it can be read. */
  specificationOf(name: string): Reference | undefined {
    this.#known ??= new Map(this.#facts().attachments.map((attachment) => [attachment.name, attachment]));
    const attachment = this.#known.get(name);
    if (attachment === undefined) return undefined;
    if (!this.#written.has(name)) this.#written.set(name, this.#write(attachment));
    return this.#written.get(name);
  }

  /** Writes those that nothing has pointed to; the result has all, in the order of the document. */
  finish(): WrittenAttachment[] {
    return this.#facts().attachments.flatMap(({ name }) => {
      const reference = this.specificationOf(name);
      return reference === undefined ? [] : [{ name, reference }];
    });
  }

  #write(attachment: Attachment): Reference | undefined {
    const type = mediaTypeOf(attachment.name);
    const known = this.#streams.get(attachment.bytes);
    const stream = known ?? this.#writeStream(attachment, type);
    if (stream === undefined) return undefined;
    this.#streams.set(attachment.bytes, stream);
    return this.#file.add(
      this.#file.object({
        Type: 'Filespec',
        F: PDFString.of(attachment.name.replace(/[^\x20-\x7e]/gu, '_').replace(/[\\()]/g, '\\$&')),
        UF: textString(attachment.name),
        EF: { F: stream, UF: stream },
        AFRelationship: DATA_TYPES.has(type) ? 'Data' : 'Unspecified',
      }),
    );
  }

  #writeStream(attachment: Attachment, type: string): Reference | undefined {
    const bytes = attachment.bytes();
    if (bytes === undefined) return undefined;
    const entries = { Type: 'EmbeddedFile', Subtype: type, Params: this.#parameters(attachment, bytes) };
    return this.#file.addStream(entries, bytes);
  }

  /** The date of the last change is the best that the document knows: ISO 19005-3 wants one. */
  #parameters({ creationDate, modificationDate }: Attachment, bytes: Uint8Array): Record<string, PDFObject | number> {
    const { info } = this.#facts();
    const created = dateOf(creationDate);
    const modified = dateOf(modificationDate) ?? created ?? dateOf(info.modificationDate) ?? dateOf(info.creationDate);
    return {
      Size: bytes.length,
      CheckSum: PDFHexString.of(createHash('md5').update(bytes).digest('hex')),
      ...(created === undefined ? {} : { CreationDate: created }),
      ...(modified === undefined ? {} : { ModDate: modified }),
    };
  }
}

function dateOf(text: string | undefined): PDFObject | undefined {
  const date = text === undefined ? undefined : pdfDate(text);
  return date === undefined ? undefined : PDFString.of(date);
}
