/** DocInfo: what a document says about itself. */
import type { DocumentInfo, NamedValue } from '../display/facts.js';
import { factLine, factText } from './fact-text.js';
import type { XmlElement } from './xml.js';

const TEXTS: readonly (readonly [key: keyof DocumentInfo, element: string])[] = [
  ['id', 'DocID'],
  ['title', 'Title'],
  ['author', 'Author'],
  ['subject', 'Subject'],
  ['abstract', 'Abstract'],
  ['creator', 'Creator'],
  ['creatorVersion', 'CreatorVersion'],
  ['creationDate', 'CreationDate'],
  ['modificationDate', 'ModDate'],
  ['usage', 'DocUsage'],
];

/** An abstract may have several lines. */
const ONE_LINE: ReadonlySet<keyof DocumentInfo> = new Set(
  TEXTS.map(([key]) => key).filter((key) => key !== 'abstract'),
);

/** Fields that are empty are left out. */
export function readInfo(element: XmlElement | undefined): DocumentInfo {
  if (element === undefined) return {};
  const texts = TEXTS.flatMap(([key, name]) => {
    const text = (ONE_LINE.has(key) ? factLine : factText)(element.childText(name) ?? '');
    return text ? [[key, text]] : [];
  });
  const keywords = element
    .childrenNamed('Keywords')
    .flatMap((list) => list.childrenNamed('Keyword').map((keyword) => factLine(keyword.text)))
    .filter((keyword) => keyword !== '');
  const customData = readCustomData(element);
  return {
    ...Object.fromEntries(texts),
    ...(keywords.length > 0 ? { keywords } : {}),
    ...(customData.length > 0 ? { customData } : {}),
  };
}

/** An element without value says nothing. */
function readCustomData(element: XmlElement): NamedValue[] {
  return element
    .childrenNamed('CustomDatas')
    .flatMap((list) => list.childrenNamed('CustomData'))
    .map((item) => ({ name: factLine(item.attribute('Name') ?? ''), value: factText(item.text) }))
    .filter(({ name, value }) => name !== '' && value !== '');
}
