/** What the electronic seals of a document look like and where they stand. Nothing is verified here. */
import type { Box } from '../display/geometry.js';
import type { Report } from '../display/list.js';
import type { OfdPackage } from './package.js';

/** One place of a seal. */
export interface SealStamp {
  /** ID of the page, trimmed. */
  readonly pageRef: string;
  /** Where the whole picture goes, in page millimetres: it is stretched to this box. */
  readonly boundary: Box;
  /** The part of it that shows, in millimetres from the top left corner of `boundary`; absent: all. */
  readonly clip?: Box;
}

export interface Seal {
  /** ID of the signature in Signatures.xml; '' where it has none. */
  readonly signatureId: string;
  /** The picture's file: for `ofd` the bytes from the ZIP header on. */
  readonly picture: Uint8Array;
  /** Sniffed from the content: png, jpeg, gif, bmp, svg, ofd …; what the seal claims, in lower case, where unknown. */
  readonly pictureType: string;
  readonly stamps: readonly SealStamp[];
  readonly sealName?: string;
  /** Path of the part that the picture was found in, for warnings. */
  readonly part: string;
}

/**
 * The seals of one document, in the order of the list. A signature without a stamp, or a plain signature (Type="Sign")
 * without a picture, gives none. A damaged one gives a diagnostic (`seal_unreadable`, `part_missing`) and does not stop
 * the others.
 *
 * @param signaturesPath path of Signatures.xml (resolved)
 */
export function readSeals(_pkg: OfdPackage, _signaturesPath: string, _report: Report): Seal[] {
  throw new Error('not written');
}
