import { describe, expect, it } from 'vitest';
import { CLOSE, CUBIC, LINE, MOVE, type Path, QUAD } from '../../../src/display/geometry.js';
import { parsePathData } from '../../../src/ofd/build/path-data.js';
import { rounded } from './support.js';

const NAMES = { [MOVE]: 'M', [LINE]: 'L', [QUAD]: 'Q', [CUBIC]: 'B', [CLOSE]: 'C' };

function verbs(path: Path): string {
  return path.verbs.map((verb) => NAMES[verb as keyof typeof NAMES]).join('');
}

describe('AbbreviatedData', () => {
  it('has B for cubic curves and C for closing', () => {
    const { path, dropped } = parsePathData('M 1 2 L 3 4 Q 5 6 7 8 B 9 10 11 12 13 14 C');
    expect(verbs(path)).toBe('MLQBC');
    expect(path.coordinates).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]);
    expect(dropped).toBe(0);
  });

  it.each([
    ['leading blanks, tabs and line breaks', ' \n\t M 1 2\n L 3 4 ', 'ML', [1, 2, 3, 4]],
    ['operators glued to numbers and to each other', 'M1 2L3 4CM5 6L7 8', 'MLCML', [1, 2, 3, 4, 5, 6, 7, 8]],
    ['lower case, still absolute', 'm 1 2 l 3 4', 'ML', [1, 2, 3, 4]],
    ['commas and glued signs', 'M 1,2 L 3-4', 'ML', [1, 2, 3, -4]],
    ['exponents', 'M 1e1 2E-1 L .5 5.', 'ML', [10, 0.2, 0.5, 5]],
    ['operands that repeat an operator', 'M 0 0 1 1 2 2 Q 3 3 4 4 5 5 6 6', 'MLLQQ', undefined],
    ['S and then M: the second start counts', 'S 9 9 M 1 2 L 3 4', 'ML', [1, 2, 3, 4]],
    ['a start alone draws nothing', 'M 1 2', '', []],
    ['a start closed at once is a point', 'M 1 2 C C M 3 4 L 5 6', 'MLCML', [1, 2, 1, 2, 3, 4, 5, 6]],
    ['after closing, a line goes on from the start', 'M 1 2 L 3 4 C L 5 6', 'MLCML', [1, 2, 3, 4, 1, 2, 5, 6]],
    ['a line without a start is one', 'L 1 2 L 3 4', 'ML', [1, 2, 3, 4]],
    ['a curve without a start begins at its first point', 'B 1 1 2 2 3 3', 'MB', [1, 1, 1, 1, 2, 2, 3, 3]],
  ])('reads %s', (_, data, expected, coordinates) => {
    const { path, dropped } = parsePathData(data);
    expect(verbs(path)).toBe(expected);
    if (coordinates !== undefined) expect(path.coordinates).toEqual(coordinates);
    expect(dropped).toBe(0);
  });

  it.each([
    ['operands are missing', 'M 0 0 L 5 L 1 1', 'ML', [0, 0, 1, 1]],
    ['an operand is no number', 'M 0 0 L NaN 3 L 1 1', 'ML', [0, 0, 1, 1]],
    ['an operand is absurd', 'M 0 0 L 1e300 3 L 1 1', 'ML', [0, 0, 1, 1]],
    ['the operator does not exist', 'M 0 0 X 5 5 L 1 1', 'ML', [0, 0, 1, 1]],
  ])('drops a command where %s', (_, data, expected, coordinates) => {
    const { path, dropped } = parsePathData(data);
    expect(verbs(path)).toBe(expected);
    expect(path.coordinates).toEqual(coordinates);
    expect(dropped).toBe(1);
  });
});

describe('arcs', () => {
  const end = (path: Path): number[] => path.coordinates.slice(-2);

  it('go clockwise over the top for sweep 1', () => {
    // Half a circle from (0,10) to (20,10): with y down, clockwise from the left end passes y = 0.
    const { path } = parsePathData('M 0 10 A 10 10 0 0 1 20 10');
    expect(verbs(path)).toBe('MBB');
    expect(path.coordinates[6]).toBeCloseTo(10);
    expect(path.coordinates[7]).toBeCloseTo(0);
    expect(end(path)).toEqual([20, 10]);
  });

  it('go anticlockwise below for sweep 0', () => {
    expect(parsePathData('M 0 10 A 10 10 0 0 0 20 10').path.coordinates[7]).toBeCloseTo(20);
  });

  it('take the long way round where large says so', () => {
    const { path } = parsePathData('M 10 0 A 10 10 0 1 1 0 10');
    expect(verbs(path)).toBe('MBBB');
    const box = path.controlBounds()!;
    expect(box.x + box.width).toBeCloseTo(20, 1);
    expect(box.y).toBeCloseTo(0, 1);
    expect(box.y + box.height).toBeCloseTo(20, 1);
  });

  it('stretch radii that are too short', () => {
    expect(parsePathData('M 0 0 A 1 1 0 0 1 20 0').path.coordinates[7]).toBeCloseTo(-10);
  });

  it('are turned by the angle, modulo 360', () => {
    const turned = parsePathData('M 0 0 A 10 5 90 0 1 0 20').path.coordinates;
    const more = parsePathData('M 0 0 A 10 5 450 0 1 0 20').path.coordinates;
    expect(turned[6]).toBeCloseTo(5);
    expect(turned[7]).toBeCloseTo(10);
    expect(more.map(rounded)).toEqual(turned.map(rounded));
  });

  it('are lines for a radius of 0 and nothing where they go nowhere', () => {
    expect(verbs(parsePathData('M 0 0 A 0 5 0 0 1 20 0').path)).toBe('ML');
    expect(verbs(parsePathData('M 0 0 A 5 5 0 0 1 0 0').path)).toBe('');
  });
});
