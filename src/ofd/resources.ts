/** Resources by kind and ID, as the Res files of a document or a page define them; nothing is interpreted here. */
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

/**
 * Definitions of one owner (a document, or a page on top of its document). Later files win over earlier ones, a table
 * over the one beneath it.
 */
export class ResourceTable {
  readonly #beneath: ResourceTable | undefined;
  readonly #resources = new Map<string, Resource>();

  constructor(beneath?: ResourceTable) {
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
export function readResources(pkg: OfdPackage, locations: readonly string[], beneath?: ResourceTable): ResourceTable {
  const table = new ResourceTable(beneath);
  for (const path of locations) {
    const root = pkg.xml(path);
    if (root !== undefined) table.addFile(root, path);
  }
  return table;
}
