/** Areas of a page that lead somewhere, and where they lead. */
import type { Box } from './geometry.js';

export interface LinkArea {
  /** On the page, in millimetres from its top left corner. Later areas lie on top of earlier ones. */
  readonly box: Box;
  readonly target: LinkTarget;
}

export type LinkTarget = UriTarget | PageTarget | AttachmentTarget;

export interface UriTarget {
  readonly kind: 'uri';
  /** Printable ASCII without blanks, of a scheme that runs nothing; relative where the document names no base. */
  readonly uri: string;
}

export interface PageTarget {
  readonly kind: 'page';
  /** From 1, through all documents of the package. The output may lack the page. */
  readonly pageNumber: number;
  readonly view: PageView;
}

export interface AttachmentTarget {
  readonly kind: 'attachment';
  /** `Attachment.name`. */
  readonly name: string;
}

/**
 * What is seen on arrival: lengths in millimetres on the target page from its top left corner. What is left out stays as
 * the reader has it.
 */
export type PageView =
  /** This point at the top left of the window; 1 is full size. */
  | { readonly kind: 'xyz'; readonly left?: number; readonly top?: number; readonly zoom?: number }
  /** The whole page. */
  | { readonly kind: 'fit' }
  /** The width of the page. */
  | { readonly kind: 'fitH'; readonly top?: number }
  /** The height of the page. */
  | { readonly kind: 'fitV'; readonly left?: number }
  /** This rectangle. */
  | {
      readonly kind: 'fitR';
      readonly left: number;
      readonly top: number;
      readonly right: number;
      readonly bottom: number;
    };
