/** What an annotation says besides what it draws. */
import type { NamedValue } from './facts.js';
import type { Box } from './geometry.js';

export interface AnnotationNote {
  readonly id?: string;
  /** Link, Path, Highlight, Stamp, Watermark, or a word of the producer's. */
  readonly type?: string;
  readonly subtype?: string;
  readonly creator?: string;
  /** As written. */
  readonly modificationDate?: string;
  /** False for one that is not shown; its note is there all the same. */
  readonly isVisible: boolean;
  readonly remark?: string;
  readonly parameters: readonly NamedValue[];
  /** On the page; absent where nobody knows. */
  readonly box?: Box;
}
