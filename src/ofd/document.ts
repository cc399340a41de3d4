/** From OFD.xml to the documents of a package: their pages, templates, areas, resources, annotations and seals. */
import type { DocumentInfo } from '../display/facts.js';
import type { Diagnostic, Report } from '../display/list.js';
import { OfdError } from './error.js';
import { readInfo } from './info.js';
import { folderOf } from './location.js';
import type { OfdPackage } from './package.js';
import { type ResourceTable, readResources, StrayResources } from './resources.js';
import { readSeals, type Seal } from './signature.js';
import { parseNumbers, type XmlElement } from './xml.js';

export interface PageReference {
  /** ID in the document, undefined where the producer forgot it. */
  readonly id: string | undefined;
  /** Path of the part; undefined where the package has no such entry. */
  readonly part: string | undefined;
  /** `BaseLoc` as written, for messages. */
  readonly location: string;
}

export interface TemplateReference extends PageReference {
  /** `TemplatePage@ZOrder`, which a page may override. */
  readonly zOrder: string | undefined;
}

/** One DocBody: a document with an ID space and resources of its own. */
export interface DocumentBody {
  readonly pkg: OfdPackage;
  /** Path of Document.xml. */
  readonly part: string;
  readonly folder: string;
  readonly info: DocumentInfo;
  readonly pages: readonly PageReference[];
  readonly templates: ReadonlyMap<string, TemplateReference>;
  /** `CommonData/PageArea`. */
  readonly pageArea: XmlElement | undefined;
  /** `CommonData/DefaultCS`. */
  readonly defaultColorSpace: string | undefined;
  readonly resources: ResourceTable;
  /** Paths of the annotation files of a page, by page ID. */
  readonly annotationParts: ReadonlyMap<string, readonly string[]>;
  readonly seals: readonly Seal[];
  /** What stands in Document.xml beside the pages. */
  readonly beside: BesidePages;
}

/** Elements of Document.xml that say something about the document as a whole. */
export interface BesidePages {
  readonly outlines: XmlElement | undefined;
  readonly bookmarks: XmlElement | undefined;
  readonly permissions: XmlElement | undefined;
  readonly preferences: XmlElement | undefined;
  readonly actions: XmlElement | undefined;
  /** Location of Attachments.xml. */
  readonly attachments: string | undefined;
  /** Location of CustomTags.xml. */
  readonly customTags: string | undefined;
  /** Location of Signatures.xml, which stands in OFD.xml. */
  readonly signatures: string | undefined;
}

/**
 * All documents of a package, in order. Throws OfdError('corrupt', 'encrypted') where none has a readable Document.xml.
 *
 * @param withSeals whether signatures are looked at (a seal inside a seal is not)
 */
export function readDocuments(pkg: OfdPackage, report: Report, withSeals: boolean): DocumentBody[] {
  const rootPart = pkg.resolve('OFD.xml', '');
  const root = rootPart === undefined ? undefined : pkg.xml(rootPart);
  if (root === undefined) throw new OfdError('corrupt', 'OFD.xml, the entry of the package, cannot be read');
  const bodies = root.childrenNamed('DocBody');
  const documents: DocumentBody[] = [];
  const faults: string[] = [];
  bodies.forEach((body, index) => {
    const part = documentRoot(pkg, body, index, report);
    const document = part === undefined ? undefined : pkg.xml(part);
    if (part === undefined || document === undefined) {
      const location = part ?? body.childText('DocRoot') ?? `Doc_${index}/Document.xml`;
      faults.push(location);
      report(partMissing(location, `Document ${index + 1} of the package has no readable root part ${location}`));
      return;
    }
    documents.push(readDocument(pkg, body, document, part, report, withSeals));
  });
  if (documents.length > 0) return documents;
  if (pkg.isEncrypted && faults.length > 0) {
    throw new OfdError('encrypted', `The package is encrypted: ${faults.join(', ')} cannot be read`);
  }
  throw new OfdError(
    'corrupt',
    bodies.length === 0
      ? 'OFD.xml names no document (DocBody)'
      : `The document part ${faults.join(', ')} is missing or cannot be read`,
  );
}

