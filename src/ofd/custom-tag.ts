/** CustomTags.xml: trees of fields whose leaves point at objects of pages (format reference 12.2). */
import type { CustomTag, ObjectReference, TagField } from '../display/facts.js';
import type { Report } from '../display/list.js';
import { type DocumentBody, resolvedPart } from './document.js';
import { factLine, factText } from './fact-text.js';
import { folderOf } from './location.js';
import type { XmlElement } from './xml.js';

/**
 * The tags whose files can be read, in the order of the list.
 *
 * @param pageNumberOf number of the page with that ID through all documents
 */
export function readCustomTags(
  body: DocumentBody,
  pageNumberOf: (pageId: string) => number | undefined,
  report: Report,
): CustomTag[] {
  const { pkg, folder } = body;
  const listPart = resolvedPart(pkg, body.beside.customTags ?? '', folder, report);
  const list = listPart === undefined ? undefined : pkg.xml(listPart);
  if (listPart === undefined || list === undefined) return [];
  return list.childrenNamed('CustomTag').flatMap((element): CustomTag[] => {
    const part = resolvedPart(pkg, element.childText('FileLoc') ?? '', folderOf(listPart), report, folder);
    const root = part === undefined ? undefined : pkg.xml(part);
    if (root === undefined) return [];
    const type = factLine(element.attribute('TypeID') ?? element.attribute('NameSpace') ?? '');
    return [{ ...readField(root, pageNumberOf), ...(type ? { type } : {}) }];
  });
}

function readField(element: XmlElement, pageNumberOf: (pageId: string) => number | undefined): TagField {
  let text = factText(element.text);
  const objects: ObjectReference[] = [];
  const children: TagField[] = [];
  for (const child of element.children) {
    if (child.name === 'ObjectData') text += factText(child.text);
    else if (child.name === 'ObjectRef') {
      const pageNumber = pageNumberOf(child.id('PageRef') ?? '');
      const objectId = child.text.trim();
      // Producers write 0 for a field that has no value.
      if (pageNumber !== undefined && objectId !== '' && objectId !== '0') objects.push({ pageNumber, objectId });
    } else children.push(readField(child, pageNumberOf));
  }
  const attributes = element.attributeNames().map((name) => ({ name, value: factText(element.attribute(name) ?? '') }));
  return { name: element.name, attributes, text, objects, children };
}
