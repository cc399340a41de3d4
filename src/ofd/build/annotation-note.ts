/** Notes of annotations: all that they say besides their appearance. */
import type { AnnotationNote } from '../../display/annotation.js';
import { factLine, factText } from '../fact-text.js';
import type { XmlElement } from '../xml.js';

const TEXTS: readonly (readonly [key: keyof AnnotationNote, attribute: string])[] = [
  ['type', 'Type'],
  ['subtype', 'Subtype'],
  ['creator', 'Creator'],
  ['modificationDate', 'LastModDate'],
];

/** Of all annotations of a page, in document order. `roots`: root elements of the page's annotation files. */
export function annotationNotes(roots: readonly XmlElement[]): AnnotationNote[] {
  return roots.flatMap((root) => root.childrenNamed('Annot').map(noteOf));
}

function noteOf(annotation: XmlElement): AnnotationNote {
  const texts = TEXTS.flatMap(([key, attribute]) => {
    const text = factLine(annotation.attribute(attribute) ?? '');
    return text ? [[key, text]] : [];
  });
  const id = annotation.id('ID');
  const remark = factText(annotation.childText('Remark') ?? '');
  const box = annotation.child('Appearance')?.box('Boundary');
  const parameters = (annotation.child('Parameters')?.childrenNamed('Parameter') ?? []).map((parameter) => {
    return { name: factLine(parameter.attribute('Name') ?? ''), value: factText(parameter.text) };
  });
  return {
    ...(id === undefined ? {} : { id }),
    ...Object.fromEntries(texts),
    isVisible: annotation.boolean('Visible') !== false,
    ...(remark ? { remark } : {}),
    parameters,
    ...(box === undefined ? {} : { box }),
  };
}
