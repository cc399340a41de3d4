/** Finds the ruled lines of a page: thin strokes and bars that run level or plumb, in page space (spec 16.3). */
import {
  CLOSE,
  COORDINATES_OF_VERB,
  IDENTITY,
  LINE,
  type Matrix,
  MOVE,
  meanScale,
  multiply,
  transformPoint,
} from '../../display/geometry.js';
import type { Item, PathItem } from '../../display/list.js';

/** A line from `start` to `end` at distance `at`: y of a level line, x of a plumb one. Millimetres. */
export interface Rule {
  readonly at: number;
  readonly start: number;
  readonly end: number;
}

export interface Rules {
  readonly level: readonly Rule[];
  readonly plumb: readonly Rule[];
}

/** Thicker bars are areas, not lines. */
const MAX_THICKNESS_MM = 1;
const MIN_LENGTH_MM = 1.5;
/** A page with more than this is a drawing. */
const MAX_RULES = 4000;
const STRAIGHT_MM = 0.1;

/** Undefined where the page has too many lines to be a form. */
export function collectRules(items: readonly Item[]): Rules | undefined {
  const rules = { level: [] as Rule[], plumb: [] as Rule[] };
  let isForm = true;
  const visit = (list: readonly Item[], matrix: Matrix) => {
    for (const item of list) {
      if (!isForm) return;
      if (item.kind === 'group') visit(item.items, multiply(matrix, item.matrix));
      else if (item.kind === 'path') addPath(item, multiply(matrix, item.matrix), rules);
      isForm = rules.level.length + rules.plumb.length <= MAX_RULES;
    }
  };
  visit(items, IDENTITY);
  return isForm ? rules : undefined;
}

interface RuleLists {
  readonly level: Rule[];
  readonly plumb: Rule[];
}

function addPath(item: PathItem, matrix: Matrix, rules: RuleLists): void {
  const isThinPen = item.stroke !== undefined && item.stroke.widthMm * meanScale(matrix) <= MAX_THICKNESS_MM;
  if (isThinPen) addSegments(item, matrix, rules);
  else if (item.fill !== undefined) addBar(item, matrix, rules);
}

function addSegments(item: PathItem, matrix: Matrix, rules: RuleLists): void {
  const { verbs, coordinates } = item.path;
  let index = 0;
  let start = { x: 0, y: 0 };
  let current = start;
  for (const verb of verbs) {
    const count = COORDINATES_OF_VERB[verb] ?? 0;
    const end =
      count === 0 ? start : transformPoint(matrix, coordinates[index + count - 2]!, coordinates[index + count - 1]!);
    if (verb === MOVE) start = end;
    else if (verb === LINE || verb === CLOSE) addSegment(current.x, current.y, end.x, end.y, rules);
    current = end;
    index += count;
  }
}

function addSegment(x1: number, y1: number, x2: number, y2: number, rules: RuleLists): void {
  const width = Math.abs(x2 - x1);
  const height = Math.abs(y2 - y1);
  if (height <= STRAIGHT_MM && width >= MIN_LENGTH_MM) {
    rules.level.push({ at: (y1 + y2) / 2, start: Math.min(x1, x2), end: Math.max(x1, x2) });
  } else if (width <= STRAIGHT_MM && height >= MIN_LENGTH_MM) {
    rules.plumb.push({ at: (x1 + x2) / 2, start: Math.min(y1, y2), end: Math.max(y1, y2) });
  }
}

/** A filled shape that is no thicker than a line. */
function addBar(item: PathItem, matrix: Matrix, rules: RuleLists): void {
  const box = item.path.transformed(matrix).controlBounds();
  if (box === undefined) return;
  const { x, y, width, height } = box;
  if (height <= MAX_THICKNESS_MM && width >= MIN_LENGTH_MM)
    addSegment(x, y + height / 2, x + width, y + height / 2, rules);
  else if (width <= MAX_THICKNESS_MM && height >= MIN_LENGTH_MM)
    addSegment(x + width / 2, y, x + width / 2, y + height, rules);
}
