/** A stand-in for OFD.xml where damage took it: it names the documents that the package still holds. */
import { folderOf } from './location.js';
import type { XmlElement } from './xml.js';

interface Parts {
  names(): readonly string[];
  xml(path: string): XmlElement | undefined;
}

/** The bytes of an OFD.xml, or undefined where no Document.xml is left. */
export function replacementRoot(parts: Parts): Uint8Array | undefined {
  const names = [...parts.names()].sort(byNumbersInPath);
  const bodies = names.filter((name) => isDocument(parts, name)).map((name) => bodyOf(name, names));
  if (bodies.length === 0) return undefined;
  return new TextEncoder().encode(`<OFD>${bodies.join('')}</OFD>`);
}

/** Doc_2 before Doc_10. */
function byNumbersInPath(a: string, b: string): number {
  const numbered = (path: string): string => path.replace(/\d+/g, (digits) => digits.padStart(8, '0'));
  const [left, right] = [numbered(a), numbered(b)];
  return left < right ? -1 : left > right ? 1 : 0;
}

/** A word processor's document.xml has the same name and another root. */
function isDocument(parts: Parts, name: string): boolean {
  return /(^|\/)document\.xml$/i.test(name) && parts.xml(name)?.name === 'Document';
}

function bodyOf(document: string, names: readonly string[]): string {
  const folder = folderOf(document);
  const signatures = names.find((name) => name.startsWith(`${folder}/`) && /\/signatures\.xml$/i.test(name));
  const list = signatures === undefined ? '' : `<Signatures>/${escaped(signatures)}</Signatures>`;
  return `<DocBody><DocRoot>/${escaped(document)}</DocRoot>${list}</DocBody>`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
