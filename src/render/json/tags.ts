/** Custom tags with the text of the objects that they point at, which is known when the pages have been written. */
import type { CustomTag, TagField } from '../../display/facts.js';
import type { DisplayList, Item } from '../../display/list.js';
import { given } from './values.js';

export class TagTexts {
  readonly #tags: readonly CustomTag[];
  /** Of the objects that tags point at, by page and object; undefined for a page that has not been seen. */
  readonly #texts = new Map<number, Map<string, string>>();

  constructor(tags: readonly CustomTag[]) {
    this.#tags = tags;
    for (const tag of tags) this.#want(tag);
  }

  #want({ objects, children }: TagField): void {
    for (const { pageNumber, objectId } of objects) {
      const onPage = this.#texts.get(pageNumber) ?? new Map<string, string>();
      this.#texts.set(pageNumber, onPage.set(objectId, ''));
    }
    for (const child of children) this.#want(child);
  }

  /** Notes the text of what tags point at on this page. */
  add({ pageNumber, items }: DisplayList): void {
    const wanted = this.#texts.get(pageNumber);
    if (wanted !== undefined) note(items, wanted);
  }

  json(): object[] {
    return this.#tags.map((tag) => given({ type: tag.type, ...this.#field(tag) }));
  }

  #field({ name, attributes, text, objects, children }: TagField): { readonly name: string } {
    const found = objects.map(({ pageNumber, objectId }) => this.#texts.get(pageNumber)?.get(objectId) ?? '').join('');
    return given({
      name,
      attributes:
        attributes.length === 0 ? undefined : Object.fromEntries(attributes.map(({ name, value }) => [name, value])),
      value: found + text || undefined,
      objects:
        objects.length === 0
          ? undefined
          : objects.map(({ pageNumber, objectId }) => ({ page: pageNumber, object_id: objectId })),
      children: children.length === 0 ? undefined : children.map((child) => this.#field(child)),
    });
  }
}

function note(items: readonly Item[], wanted: Map<string, string>): void {
  for (const item of items) {
    if (item.kind === 'group') note(item.items, wanted);
    else if (item.kind === 'glyphs' && item.objectId !== undefined) {
      const known = wanted.get(item.objectId);
      if (known !== undefined) wanted.set(item.objectId, known + item.characters.join(''));
    }
  }
}
