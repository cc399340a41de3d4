/** The metadata packet (XMP): the same as the information dictionary, and what that has no place for. */
import type { DocumentFacts, Permissions } from '../../display/facts.js';
import { xmpDate } from './dates.js';
import { type FileInfo, PRODUCER } from './info.js';

/** Part of ISO 19005 that the file keeps, at its level B. */
export type ArchivePart = 2 | 3;

interface CustomProperty {
  readonly name: string;
  readonly type: 'Text' | 'Seq Text';
  readonly description: string;
  readonly values: readonly string[];
}

/** The packet's bytes; of a file that keeps no part of ISO 19005 it says nothing of that. */
export function metadataPacket(info: FileInfo, facts: DocumentFacts, part: ArchivePart | undefined): Buffer {
  const custom = customProperties(facts);
  const attributes = [
    'xmlns:pdf="http://ns.adobe.com/pdf/1.3/"',
    `pdf:Producer="${PRODUCER}"`,
    ...attribute('pdf:Keywords', info.keywords),
    'xmlns:xmp="http://ns.adobe.com/xap/1.0/"',
    ...attribute('xmp:CreatorTool', info.creator),
    ...attribute('xmp:CreateDate', info.creationDate && xmpDate(info.creationDate)),
    ...attribute('xmp:ModifyDate', info.modificationDate && xmpDate(info.modificationDate)),
    ...(part === undefined
      ? []
      : ['xmlns:pdfaid="http://www.aiim.org/pdfa/ns/id/"', `pdfaid:part="${part}"`, 'pdfaid:conformance="B"']),
  ];
  const elements = [
    ...languageAlternative('dc:title', info.title),
    ...container('dc:creator', 'Seq', info.author === undefined ? [] : [info.author]),
    ...languageAlternative('dc:description', info.subject),
    ...container('dc:subject', 'Bag', facts.info.keywords ?? []),
    ...(facts.info.id ? [`<dc:identifier>${escaped(facts.info.id)}</dc:identifier>`] : []),
  ];
  const dublinCore = elements.length > 0 ? ['xmlns:dc="http://purl.org/dc/elements/1.1/"'] : [];
  const packet = [
    '<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>',
    '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">',
    `<rdf:Description rdf:about="" ${[...attributes, ...dublinCore].join(' ')}>`,
    ...elements,
    '</rdf:Description>',
    ...(custom.length > 0 ? customDescription(custom) : []),
    '</rdf:RDF></x:xmpmeta>',
    '<?xpacket end="r"?>',
  ];
  return Buffer.from(packet.join('\n'));
}

/** What OFD knows and nobody else has a name for. */
function customProperties({ info, permissions }: DocumentFacts): CustomProperty[] {
  const properties: CustomProperty[] = [
    {
      name: 'Abstract',
      type: 'Text',
      description: 'Abstract of the document',
      values: info.subject === undefined ? [] : [info.abstract ?? ''],
    },
    { name: 'DocUsage', type: 'Text', description: 'Kind of publication', values: [info.usage ?? ''] },
    {
      name: 'Permissions',
      type: 'Text',
      description: 'What the maker of the document allows',
      values: [permissions === undefined ? '' : permissionsText(permissions)],
    },
    {
      name: 'CustomDatas',
      type: 'Seq Text',
      description: 'Values by name, as name=value',
      values: info.customData?.map(({ name, value }) => `${name}=${value}`) ?? [],
    },
  ];
  return properties
    .map((property) => ({ ...property, values: property.values.filter((value) => value !== '') }))
    .filter(({ values }) => values.length > 0);
}

function permissionsText(permissions: Permissions): string {
  const words = {
    Edit: permissions.edit,
    Annot: permissions.annotate,
    Export: permissions.export,
    Signature: permissions.sign,
    Watermark: permissions.watermark,
    PrintScreen: permissions.printScreen,
    Print: permissions.print,
    Copies: permissions.copies,
    StartDate: permissions.validFrom,
    EndDate: permissions.validUntil,
  };
  const said = Object.entries(words).filter(([, value]) => value !== undefined);
  return said.map(([name, value]) => `${name}=${value}`).join('; ');
}

/** The properties, and the schema that PDF/A wants for what it does not know. */
function customDescription(properties: readonly CustomProperty[]): string[] {
  const namespace = 'http://www.ofdspec.org/2016';
  return [
    `<rdf:Description rdf:about="" xmlns:ofd="${namespace}"`,
    ' xmlns:pdfaExtension="http://www.aiim.org/pdfa/ns/extension/"',
    ' xmlns:pdfaSchema="http://www.aiim.org/pdfa/ns/schema#"',
    ' xmlns:pdfaProperty="http://www.aiim.org/pdfa/ns/property#">',
    ...properties.flatMap(({ name, type, values }) =>
      type === 'Text' ? `<ofd:${name}>${escaped(values[0]!)}</ofd:${name}>` : container(`ofd:${name}`, 'Seq', values),
    ),
    '<pdfaExtension:schemas><rdf:Bag><rdf:li rdf:parseType="Resource">',
    `<pdfaSchema:schema>OFD</pdfaSchema:schema><pdfaSchema:namespaceURI>${namespace}</pdfaSchema:namespaceURI>`,
    '<pdfaSchema:prefix>ofd</pdfaSchema:prefix><pdfaSchema:property><rdf:Seq>',
    ...properties.map(
      ({ name, type, description }) =>
        `<rdf:li pdfaProperty:name="${name}" pdfaProperty:valueType="${type}" pdfaProperty:category="external"` +
        ` pdfaProperty:description="${description}"/>`,
    ),
    '</rdf:Seq></pdfaSchema:property></rdf:li></rdf:Bag></pdfaExtension:schemas>',
    '</rdf:Description>',
  ];
}

function attribute(name: string, value: string | undefined): string[] {
  return value === undefined ? [] : [`${name}="${escaped(value)}"`];
}

function languageAlternative(name: string, value: string | undefined): string[] {
  if (value === undefined) return [];
  return [`<${name}><rdf:Alt><rdf:li xml:lang="x-default">${escaped(value)}</rdf:li></rdf:Alt></${name}>`];
}

function container(name: string, kind: 'Seq' | 'Bag', values: readonly string[]): string[] {
  if (values.length === 0) return [];
  const items = values.map((value) => `<rdf:li>${escaped(value)}</rdf:li>`);
  return [`<${name}><rdf:${kind}>${items.join('')}</rdf:${kind}></${name}>`];
}

/** Without what XML cannot hold: controls, halves of pairs. */
function escaped(text: string): string {
  return text
    .replace(/[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('"', '&quot;')
    .replace(/[\t\n\r]/g, (char) => `&#${char.charCodeAt(0)};`);
}
