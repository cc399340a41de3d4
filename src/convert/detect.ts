/** The format of an upload: what the client says, what the file's name says, what the bytes tell (contract B2). */
import { ServiceError } from '../errors.js';
import { FORMAT_IDS, type FormatId, formatNamed, formatOfFileName } from '../formats.js';
import type { ContentSigns } from './signs.js';

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
 * Explicit format, else extension, else content. OFD and PDF content beats an extension and refuses a format that it
 * contradicts; what else content tells counts where nothing is claimed: LibreOffice takes misnamed documents of one family.
 * Throws `invalid_request` where nothing tells.
 */
export function detectFormat({ format, fileName }: Claims, signs: ContentSigns): Detected {
  const explicit = format === undefined ? undefined : namedInput(format);
  const byExtension = fileName === undefined ? undefined : formatOfFileName(fileName);
  const claimed = explicit ?? byExtension;
  const told = toldBy(signs, claimed);
  if (explicit !== undefined && told !== undefined && told !== explicit) {
    throw new ServiceError(
      'invalid_request',
      `input.format: "${format}" contradicts the content, which is ${told.toUpperCase()}; write "${told}" or leave it out`,
    );
  }
  const decided = explicit ?? told ?? byExtension ?? signs.other;
  if (decided === undefined) throw untold(fileName);
  return { claimed: claimed ?? decided, decided };
}

/** Throws `invalid_request` for a name that is no format's. */
export function namedInput(format: string): FormatId {
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

/** OFD or PDF where the bytes show it. A PDF header behind other text counts only where no other format is claimed. */
function toldBy({ pdfHeaderAt, isOfd }: ContentSigns, claimed: FormatId | undefined): 'ofd' | 'pdf' | undefined {
  if (pdfHeaderAt === 0) return 'pdf';
  if (pdfHeaderAt !== undefined && (claimed === undefined || claimed === 'pdf')) return 'pdf';
  return isOfd ? 'ofd' : undefined;
}
