/** The ICC profile of sRGB, which tells what the colours of a PDF/A mean. Version 4, as small as the format allows. */

/** Primaries as seen under D50, and the matrix that led there from D65. */
const RED = [0.43607, 0.22249, 0.01392];
const GREEN = [0.38515, 0.71687, 0.09708];
const BLUE = [0.14307, 0.06061, 0.7141];
const WHITE = [0.9642, 1, 0.8249];
const ADAPTATION = [1.04788, 0.02292, -0.05022, 0.02959, 0.99048, -0.01706, -0.00923, 0.01508, 0.75168];
/** Linear light of a value v: ((a·v + b) ^ g) from d on, c·v below. In the order g, a, b, c, d. */
const CURVE = [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045];

const HEADER_BYTES = 128;
const VERSION = 0x04200000;
const CURVE_OF_FIVE = 3;

export const PROFILE_NAME = 'sRGB IEC61966-2.1';

/** The profile's bytes, the same each time. */
export function srgbProfile(): Buffer {
  const curve = parametricCurve();
  const tags: (readonly [string, Buffer])[] = [
    ['desc', unicodeText(PROFILE_NAME)],
    ['cprt', unicodeText('Public domain')],
    ['wtpt', numbers('XYZ ', WHITE)],
    ['chad', numbers('sf32', ADAPTATION)],
    ['rXYZ', numbers('XYZ ', RED)],
    ['gXYZ', numbers('XYZ ', GREEN)],
    ['bXYZ', numbers('XYZ ', BLUE)],
    ['rTRC', curve],
    ['gTRC', curve],
    ['bTRC', curve],
  ];
  const table = Buffer.alloc(4 + 12 * tags.length);
  table.writeUInt32BE(tags.length);
  const elements: Buffer[] = [];
  const places = new Map<Buffer, number>();
  let end = HEADER_BYTES + table.length;
  for (const [index, [name, element]] of tags.entries()) {
    if (!places.has(element)) {
      places.set(element, end);
      elements.push(element);
      end += element.length;
    }
    table.write(name, 4 + 12 * index, 'latin1');
    table.writeUInt32BE(places.get(element)!, 8 + 12 * index);
    table.writeUInt32BE(element.length, 12 + 12 * index);
  }
  return Buffer.concat([header(end), table, ...elements]);
}

function header(sizeBytes: number): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES);
  bytes.writeUInt32BE(sizeBytes);
  bytes.writeUInt32BE(VERSION, 8);
  bytes.write('mntrRGB XYZ ', 12, 'latin1');
  // The day of the standard; the profile does not change.
  for (const [i, part] of [1999, 10, 18].entries()) bytes.writeUInt16BE(part, 24 + 2 * i);
  bytes.write('acsp', 36, 'latin1');
  WHITE.forEach((value, i) => {
    bytes.writeInt32BE(fixed(value), 68 + 4 * i);
  });
  return bytes;
}

function parametricCurve(): Buffer {
  const curve = numbers('para', [0, ...CURVE]);
  curve.writeUInt16BE(CURVE_OF_FIVE, 8);
  return curve;
}

/** An element of numbers with sixteen bits before and after the point. */
function numbers(type: string, values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(8 + 4 * values.length);
  bytes.write(type, 'latin1');
  values.forEach((value, i) => {
    bytes.writeInt32BE(fixed(value), 8 + 4 * i);
  });
  return bytes;
}

function fixed(value: number): number {
  return Math.round(value * 65536);
}

/** One ASCII text, said to be American English; elements begin on four bytes. */
function unicodeText(text: string): Buffer {
  const bytes = Buffer.alloc(28 + 4 * Math.ceil(text.length / 2));
  bytes.write('mluc', 'latin1');
  bytes.writeUInt32BE(1, 8);
  bytes.writeUInt32BE(12, 12);
  bytes.write('enUS', 16, 'latin1');
  bytes.writeUInt32BE(2 * text.length, 20);
  bytes.writeUInt32BE(28, 24);
  for (let i = 0; i < text.length; i++) bytes.writeUInt16BE(text.charCodeAt(i), 28 + 2 * i);
  return bytes;
}
