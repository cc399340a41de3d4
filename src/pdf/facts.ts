/** What a PDF says beside its pages. */
import {
  type Attachment,
  type DocumentFacts,
  type DocumentInfo,
  FreeNames,
  type NamedDestination,
  type OutlineEntry,
  type Permissions,
  type SignatureFacts,
} from '../display/facts.js';
import type { Pdfium } from './pdfium.js';
import { Targets } from './targets.js';

const MAX_ENTRIES = 10_000;
const MAX_DEPTH = 32;
const MAX_ATTACHMENTS = 1000;
const MAX_ATTACHMENT_BYTES = 256 * 1024 * 1024;
/** Bits of the permissions of an encrypted document. */
const PRINT = 1 << 2;
const EDIT = 1 << 3;
const COPY = 1 << 4;
const ANNOTATE = 1 << 5;

/** Attached files are read when asked for, while the document is open. */
export function documentFacts(pdfium: Pdfium, document: number, pageCount: number): DocumentFacts {
  const targets = new Targets(pdfium, document);
  const permissions = permissionsOf(pdfium, document);
  const signatures = signaturesOf(pdfium, document);
  return {
    firstPage: 1,
    pageCount,
    info: infoOf(pdfium, document),
    outline: new Outline(pdfium, document, targets).entries,
    destinations: destinationsOf(pdfium, document, targets),
    attachments: attachmentsOf(pdfium, document),
    customTags: () => [],
    signatures: () => signatures,
    preferences: {},
    ...(permissions && { permissions }),
  };
}

/** An entry of the document's information dictionary; undefined where it says nothing. */
export function metaText(pdfium: Pdfium, document: number, key: string): string | undefined {
  const { call } = pdfium;
  return (
    pdfium.lendText(key, (name) => pdfium.utf16((to, size) => call.FPDF_GetMetaText(document, name, to, size))) ||
    undefined
  );
}

function infoOf(pdfium: Pdfium, document: number): DocumentInfo {
  const text = (key: string): string | undefined => metaText(pdfium, document, key);
  const keywords = text('Keywords')
    ?.split(/[,;，；]/)
    .map((word) => word.trim())
    .filter((word) => word !== '');
  const entries = {
    title: text('Title'),
    author: text('Author'),
    subject: text('Subject'),
    creator: text('Creator'),
    creationDate: text('CreationDate'),
    modificationDate: text('ModDate'),
  };
  const given = Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined));
  return { ...given, ...(keywords && keywords.length > 0 && { keywords }) };
}

/** Bookmarks; a tree that bites its tail, or has more entries than anybody reads, is cut. */
class Outline {
  readonly entries: readonly OutlineEntry[];
  readonly #pdfium: Pdfium;
  readonly #document: number;
  readonly #targets: Targets;
  readonly #seen = new Set<number>();

  constructor(pdfium: Pdfium, document: number, targets: Targets) {
    this.#pdfium = pdfium;
    this.#document = document;
    this.#targets = targets;
    this.entries = this.#children(0, 0);
  }

