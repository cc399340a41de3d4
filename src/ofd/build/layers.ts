/** Layers of a page or template by their class. */
import type { Item } from '../../display/list.js';
import { resolvedPart } from '../document.js';
import { folderOf } from '../location.js';
import { type ResourceTable, readResources } from '../resources.js';
import { XmlElement } from '../xml.js';
import type { DocumentContext, Space } from './context.js';
import { isVisible } from './objects.js';

/** From the lowest to the topmost. */
export const LAYER_CLASSES = ['background', 'body', 'foreground'] as const;
export type LayerClass = (typeof LAYER_CLASSES)[number];

/** What else stands in a page. */
const BESIDE_CONTENT: ReadonlySet<string> = new Set(['Template', 'PageRes', 'Area', 'Actions', 'Content']);

/** A class as written; what is unknown or custom stands with the body, what is absent where `fallback` says. */
export function layerClass(text: string | undefined, fallback: LayerClass): LayerClass {
  const name = text?.trim().toLowerCase();
  if (!name) return fallback;
  return name === 'background' || name === 'foreground' ? name : 'body';
}

/** Items of all layers of one class, in document order. Objects outside any layer count as body. */
export function buildLayers(root: XmlElement, type: LayerClass, space: Space): Item[] {
  const items: Item[] = [];
  const contents = root.childrenNamed('Content');
  // Producers forget the Content around the layers.
  for (const content of contents.length === 0 ? [root] : contents) {
    for (const part of layersOf(content)) {
      if (layerClass(part.attribute('Type'), 'body') !== type || !isVisible(part)) continue;
      const style = space.document.drawParams.styleOf(part, space.resources, space.style);
      for (const item of space.document.buildObjects(part, { ...space, style })) items.push(item);
    }
  }
  return items;
}

/** The layers; objects between them as layers of their own, objects alone as one. */
function layersOf(content: XmlElement): XmlElement[] {
  const layers: XmlElement[] = [];
  let strays: XmlElement[] = [];
  const endStrays = () => {
    if (strays.length > 0) layers.push(new XmlElement('Layer', [], strays, ''));
    strays = [];
  };
  for (const element of content.children) {
    if (element.name === 'Layer') {
      endStrays();
      layers.push(element);
    } else if (!BESIDE_CONTENT.has(element.name)) strays.push(element);
  }
  endStrays();
  return layers;
}

/** What a page or template can refer to: its own Res files over those of the document. */
export function pageResources(document: DocumentContext, root: XmlElement, part: string): ResourceTable {
  const { body } = document;
  const locations = root.childrenNamed('PageRes').flatMap((element) => {
    const path = resolvedPart(body.pkg, element.text, folderOf(part), document.report, body.folder);
    return path ?? [];
  });
  return locations.length === 0 ? body.resources : readResources(body.pkg, locations, body.resources);
}
