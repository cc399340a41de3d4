/** Attachments.xml: files that travel with a document. */
import { type Attachment, FreeNames } from '../display/facts.js';
import type { Report } from '../display/list.js';
import { type DocumentBody, resolvedPart } from './document.js';
import { factLine, factText } from './fact-text.js';
import { folderOf } from './location.js';
import type { XmlElement } from './xml.js';

/** In UTF-8; systems take 255 with the extension and a number. */
const MAX_NAME_BYTES = 200;
const MAX_EXTENSION = 16;

export interface AttachedFile {
  /** Undefined where the producer forgot it. */
  readonly id: string | undefined;
  readonly attachment: Attachment;
}

/** What the documents of a package share: names, each given once, and for each part one function that reads it. */
export class PackageAttachments {
  readonly names = new FreeNames();
  readonly readers = new Map<string, Attachment['bytes']>();
}

/** The attachments whose files are there; one that is missing is a diagnostic. */
export function readAttachments(body: DocumentBody, shared: PackageAttachments, report: Report): AttachedFile[] {
  const { pkg, folder } = body;
  const listPart = resolvedPart(pkg, body.beside.attachments ?? '', folder, report);
  const list = listPart === undefined ? undefined : pkg.xml(listPart);
  if (listPart === undefined || list === undefined) return [];
  return list.childrenNamed('Attachment').flatMap((element): AttachedFile[] => {
    const location = element.childText('FileLoc') ?? '';
    const part = location === '' ? undefined : pkg.resolve(location, folderOf(listPart), folder);
    if (part === undefined) {
      const name = element.attribute('Name')?.trim() || location;
      const message = `The attachment "${name}" is left out: the package has no part ${location || 'named for it'}`;
      report({ code: 'attachment_missing', message, part: listPart });
      return [];
    }
    const bytes = shared.readers.get(part) ?? (() => pkg.bytes(part));
    shared.readers.set(part, bytes);
    return [{ id: element.id('ID'), attachment: { ...describe(element, part, shared.names), bytes } }];
  });
}

function describe(element: XmlElement, part: string, names: FreeNames): Omit<Attachment, 'bytes'> {
  const format = factLine(element.attribute('Format') ?? '');
  const creationDate = factLine(element.attribute('CreationDate') ?? '');
  const modificationDate = factLine(element.attribute('ModDate') ?? '');
  const usage = factLine(element.attribute('Usage') ?? '');
  return {
    name: fileName(element.attribute('Name') ?? '', format, part, names),
    ...(format ? { format } : {}),
    ...(creationDate ? { creationDate } : {}),
    ...(modificationDate ? { modificationDate } : {}),
    isVisible: element.boolean('Visible') !== false,
    ...(usage && usage.toLowerCase() !== 'none' ? { usage } : {}),
  };
}

/** `Name` with the extension of `Format`, else of the part, unless it has that already; never a path. */
function fileName(written: string, format: string | undefined, part: string, names: FreeNames): string {
  const partName = part.slice(part.lastIndexOf('/') + 1);
  const base = plainName(written) || plainName(partName) || 'attachment';
  const extension = extensionOf(format) ?? extensionOf(/\.([^.]*)$/.exec(partName)?.[1]) ?? '';
  const hasExtension = extension !== '' && base.toLowerCase().endsWith(extension.toLowerCase());
  return hasExtension
    ? names.take(base, base.slice(base.length - extension.length))
    : names.take(base + extension, extension);
}

/** No separators, no control characters, no marks that let it read backwards, no name that means a folder. */
function plainName(text: string): string {
  const clean = factText(text.replace(/\p{Cc}/gu, '_'))
    .replace(/\p{Bidi_Control}/gu, '')
    .replace(/[/\\:*?"<>|]/g, '_')
    .trim();
  return /^\.*$/.test(clean) ? '' : shortened(clean);
}

function shortened(name: string): string {
  if (Buffer.byteLength(name) <= MAX_NAME_BYTES) return name;
  let short = '';
  let bytes = 0;
  for (const char of name) {
    bytes += Buffer.byteLength(char);
    if (bytes > MAX_NAME_BYTES) break;
    short += char;
  }
  return short;
}

/** With its dot; undefined for what is no extension. */
function extensionOf(text: string | undefined): string | undefined {
  const plain = text?.trim().replace(/^\.+/, '') ?? '';
  return plain.length <= MAX_EXTENSION && /^[\p{L}\p{N}_+-]+$/u.test(plain) ? `.${plain}` : undefined;
}
