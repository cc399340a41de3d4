/** Resources by kind and ID, as the Res files of a document or a page define them; nothing is interpreted here. */
import type { Report } from '../display/list.js';
import type { OfdPackage } from './package.js';
import type { XmlElement } from './xml.js';

export type ResourceKind = 'font' | 'colorSpace' | 'drawParam' | 'media' | 'composite';

/** One definition, with what is needed to resolve the locations in it. */
export interface Resource {
  readonly element: XmlElement;
  /** Path of the Res file. */
  readonly part: string;
  /** `Res@BaseLoc` as written, '' where absent. */
  readonly baseLoc: string;
}

const KIND_OF_ELEMENT: Readonly<Record<string, ResourceKind>> = {
  Font: 'font',
  ColorSpace: 'colorSpace',
  DrawParam: 'drawParam',
  MultiMedia: 'media',
  CompositeGraphicUnit: 'composite',
};

/** Groups of a Res file nest two deep; producers that wrap once more are still read. */
const MAX_GROUP_DEPTH = 4;

/** Where definitions are looked for that are nowhere where they should be. */
export interface LastResort {
  find(kind: ResourceKind, id: string): Resource | undefined;
}

/**
 * Definitions of one owner (a document, or a page on top of its document). Later files win over earlier ones, a table
 * over the one beneath it.
 */
export class ResourceTable implements LastResort {
  readonly #beneath: LastResort | undefined;
  readonly #resources = new Map<string, Resource>();

  constructor(beneath?: LastResort) {
    this.#beneath = beneath;
  }

  /** Takes in a Res file; `root` is its root element. */
  addFile(root: XmlElement, part: string): void {
    this.#addGroup(root, part, root.attribute('BaseLoc')?.trim() ?? '', 0);
  }

  find(kind: ResourceKind, id: string): Resource | undefined {
    return this.#resources.get(`${kind} ${id}`) ?? this.#beneath?.find(kind, id);
  }

  #addGroup(group: XmlElement, part: string, baseLoc: string, depth: number): void {
    for (const element of group.children) {
      const kind = KIND_OF_ELEMENT[element.name];
      const id = element.id('ID');
      if (kind !== undefined && id !== undefined) this.#resources.set(`${kind} ${id}`, { element, part, baseLoc });
      else if (kind === undefined && depth < MAX_GROUP_DEPTH) this.#addGroup(element, part, baseLoc, depth + 1);
    }
  }
}

/**
 * A table with the given Res files on top of `beneath`.
 *
 * @param locations resolved paths, in the order in which they count; later ones win
 */
export function readResources(pkg: OfdPackage, locations: readonly string[], beneath?: LastResort): ResourceTable {
  const table = new ResourceTable(beneath);
  for (const path of locations) {
    const root = pkg.xml(path);
    if (root !== undefined) table.addFile(root, path);
  }
  return table;
}

/** Resource files by their usual names. */
const RES_NAME = /res[^/]*\.xml$/i;
/** Files read in search of one definition; a document with a file a page has them for its pages. */
const MAX_STRAY_FILES = 200;

/**
 * Resource files of a document that it does not name, and those of its other pages. Read when something is missing, and
 * told of each time they help.
 */
export class StrayResources implements LastResort {
  readonly #pkg: OfdPackage;
  readonly #folder: string;
  readonly #named: ReadonlySet<string>;
  readonly #report: Report;
  readonly #told = new Set<string>();
  #table: ResourceTable | undefined;

  /** `named`: files that count anyway. */
  constructor(pkg: OfdPackage, folder: string, named: readonly string[], report: Report) {
    this.#pkg = pkg;
    this.#folder = folder === '' ? '' : `${folder}/`;
    this.#named = new Set(named);
    this.#report = report;
  }

  find(kind: ResourceKind, id: string): Resource | undefined {
    this.#table ??= this.#read();
    const resource = this.#table.find(kind, id);
    if (resource !== undefined && !this.#told.has(`${kind} ${id}`)) {
      this.#told.add(`${kind} ${id}`);
      const message = `Resource ${id} is not defined where it is used; that of ${resource.part} is taken`;
      this.#report({ code: 'reference_missing', message, part: resource.part });
    }
    return resource;
  }

  /** The first file that defines something wins. */
  #read(): ResourceTable {
    const parts = this.#pkg.names().filter((name) => {
      return name.startsWith(this.#folder) && RES_NAME.test(name) && !this.#named.has(name);
    });
    return readResources(this.#pkg, parts.slice(0, MAX_STRAY_FILES).reverse());
  }
}
