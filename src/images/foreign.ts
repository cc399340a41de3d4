/** Names of what stands in the place of pictures and is none that we read. */

const EMF_SIGNATURE_AT = 40;

/** What the bytes are, for a message: a kind of drawing or document, or nothing that is known. */
export function foreignFormat(bytes: Uint8Array): string {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 1024)).toString('latin1');
  if (bytes.length === 0) return 'empty';
  if (head.startsWith('\x01\x00\x09\x00') || head.startsWith('\xd7\xcd\xc6\x9a')) return 'a WMF drawing';
  if (head.startsWith(' EMF', EMF_SIGNATURE_AT)) return 'an EMF drawing';
  if (head.startsWith('%PDF')) return 'a PDF';
  if (head.startsWith('%!PS')) return 'a PostScript drawing';
  if (/<svg[\s>]/.test(head)) return 'an SVG drawing';
  if (/^\s*<(!doctype html|html)/i.test(head)) return 'an HTML page';
  return 'no picture of a known format';
}
