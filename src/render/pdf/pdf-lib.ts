/**
 * pdf-lib's object model. Its bundled file is loaded as CommonJS because that is the quickest of its entries to start
 * (26 ms; as a module 34 ms, the package's own entry above 110 ms).
 */
import { createRequire } from 'node:module';
import type * as Library from 'pdf-lib';

const library = createRequire(import.meta.url)('pdf-lib/dist/pdf-lib.min.js') as typeof Library;

export const { PDFContext, PDFHexString, PDFName, PDFString } = library;
export type { PDFContext as Context, PDFDict as Dictionary, PDFObject, PDFRef as Reference } from 'pdf-lib';
