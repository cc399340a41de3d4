// Margins where a client names none.
import { expect, it } from 'vitest';
import { defaultMargins, sheetSize } from '../../src/convert/paper.js';

it.each([
  ['A4', 10],
  ['40x40', 10],
  ['60x20', 5],
  ['20x60', 5],
])('are 10 mm, and leave room on labels: %s has %d mm', (paper, side) => {
  expect(defaultMargins(sheetSize(paper))).toEqual({ topMm: side, rightMm: side, bottomMm: side, leftMm: side });
});
