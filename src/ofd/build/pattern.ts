/** Pattern: a cell of drawing repeated over what it fills; mirrored kinds become larger cells that repeat plainly. */
import { IDENTITY, invert, type Matrix, multiply, rectanglePath, translation } from '../../display/geometry.js';
import type { Group, Item } from '../../display/list.js';
import type { Paint } from '../../display/paint.js';
import type { ResourceTable } from '../resources.js';
import type { XmlElement } from '../xml.js';
import type { Space } from './context.js';
import { EMPTY_STYLE } from './draw-param.js';
import { isFault } from './image-source.js';
import { isDrawable, NO_CLIPS } from './placement.js';

/** Whether the CTM of the object turns its pattern too; no file has been found that decides it. */
const OBJECT_CTM_MOVES_PATTERN = true;
/** Around the content of a cell: the cell, and the mirror image that it may be part of. */
const GROUPS_A_CELL = 2;
/** A cell smaller than this on both sides is finer than any device. */
const MIN_CELL_MM = 0.01;
/** A kilometre: no cell is larger than any sheet. */
const MAX_CELL_MM = 1e6;

interface PatternPlace {
  readonly origin: Matrix;
  readonly matrix: Matrix;
}

/** The tiling of a Pattern; undefined where its cell shows nothing. */
export function patternPaint(
  element: XmlElement,
  resources: ResourceTable,
  alpha: number,
  space: Space,
  place: PatternPlace,
): Paint | undefined {
  const width = element.number('Width') ?? 0;
  const height = element.number('Height') ?? 0;
  const matrix = patternMatrix(element, space, place);
  if (matrix === undefined || !isDrawable(matrix) || !isCellSide(width) || !isCellSide(height)) {
    const what = `cells of ${width} × ${height} mm under CTM "${element.attribute('CTM') ?? ''}"`;
    space.page.report('paint_invalid', `A Pattern paints nothing: ${what} cannot be drawn`);
    return undefined;
  }
  const xStep = stepOf(element.number('XStep'), width);
  const yStep = stepOf(element.number('YStep'), height);
  const items = cellItems(element, resources, width, height, { ...space, toPage: multiply(space.toPage, matrix) });
  if (items.length === 0) return undefined;
  return { kind: 'tiling', matrix, alpha, ...mirrored(element, { width, height, xStep, yStep, items }) };
}

function isCellSide(length: number): boolean {
  return length >= MIN_CELL_MM && length <= MAX_CELL_MM;
}

/** A step shorter than the cell is none. */
function stepOf(stated: number | undefined, length: number): number {
  return Math.min(Math.max(stated ?? length, length), 2 * MAX_CELL_MM);
}

function patternMatrix(element: XmlElement, space: Space, place: PatternPlace): Matrix | undefined {
  const ctm = element.matrix('CTM') ?? IDENTITY;
  if (element.attribute('RelativeTo')?.trim().toLowerCase() === 'page') {
    space.page.tally.isOneOff = true;
    const fromPage = invert(space.toPage);
    return fromPage === undefined ? undefined : multiply(fromPage, ctm);
  }
  return multiply(OBJECT_CTM_MOVES_PATTERN ? place.matrix : place.origin, ctm);
}

/** What one cell shows: its content, else its thumbnail. */
function cellItems(
  element: XmlElement,
  resources: ResourceTable,
  width: number,
  height: number,
  space: Space,
): readonly Item[] {
  const content = element.child('CellContent');
  if (content === undefined) {
    space.page.report('paint_invalid', 'A Pattern paints nothing: it has no CellContent');
    return [];
  }
  if (space.depth + GROUPS_A_CELL > space.document.limits.maxGroupDepth) {
    space.page.tally.isOneOff = true;
    space.page.report('nesting_cut', 'A pattern is nested too deep and left out');
    return [];
  }
  space.page.reach(space.depth + GROUPS_A_CELL);
  const items = space.document.buildObjects(content, {
    ...space,
    resources,
    style: EMPTY_STYLE,
    depth: space.depth + GROUPS_A_CELL,
    needsStrokeColor: false,
    multipliesFills: false,
  });
  const thumbnail = items.length === 0 ? content.id('Thumbnail') : undefined;
  if (thumbnail === undefined) return items;
  const found = space.document.images.find(thumbnail, resources);
  if (isFault(found)) {
    space.page.report(found.code, found.message);
    return [];
  }
  const { image } = found;
  const matrix: Matrix = [width, 0, 0, height, 0, 0];
  return [{ kind: 'image', image, matrix, alpha: 1, smooth: true, clips: NO_CLIPS, blendMode: 'normal' }];
}

interface Cell {
  readonly width: number;
  readonly height: number;
  readonly xStep: number;
  readonly yStep: number;
  readonly items: readonly Item[];
}

/** The cell with its mirror images beside and below it, as ReflectMethod asks. */
function mirrored(element: XmlElement, cell: Cell): Cell {
  const method = element.attribute('ReflectMethod')?.trim().toLowerCase();
  const columns = method === 'column' || method === 'rowandcolumn' ? 2 : 1;
  const rows = method === 'row' || method === 'rowandcolumn' ? 2 : 1;
  if (columns * rows === 1) return cell;
  const { width, height, xStep, yStep } = cell;
  const copies: Group[] = [];
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const flip: Matrix = [column ? -1 : 1, 0, 0, row ? -1 : 1, column ? width : 0, row ? height : 0];
      const step = translation(column * xStep, row * yStep);
      copies.push({
        kind: 'group',
        matrix: multiply(step, flip),
        alpha: 1,
        items: cell.items,
        isShared: false,
        blendMode: 'normal',
        clips: [{ path: rectanglePath({ x: column * xStep, y: row * yStep, width, height }), rule: 'nonzero' }],
      });
    }
  }
  return {
    width: (columns - 1) * xStep + width,
    height: (rows - 1) * yStep + height,
    xStep: columns * xStep,
    yStep: rows * yStep,
    items: copies,
  };
}