  #children(parent: number, depth: number): OutlineEntry[] {
    const { call } = this.#pdfium;
    const entries: OutlineEntry[] = [];
    if (depth >= MAX_DEPTH) return entries;
    let entry = call.FPDFBookmark_GetFirstChild(this.#document, parent);
    while (entry !== 0 && !this.#seen.has(entry) && this.#seen.size < MAX_ENTRIES) {
      this.#seen.add(entry);
      entries.push(this.#entry(entry, depth));
      entry = call.FPDFBookmark_GetNextSibling(this.#document, entry);
    }
    return entries;
  }

  #entry(address: number, depth: number): OutlineEntry {
    const { call } = this.#pdfium;
    const target = this.#targets.target(
      call.FPDFBookmark_GetDest(this.#document, address),
      call.FPDFBookmark_GetAction(address),
    );
    return {
      title: this.#pdfium.utf16((to, size) => call.FPDFBookmark_GetTitle(address, to, size)),
      ...(target && { target }),
      isExpanded: call.FPDFBookmark_GetCount(address) > 0,
      children: this.#children(address, depth + 1),
    };
  }
}

function destinationsOf(pdfium: Pdfium, document: number, targets: Targets): NamedDestination[] {
  const { call } = pdfium;
  const names = new FreeNames();
  const count = Math.min(call.FPDF_CountNamedDests(document), MAX_ENTRIES);
  return Array.from({ length: count }, (_, i) => namedDestination(pdfium, document, i)).flatMap(({ name, address }) => {
    const target = targets.page(address);
    return target === undefined || name === '' ? [] : [{ name: names.take(name), target }];
  });
}

function namedDestination(pdfium: Pdfium, document: number, index: number): { name: string; address: number } {
  return pdfium.lend(4, (length) => {
    const address = pdfium.call.FPDF_GetNamedDest(document, index, 0, length);
    const name = pdfium.utf16((to) => {
      if (to !== 0) pdfium.call.FPDF_GetNamedDest(document, index, to, length);
      return Math.max(0, pdfium.view.getInt32(length, true));
    });
    return { name, address };
  });
}

function attachmentsOf(pdfium: Pdfium, document: number): Attachment[] {
  const { call } = pdfium;
  const names = new FreeNames();
  const count = Math.min(call.FPDFDoc_GetAttachmentCount(document), MAX_ATTACHMENTS);
  return Array.from({ length: count }, (_, i) => call.FPDFDoc_GetAttachment(document, i)).flatMap((address) => {
    if (address === 0) return [];
    const written = pdfium.utf16((to, size) => call.FPDFAttachment_GetName(address, to, size));
    const name = fileName(written);
    const extension = /\.[^.]{1,16}$/.exec(name)?.[0] ?? '';
    return [
      {
        name: names.take(name, extension),
        ...(extension !== '' && { format: extension.slice(1).toLowerCase() }),
        isVisible: true,
        bytes: () => attachedFile(pdfium, address),
      },
    ];
  });
}

/** Without folders and control characters. */
function fileName(written: string): string {
  const last = written.split(/[\\/]/).at(-1) ?? '';
  return last.replace(/\p{Cc}/gu, '').trim() || 'attachment';
}

function attachedFile(pdfium: Pdfium, address: number): Uint8Array | undefined {
  const { call } = pdfium;
  return pdfium.lend(4, (sizeAt) => {
    if (call.FPDFAttachment_GetFile(address, 0, 0, sizeAt) === 0) return undefined;
    const size = pdfium.view.getUint32(sizeAt, true);
    if (size > MAX_ATTACHMENT_BYTES) return undefined;
    return pdfium.lend(Math.max(1, size), (to) => {
      const isRead = call.FPDFAttachment_GetFile(address, to, size, sizeAt) !== 0;
      return isRead ? pdfium.bytes.slice(to, to + size) : undefined;
    });
  });
}

function signaturesOf(pdfium: Pdfium, document: number): SignatureFacts[] {
  const { call } = pdfium;
  const count = Math.min(call.FPDF_GetSignatureCount(document), MAX_ENTRIES);
  return Array.from({ length: Math.max(0, count) }, (_, i) => {
    const address = call.FPDF_GetSignatureObject(document, i);
    const method = pdfium.utf8((to, size) => call.FPDFSignatureObj_GetSubFilter(address, to, size));
    const dateTime = pdfium.utf8((to, size) => call.FPDFSignatureObj_GetTime(address, to, size));
    return {
      hasSeal: false,
      ...(method !== '' && { method }),
      ...(dateTime !== '' && { dateTime }),
      signedParts: [],
      stamps: [],
    };
  });
}

function permissionsOf(pdfium: Pdfium, document: number): Permissions | undefined {
  if (pdfium.call.EPDF_IsEncrypted(document) === 0) return undefined;
  const bits = pdfium.call.FPDF_GetDocUserPermissions(document);
  return {
    print: (bits & PRINT) !== 0,
    edit: (bits & EDIT) !== 0,
    export: (bits & COPY) !== 0,
    annotate: (bits & ANNOTATE) !== 0,
  };
}