function partMissing(part: string, message: string): Diagnostic {
  return { code: 'part_missing', message, part };
}

/** The Document.xml that a DocBody means: that of its current version where there are versions, else DocRoot. */
function documentRoot(pkg: OfdPackage, body: XmlElement, index: number, report: Report): string | undefined {
  const plain = pkg.resolve(body.childText('DocRoot') || `Doc_${index}/Document.xml`, '');
  const location = currentVersion(body.child('Versions'))?.attribute('BaseLoc');
  if (location === undefined) return plain;
  const versionPart = pkg.resolve(location, '');
  const docRoot = versionPart === undefined ? undefined : pkg.xml(versionPart)?.childText('DocRoot');
  const current = versionPart && docRoot ? pkg.resolve(docRoot, folderOf(versionPart)) : undefined;
  if (current === undefined) report(partMissing(location, `The current version ${location} cannot be read`));
  return current ?? plain;
}

function currentVersion(versions: XmlElement | undefined): XmlElement | undefined {
  return versions?.childrenNamed('Version').find((version) => version.boolean('Current') === true);
}

function readDocument(
  pkg: OfdPackage,
  body: XmlElement,
  document: XmlElement,
  part: string,
  report: Report,
  withSeals: boolean,
): DocumentBody {
  const folder = folderOf(part);
  const common = document.child('CommonData');
  const templates = (common ?? document).childrenNamed('TemplatePage').map(
    (element): TemplateReference => ({
      ...pageReference(pkg, element, folder),
      zOrder: element.attribute('ZOrder')?.trim(),
    }),
  );
  const pages = readPages(pkg, document, folder, report);
  return {
    pkg,
    part,
    folder,
    info: readInfo(body.child('DocInfo')),
    pages,
    templates: new Map(templates.flatMap((template) => (template.id === undefined ? [] : [[template.id, template]]))),
    pageArea: common?.child('PageArea'),
    defaultColorSpace: common?.childText('DefaultCS') || undefined,
    resources: documentResources(pkg, common, folder, report),
    annotationParts: readAnnotationParts(pkg, document, pages, folder, report),
    seals: withSeals ? sealsOf(pkg, body, report) : [],
    beside: {
      outlines: document.child('Outlines'),
      bookmarks: document.child('Bookmarks'),
      permissions: document.child('Permissions'),
      preferences: document.child('VPreferences'),
      actions: document.child('Actions'),
      attachments: document.childText('Attachments') || undefined,
      customTags: document.childText('CustomTags') || undefined,
      signatures: body.childText('Signatures') || undefined,
    },
  };
}

function readPages(pkg: OfdPackage, document: XmlElement, folder: string, report: Report): PageReference[] {
  const elements = document.childrenNamed('Pages').flatMap((pages) => pages.childrenNamed('Page'));
  const limit = pkg.limits.maxPages;
  if (elements.length > limit) {
    report({ code: 'pages_cut', message: `The document has ${elements.length} pages; the first ${limit} are shown` });
  }
  return elements.slice(0, limit).map((element) => pageReference(pkg, element, folder));
}

function pageReference(pkg: OfdPackage, element: XmlElement, folder: string): PageReference {
  const location = element.attribute('BaseLoc')?.trim() ?? '';
  return { id: element.id('ID'), location, part: location === '' ? undefined : pkg.resolve(location, folder) };
}

function documentResources(
  pkg: OfdPackage,
  common: XmlElement | undefined,
  folder: string,
  report: Report,
): ResourceTable {
  const parts = resourceParts(pkg, common, folder, report);
  return readResources(pkg, parts, new StrayResources(pkg, folder, parts, report));
}

