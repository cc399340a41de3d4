/**
 * What an office document is by its content, before LibreOffice opens it (contract B1): LibreOffice takes whatever it
 * can read by whatever filter fits, so that a broken docx would become a page of letters and a web page under an office
 * name would be loaded as one. Documents of one family are often misnamed (a docx called .doc); the content decides
 * then. Everything else is refused.
 */
import { ServiceError } from '../../errors.js';
import { type ByteSource, withFileSource } from '../byte-source.js';
import { type CompoundFile, openCompoundFile } from './compound-file.js';
import { listZip, type ZipListing } from './zip-listing.js';

export type OfficeFormat = 'doc' | 'docx' | 'odt' | 'rtf' | 'xls' | 'xlsx' | 'ods' | 'ppt' | 'pptx' | 'odp';

export interface Examined {
  readonly format: OfficeFormat;
  /** It may be that only a password opens it; LibreOffice knows the standard ones. */
  readonly mayBeEncrypted: boolean;
}

const FAMILIES: readonly (readonly OfficeFormat[])[] = [
  ['doc', 'docx', 'odt', 'rtf'],
  ['xls', 'xlsx', 'ods'],
  ['ppt', 'pptx', 'odp'],
];

const HEAD_BYTES = 1024;
/** What the parts of one document may be together when unpacked. */
const LARGEST_UNPACKED_BYTES = 4 * 1024 ** 3;
const LARGEST_MANIFEST_BYTES = 8 * 1024 * 1024;

/**
 * @throws ServiceError conversion_failed: corrupt, encrypted, too_large
 */
export function examineOffice(path: string, claimed: OfficeFormat): Promise<Examined> {
  return withFileSource(path, async (source) => {
    const found = await formatOf(source, claimed);
    const family = FAMILIES.find((members) => members.includes(claimed));
    if (family?.includes(found.format)) return found;
    throw notOne(claimed, `the content is ${found.format}; send it as input.format "${found.format}"`);
  });
}

async function formatOf(source: ByteSource, claimed: OfficeFormat): Promise<Examined> {
  const head = (await source.read(0, HEAD_BYTES)).toString('latin1');
  if (head.startsWith('PK')) return zipFormat(await listZip(source), claimed);
  const compound = await openCompoundFile(source);
  if (compound) return compoundFormat(compound, claimed);
  if (/^(?:\xef\xbb\xbf)?\s*\{\\rtf/.test(head)) return { format: 'rtf', mayBeEncrypted: false };
  throw notOne(claimed, whatElse(head));
}

async function zipFormat(zip: ZipListing | undefined, claimed: OfficeFormat): Promise<Examined> {
  if (!zip) throw notOne(claimed, 'the archive is cut off or damaged');
  if (zip.unpackedBytes > LARGEST_UNPACKED_BYTES) {
    throw new ServiceError(
      'conversion_failed',
      `The document unpacks to ${zip.unpackedBytes} bytes; ${LARGEST_UNPACKED_BYTES} are the most`,
      { reason: 'too_large' },
    );
  }
  const format = zip.names.has('[Content_Types].xml') ? openXmlFormat(zip) : await openDocumentFormat(zip);
  if (format) return { format, mayBeEncrypted: false };
  throw notOne(claimed, 'the archive holds no such document');
}

function openXmlFormat({ names }: ZipListing): OfficeFormat | undefined {
  const has = (folder: string): boolean => [...names].some((name) => name.toLowerCase().startsWith(folder));
  if (has('word/')) return 'docx';
  if (has('xl/')) return 'xlsx';
  return has('ppt/') ? 'pptx' : undefined;
}

const OPEN_DOCUMENT_TYPES: readonly (readonly [OfficeFormat, string])[] = [
  ['odt', 'application/vnd.oasis.opendocument.text'],
  ['ods', 'application/vnd.oasis.opendocument.spreadsheet'],
  ['odp', 'application/vnd.oasis.opendocument.presentation'],
];

async function openDocumentFormat(zip: ZipListing): Promise<OfficeFormat | undefined> {
  if (!zip.names.has('content.xml')) return undefined;
  const manifest = (await zip.readStart('META-INF/manifest.xml', LARGEST_MANIFEST_BYTES))?.toString('utf8') ?? '';
  if (/<(?:\w+:)?encryption-data\b/.test(manifest)) throw encrypted();
  const mediaType = (await zip.readStart('mimetype', 256))?.toString('latin1').trim();
  const isOf = (type: string): boolean =>
    mediaType ? mediaType === type || mediaType === `${type}-template` : manifest.includes(`"${type}"`);
  return OPEN_DOCUMENT_TYPES.find(([, type]) => isOf(type))?.[0];
}

async function compoundFormat(file: CompoundFile, claimed: OfficeFormat): Promise<Examined> {
  const { names } = file;
  if (names.has('EncryptedPackage')) throw encrypted();
  if (names.has('WordDocument')) {
    const block = await file.readStart('WordDocument');
    return { format: 'doc', mayBeEncrypted: block !== undefined && (block.readUInt16LE(10) & 0x0100) !== 0 };
  }
  if (names.has('Workbook') || names.has('Book')) {
    const globals = (await file.readStart('Workbook')) ?? (await file.readStart('Book'));
    return { format: 'xls', mayBeEncrypted: globals !== undefined && hasFilePass(globals) };
  }
  if (names.has('PowerPoint Document')) return { format: 'ppt', mayBeEncrypted: names.has('EncryptedSummary') };
  throw notOne(claimed, 'the compound file holds no such document');
}

const FILE_PASS_RECORD = 0x2f;

/** Whether the first records of a workbook say that the rest is encrypted. */
function hasFilePass(records: Buffer): boolean {
  for (let at = 0; at + 4 <= records.length; at += 4 + records.readUInt16LE(at + 2)) {
    if (records.readUInt16LE(at) === FILE_PASS_RECORD) return true;
  }
  return false;
}

function whatElse(head: string): string {
  if (head === '') return 'the file is empty';
  if (head.startsWith('%PDF-')) return 'the content is PDF; send it as input.format "pdf"';
  if (/<office:document\b/.test(head)) return 'the content is a flat XML document, which is not taken';
  if (/^(?:\xef\xbb\xbf)?\s*<(?:!doctype html|html|head|body|table|meta)\b/i.test(head)) {
    return 'the content is HTML; send it as input.format "html"';
  }
  return 'the content is nothing of that kind';
}

function notOne(claimed: OfficeFormat, found: string): ServiceError {
  return new ServiceError('conversion_failed', `The input is no ${claimed} document: ${found}`, { reason: 'corrupt' });
}

export function encrypted(): ServiceError {
  return new ServiceError(
    'conversion_failed',
    'The document is protected by a password; remove the protection, passwords of office documents are not taken',
    { reason: 'encrypted' },
  );
}
