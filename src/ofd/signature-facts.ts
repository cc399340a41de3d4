/** What signatures say about themselves: who made them, by which methods, over which parts, with which seal. Nothing is verified. */
import type { SignatureFacts, SignatureProvider, SignatureStamp } from '../display/facts.js';
import type { Report } from '../display/list.js';
import { type DocumentBody, resolvedPart } from './document.js';
import { factLine } from './fact-text.js';
import { folderOf } from './location.js';
import { descendantsNamed } from './signature.js';
import type { XmlElement } from './xml.js';

/**
 * The signatures whose files can be read, each file once, in the order of the list, up to the limits of stamps and
 * signatures.
 *
 * @param pageNumberOf number of the page with that ID through all documents
 */
export function readSignatureFacts(
  body: DocumentBody,
  pageNumberOf: (pageId: string) => number | undefined,
  report: Report,
): SignatureFacts[] {
  const { pkg, seals } = body;
  const listPart = resolvedPart(pkg, body.beside.signatures ?? '', '', report);
  const list = listPart === undefined ? undefined : pkg.xml(listPart);
  if (listPart === undefined || list === undefined) return [];
  const seen = new Set<string>();
  let stampsLeft = pkg.limits.maxStamps;
  return list
    .childrenNamed('Signature')
    .slice(0, pkg.limits.maxSignatures)
    .flatMap((entry): SignatureFacts[] => {
      const location = entry.attribute('BaseLoc') ?? entry.text;
      const part = resolvedPart(pkg, location, folderOf(listPart), report);
      if (part === undefined || seen.has(part) || stampsLeft === 0) return [];
      seen.add(part);
      const signature = pkg.xml(part);
      if (signature === undefined) return [];
      const said = readSignature(signature, pageNumberOf, stampsLeft);
      stampsLeft -= said.stamps.length;
      const id = entry.id('ID');
      const sealName = seals.find(({ signatureId }) => signatureId === (id ?? ''))?.sealName;
      return [
        {
          ...(id === undefined ? {} : { id }),
          hasSeal: entry.attribute('Type')?.trim().toLowerCase() !== 'sign',
          ...(sealName === undefined ? {} : { sealName }),
          ...said,
        },
      ];
    });
}

type Said = Omit<SignatureFacts, 'id' | 'hasSeal' | 'sealName'>;

function readSignature(
  signature: XmlElement,
  pageNumberOf: (pageId: string) => number | undefined,
  maxStamps: number,
): Said {
  const info = signature.child('SignedInfo') ?? signature;
  const provider = readProvider(info.child('Provider'));
  const references = info.child('References');
  const method = factLine(info.childText('SignatureMethod') ?? '');
  const dateTime = factLine(info.childText('SignatureDateTime') ?? '');
  const digestMethod = factLine(references?.attribute('CheckMethod') ?? '');
  const stamps = descendantsNamed(signature, 'StampAnnot').flatMap((stamp): SignatureStamp[] => {
    const pageNumber = pageNumberOf(stamp.id('PageRef') ?? '');
    const box = stamp.box('Boundary');
    return pageNumber === undefined || box === undefined ? [] : [{ pageNumber, box }];
  });
  return {
    ...(provider === undefined ? {} : { provider }),
    ...(method ? { method } : {}),
    ...(dateTime ? { dateTime } : {}),
    ...(digestMethod ? { digestMethod } : {}),
    signedParts: (references?.childrenNamed('Reference') ?? []).flatMap((reference) => {
      return factLine(reference.attribute('FileRef') ?? '') || [];
    }),
    stamps: stamps.slice(0, maxStamps),
  };
}

/** Attributes, or child elements with some producers. */
function readProvider(element: XmlElement | undefined): SignatureProvider | undefined {
  if (element === undefined) return undefined;
  const said = (name: string): string => factLine(element.attribute(name) ?? element.childText(name) ?? '');
  const [name, version, company] = [said('ProviderName'), said('Version'), said('Company')];
  if (!name && !version && !company) return undefined;
  return { ...(name ? { name } : {}), ...(version ? { version } : {}), ...(company ? { company } : {}) };
}