/** PublicRes before DocumentRes, so that the latter wins. */
function resourceParts(pkg: OfdPackage, common: XmlElement | undefined, folder: string, report: Report): string[] {
  const elements = ['PublicRes', 'DocumentRes'].flatMap((name) => common?.childrenNamed(name) ?? []);
  return elements.flatMap((element) => resolvedPart(pkg, element.text, folder, report) ?? []);
}

/** The entry that `location` means; undefined, with a diagnostic, where there is none. */
export function resolvedPart(
  pkg: OfdPackage,
  location: string,
  folder: string,
  report: Report,
  ...otherFolders: readonly string[]
): string | undefined {
  if (location.trim() === '') return undefined;
  const part = pkg.resolve(location, folder, ...otherFolders);
  if (part === undefined) {
    report(partMissing(location.trim(), `The package names a part ${location.trim()} that it does not have`));
  }
  return part;
}

function readAnnotationParts(
  pkg: OfdPackage,
  document: XmlElement,
  pages: readonly PageReference[],
  folder: string,
  report: Report,
): Map<string, string[]> {
  const parts = new Map<string, string[]>();
  const listPart = resolvedPart(pkg, document.childText('Annotations') ?? '', folder, report);
  const list = listPart === undefined ? undefined : pkg.xml(listPart);
  if (listPart === undefined || list === undefined) return parts;
  const pageIds = new Set(pages.map(({ id }) => id));
  for (const page of list.childrenNamed('Page')) {
    const id = page.id('PageID');
    const part = resolvedPart(pkg, page.childText('FileLoc') ?? '', folderOf(listPart), report, folder);
    if (part === undefined) continue;
    if (id === undefined || !pageIds.has(id)) {
      const message = `The annotations in ${part} are of page ${id ?? 'without ID'}, which is not there`;
      report({ code: 'reference_missing', message, part: listPart });
      continue;
    }
    const known = parts.get(id);
    if (known === undefined) parts.set(id, [part]);
    else known.push(part);
  }
  return parts;
}

function sealsOf(pkg: OfdPackage, body: XmlElement, report: Report): Seal[] {
  const part = resolvedPart(pkg, body.childText('Signatures') ?? '', '', report);
  return part === undefined ? [] : readSeals(pkg, part, report);
}

const A4_WIDTH_MM = 210;
const A4_HEIGHT_MM = 297;
/** Two hundred inches ten times over: the largest sheet that a PDF can state with a whole unit. */
const MAX_SIDE_MM = 50_800;
/** Less than a pixel at any resolution offered. */
const MIN_SIDE_MM = 0.04;

export interface Sheet {
  readonly widthMm: number;
  readonly heightMm: number;
  /** What was wrong with a size that was passed over or cut, for a message. */
  readonly fault?: string;
}

/**
 * The sheet of a page: the first box that can be one, in the areas given (the page's own, its templates', the
 * document's), physical before application before content box; A4 where there is none.
 */
export function sheetOf(areas: readonly (XmlElement | undefined)[]): Sheet {
  let fault: string | undefined;
  for (const area of areas) {
    for (const name of ['PhysicalBox', 'ApplicationBox', 'ContentBox']) {
      const text = area?.childText(name) ?? area?.attribute(name);
      if (text === undefined) continue;
      const [, , width = 0, height = 0] = parseNumbers(text) ?? [];
      if (width < MIN_SIDE_MM || height < MIN_SIDE_MM) {
        fault ??= `${name} "${text}" is no sheet`;
      } else if (width > MAX_SIDE_MM || height > MAX_SIDE_MM) {
        const widthMm = Math.min(width, MAX_SIDE_MM);
        const heightMm = Math.min(height, MAX_SIDE_MM);
        return { widthMm, heightMm, fault: `${name} "${text}" is cut to ${widthMm} × ${heightMm} mm` };
      } else {
        return { widthMm: width, heightMm: height, ...(fault === undefined ? {} : { fault }) };
      }
    }
  }
  return { widthMm: A4_WIDTH_MM, heightMm: A4_HEIGHT_MM, ...(fault === undefined ? {} : { fault }) };
}
