/** One page: size, text, pictures, links. */
import type { AnnotationNote } from '../../display/annotation.js';
import { IDENTITY, type Matrix, multiply, transformBox } from '../../display/geometry.js';
import type { DisplayList, ImageItem, Item } from '../../display/list.js';
import { jsonTarget } from './link.js';
import { jsonLines, jsonRun } from './text.js';
import { given, jsonBox, jsonMatrix, mm, rounded } from './values.js';

export function jsonPage(list: DisplayList): object {
  const { pageNumber, widthMm, heightMm, links = [], annotations = [] } = list;
  const text: object[] = [];
  const images: object[] = [];
  const visit = (items: readonly Item[], toPage: Matrix): void => {
    for (const item of items) {
      if (item.kind === 'group') visit(item.items, multiply(toPage, item.matrix));
      else if (item.kind === 'image') images.push(jsonImage(item, toPage));
      else if (item.kind === 'glyphs') {
        const run = jsonRun(item, toPage);
        if (run !== undefined) text.push(run);
      }
    }
  };
  visit(list.items, IDENTITY);
  return {
    number: pageNumber,
    width_mm: mm(widthMm),
    height_mm: mm(heightMm),
    lines: jsonLines(list),
    text,
    images,
    links: links.map(({ box, target }) => ({ box: jsonBox(box), target: jsonTarget(target) })),
    annotations: annotations.map(jsonAnnotation),
  };
}

function jsonAnnotation(note: AnnotationNote): object {
  return given({
    id: note.id,
    type: note.type,
    subtype: note.subtype,
    creator: note.creator,
    modification_date: note.modificationDate,
    visible: note.isVisible,
    remark: note.remark,
    parameters: note.parameters,
    box: note.box && jsonBox(note.box),
  });
}

function jsonImage({ image, matrix, alpha, mask }: ImageItem, toPage: Matrix): object {
  const onPage = multiply(toPage, matrix);
  return {
    box: jsonBox(transformBox(onPage, { x: 0, y: 0, width: 1, height: 1 })),
    matrix: jsonMatrix(onPage),
    part: image.part,
    format: image.format,
    width_px: image.widthPx,
    height_px: image.heightPx,
    size_bytes: image.bytes.length,
    opacity: rounded(alpha, 3),
    masked: mask !== undefined,
  };
}
