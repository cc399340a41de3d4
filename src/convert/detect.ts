/** The format of an upload: what the client says, what the file's name says, what the bytes tell (contract B2). */
import { ServiceError } from '../errors.js';
import { FORMAT_IDS, type FormatId, formatNamed, formatOfFileName } from '../formats.js';

export interface Detected {
  /** What the client claimed by word or by extension; what was decided where it claimed nothing. */
  readonly claimed: FormatId;
  /** What the input is converted as. */
  readonly decided: FormatId;
}

interface Claims {
  /** `input.format` as written. */
  readonly format?: string | undefined;
  readonly fileName?: string | undefined;
}

/**
 * Explicit format, else extension, else content; content that can tell (OFD, PDF) beats an extension and refuses a
 * format that it contradicts. Throws `invalid_request` where nothing tells.
 */
export function detectFormat({ format, fileName }: Claims, bytes: Uint8Array): Detected {
  const explicit = format === undefined ? undefined : namedInput(format);
  const byExtension = fileName === undefined ? undefined : formatOfFileName(fileName);
  const claimed = explicit ?? byExtension;
  const told = tellFormat(bytes, claimed);
  if (explicit !== undefined && told !== undefined && told !== explicit) {
    throw new ServiceError(
      'invalid_request',
      `input.format: "${format}" contradicts the content, which is ${told.toUpperCase()}; write "${told}" or leave it out`,
    );
  }
  const decided = explicit ?? told ?? byExtension;
  if (decided === undefined) throw untold(fileName);
  return { claimed: claimed ?? decided, decided };
}

function namedInput(format: string): FormatId {
  const named = formatNamed(format);
  if (named !== undefined) return named;
  throw new ServiceError(
    'invalid_request',
    `input.format: "${format}" is no format; there are ${FORMAT_IDS.join(', ')}`,
  );
}

function untold(fileName: string | undefined): ServiceError {
  const name =
    fileName === undefined ? 'there is no input.file_name' : `input.file_name "${fileName}" has no known extension`;
  return new ServiceError(
    'invalid_request',
    `input.format is missing, ${name} and the content does not tell the format; write input.format, for example "ofd"`,
  );
}

const PDF_HEADER_WITHIN = 1024;

/** OFD or PDF where the bytes show it. A PDF header behind other text counts only where no other format is claimed. */
function tellFormat(bytes: Uint8Array, claimed: FormatId | undefined): 'ofd' | 'pdf' | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const head = buffer.toString('latin1', 0, PDF_HEADER_WITHIN);
  const pdfAt = head.search(/%PDF-\d/);
  if (pdfAt === 0 || (pdfAt > 0 && (claimed === undefined || claimed === 'pdf'))) return 'pdf';
  return isOfdPackage(buffer) ? 'ofd' : undefined;
}

const LOCAL_HEADER = 'PK\x03\x04';
const CENTRAL_HEADER_SIGNATURE = 0x02014b50;
const END_RECORD = 'PK\x05\x06';
const END_RECORD_BYTES = 22;
const LONGEST_COMMENT = 65_535;
const MOST_ENTRIES = 200_000;

/** A ZIP archive with an entry OFD.xml at its root. Where the directory is lost, the local headers are looked at. */
function isOfdPackage(zip: Buffer): boolean {
  if (zip.indexOf(LOCAL_HEADER, 0, 'latin1') !== 0) return false;
  const tail = zip.subarray(Math.max(0, zip.length - END_RECORD_BYTES - LONGEST_COMMENT));
  const endAt = tail.lastIndexOf(END_RECORD, undefined, 'latin1');
  const end = endAt < 0 ? undefined : tail.subarray(endAt);
  if (end && end.length >= END_RECORD_BYTES) {
    const listed = listsRootXml(zip, end.readUInt32LE(16), end.readUInt16LE(10));
    if (listed !== undefined) return listed;
  }
  return hasLocalRootXml(zip);
}

function isRootXml(name: Buffer): boolean {
  return /^[/\\]?ofd\.xml$/i.test(name.toString('latin1'));
}

/** undefined where the directory is not where the end record says. */
function listsRootXml(zip: Buffer, directoryAt: number, entryCount: number): boolean | undefined {
  let at = directoryAt;
  for (let entry = 0; entry < Math.min(entryCount, MOST_ENTRIES); entry++) {
    if (at + 46 > zip.length || zip.readUInt32LE(at) !== CENTRAL_HEADER_SIGNATURE) return undefined;
    const nameLength = zip.readUInt16LE(at + 28);
    if (isRootXml(zip.subarray(at + 46, at + 46 + nameLength))) return true;
    at += 46 + nameLength + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32);
  }
  return false;
}

function hasLocalRootXml(zip: Buffer): boolean {
  for (let at = 0; at >= 0 && at + 30 <= zip.length; at = zip.indexOf(LOCAL_HEADER, at + 4, 'latin1')) {
    if (isRootXml(zip.subarray(at + 30, at + 30 + Math.min(zip.readUInt16LE(at + 26), 16)))) return true;
  }
  return false;
}
