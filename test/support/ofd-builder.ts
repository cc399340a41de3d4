/** Makes OFD packages for tests from the XML of their pages: `buildOfd({ pages: ['<ofd:PathObject …/>'] })`. */
import { writeZip, type ZipFileSpec, type ZipOptions } from './zip-writer.js';

const NAMESPACE = 'xmlns:ofd="http://www.ofdspec.org/2016"';
const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n';

export interface OfdSpec {
  /**
   * One string a page: objects (put into a body layer of a page without area), or a whole `<ofd:Page …>` element.
   * Page n (from 0) is `Doc_0/Pages/Page_n/Content.xml` with ID 1001 + n.
   */
  readonly pages: readonly string[];
  /** `CommonData/PageArea/PhysicalBox`; default A4. */
  readonly physicalBox?: string;
  /** Content of `Doc_0/PublicRes.xml` (BaseLoc "Res"), e.g. `<ofd:Fonts>…</ofd:Fonts>`. */
  readonly publicRes?: string;
  /** Content of `Doc_0/DocumentRes.xml` (BaseLoc "Res"). */
  readonly documentRes?: string;
  /** Template pages as `pages`; template n has ID 2001 + n. */
  readonly templates?: readonly string[];
  /** More elements in CommonData. */
  readonly commonData?: string;
  /** More elements in Document, e.g. `<ofd:Annotations>Annots.xml</ofd:Annotations>`. */
  readonly document?: string;
  /** Content of DocInfo. */
  readonly docInfo?: string;
  /** More elements in DocBody, e.g. `<ofd:Signatures>/Doc_0/Signs/Signatures.xml</ofd:Signatures>`. */
  readonly docBody?: string;
  /** More parts by path; a path given here takes the place of the part made above. */
  readonly files?: Readonly<Record<string, Uint8Array | string>>;
  /** Changes how a part is packed. */
  readonly pack?: (file: ZipFileSpec) => ZipFileSpec;
  readonly zip?: ZipOptions;
}

/** The package as bytes; the same input gives the same bytes. */
export function buildOfd(spec: OfdSpec): Uint8Array {
  const files = Object.entries(ofdParts(spec)).map(([name, content]): ZipFileSpec => ({ name, content }));
  return writeZip(spec.pack === undefined ? files : files.map(spec.pack), spec.zip);
}

/** The parts of the package by path, OFD.xml first. */
export function ofdParts(spec: OfdSpec): Record<string, Uint8Array | string> {
  const parts: Record<string, Uint8Array | string> = {
    'OFD.xml': rootXml(spec),
    'Doc_0/Document.xml': documentXml(spec),
  };
  if (spec.publicRes !== undefined) parts['Doc_0/PublicRes.xml'] = resXml(spec.publicRes);
  if (spec.documentRes !== undefined) parts['Doc_0/DocumentRes.xml'] = resXml(spec.documentRes);
  spec.templates?.forEach((template, i) => {
    parts[`Doc_0/Tpls/Tpl_${i}/Content.xml`] = pageXml(template);
  });
  spec.pages.forEach((page, i) => {
    parts[`Doc_0/Pages/Page_${i}/Content.xml`] = pageXml(page);
  });
  return { ...parts, ...spec.files };
}

/** A `<ofd:TextObject>` of one line. */
export function textXml(text: string, attributes = 'ID="3" Boundary="10 10 100 10" Font="1" Size="4"'): string {
  const safe = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<ofd:TextObject ${attributes}><ofd:TextCode X="0" Y="4">${safe}</ofd:TextCode></ofd:TextObject>`;
}

function rootXml(spec: OfdSpec): string {
  return `${DECLARATION}<ofd:OFD ${NAMESPACE} Version="1.2" DocType="OFD"><ofd:DocBody><ofd:DocInfo>${
    spec.docInfo ?? '<ofd:DocID>00000000000000000000000000000000</ofd:DocID>'
  }</ofd:DocInfo><ofd:DocRoot>Doc_0/Document.xml</ofd:DocRoot>${spec.docBody ?? ''}</ofd:DocBody></ofd:OFD>`;
}

function documentXml(spec: OfdSpec): string {
  const publicRes = spec.publicRes === undefined ? '' : '<ofd:PublicRes>PublicRes.xml</ofd:PublicRes>';
  const documentRes = spec.documentRes === undefined ? '' : '<ofd:DocumentRes>DocumentRes.xml</ofd:DocumentRes>';
  const templates = (spec.templates ?? []).map(
    (_, i) => `<ofd:TemplatePage ID="${2001 + i}" BaseLoc="Tpls/Tpl_${i}/Content.xml"/>`,
  );
  const pages = spec.pages.map((_, i) => `<ofd:Page ID="${1001 + i}" BaseLoc="Pages/Page_${i}/Content.xml"/>`);
  return (
    `${DECLARATION}<ofd:Document ${NAMESPACE}><ofd:CommonData><ofd:MaxUnitID>100000</ofd:MaxUnitID>` +
    `<ofd:PageArea><ofd:PhysicalBox>${spec.physicalBox ?? '0 0 210 297'}</ofd:PhysicalBox></ofd:PageArea>` +
    `${publicRes}${documentRes}${templates.join('')}${spec.commonData ?? ''}</ofd:CommonData>` +
    `<ofd:Pages>${pages.join('')}</ofd:Pages>${spec.document ?? ''}</ofd:Document>`
  );
}

function resXml(content: string): string {
  return `${DECLARATION}<ofd:Res ${NAMESPACE} BaseLoc="Res">${content}</ofd:Res>`;
}

/** A whole page keeps its own namespace where it has one. */
function pageXml(page: string): string {
  if (!/^\s*(<\?xml[^>]*\?>\s*)?<(\w+:)?Page[\s>]/.test(page)) {
    const layer = `<ofd:Layer ID="2" Type="Body">${page}</ofd:Layer>`;
    return `${DECLARATION}<ofd:Page ${NAMESPACE}><ofd:Content>${layer}</ofd:Content></ofd:Page>`;
  }
  return page.includes('xmlns') ? page : page.replace(/<(\w+:)?Page(?=[\s>])/, `$& ${NAMESPACE}`);
}
