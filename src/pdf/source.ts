/** A document's bytes, read by range: a large file is never held whole. */
import type { Pdfium } from './pdfium.js';

export interface PdfSource {
  readonly byteLength: number;
  /** Fills `into` from `offset` on; false where the bytes are not there. */
  read(offset: number, into: Uint8Array): boolean;
}

/** Lets the library read from `source`; `release` when the document is closed. */
export function fileAccess(pdfium: Pdfium, source: PdfSource): { readonly address: number; release(): void } {
  const getBlock = pdfium.callback('iiiii', (_user, position, buffer, size) => {
    const at = position! >>> 0;
    const length = size! >>> 0;
    if (at + length > source.byteLength) return 0;
    return source.read(at, pdfium.bytes.subarray(buffer!, buffer! + length)) ? 1 : 0;
  });
  const address = pdfium.allocate(12);
  pdfium.view.setUint32(address, source.byteLength, true);
  pdfium.view.setUint32(address + 4, getBlock, true);
  pdfium.view.setUint32(address + 8, 0, true);
  return {
    address,
    release: () => {
      pdfium.call.free(address);
      pdfium.removeCallback(getBlock);
    },
  };
}
