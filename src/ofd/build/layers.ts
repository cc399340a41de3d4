/** Layers of a page or template by their class. */
import type { Item } from '../../display/list.js';
import { resolvedPart } from '../document.js';
import { folderOf } from '../location.js';
import { type ResourceTable, readResources } from '../resources.js';
import type { XmlElement } from '../xml.js';
import type { DocumentContext, Space } from './context.js';
import { isVisible } from './objects.js';

/** From the lowest to the topmost. */
export const LAYER_CLASSES = ['background', 'body', 'foreground'] as const;
export type LayerClass = (typeof LAYER_CLASSES)[number];

/** A class as written; what is unknown or custom stands with the body, what is absent where `fallback` says. */
export function layerClass(text: string | undefined, fallback: LayerClass): LayerClass {
  const name = text?.trim().toLowerCase();
  if (!name) return fallback;
  return name === 'background' || name === 'foreground' ? name : 'body';
}

/** Items of all layers of one class, in document order. Objects outside any layer count as body. */
export function buildLayers(root: XmlElement, type: LayerClass, space: Space): Item[] {
  const items: Item[] = [];
  for (const content of root.childrenNamed('Content')) {
    const layers = content.childrenNamed('Layer');
    if (layers.length === 0 && type === 'body') {
      for (const item of space.document.buildObjects(content, space)) items.push(item);
    }
    for (const layer of layers) {
      if (layerClass(layer.attribute('Type'), 'body') !== type || !isVisible(layer)) continue;
      const style = space.document.drawParams.styleOf(layer, space.resources, space.style);
      for (const item of space.document.buildObjects(layer, { ...space, style })) items.push(item);
    }
  }
  return items;
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
