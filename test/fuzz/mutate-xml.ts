/** Damage to XML parts that leaves them XML, mostly: attributes, numbers, path data, elements. */
import type { Numbers } from './numbers.js';

const ODD_VALUES = [
  ...['', ' ', '0', '-0', '1', '-1', '.', '0.5', '1e-9', '1e9', '-1e9', '1e308', '1e-308', 'NaN', 'Infinity', 'null'],
  ...['true', 'false', '65536', '4294967296', '99999999999999999999', '#FF', '#', '255 0 0', '0 0 0 0', '1 1'],
  ...['0 0 0 0 0 0', '1 0 0 1 0 0', '1e9 0 0 1e-9 0 0', '-1 0 0 -1 0 0', '0 0 1000000 1000000', '-5 -5 -5 -5'],
  ...['g 1000000 1', 'g 3', 'g g g', 'g -1 5', 'g 2 1e9 g 2 -1e9', '\u0000', '中文', '../../..', '/', 'Res/../Res/a'],
  ...['M 0 0 A 1e9 1e-9 720 1 1 5 5 C', 'B B B', 'M 1 1 L', 'S 0 0 M 1 1 C C C', 'M 0 0 Q 1e9 1e9 0 0'],
] as const;
const ODD_FACTORS = [-1, 0, 0.001, 0.5, 2, 10, 1000, 1e6, 1e12] as const;
const ATTRIBUTES = [
  ...['Alpha', 'Boundary', 'CTM', 'Visible', 'DrawParam', 'LineWidth', 'DashPattern', 'DashOffset', 'MiterLimit'],
  ...['Size', 'HScale', 'ReadDirection', 'CharDirection', 'Weight', 'Italic', 'DeltaX', 'DeltaY', 'Value', 'Index'],
  ...['ColorSpace', 'XStep', 'YStep', 'Width', 'Height', 'ReflectMethod', 'RelativeTo', 'MapType', 'MapUnit'],
  ...['Extend', 'Eccentricity', 'Angle', 'EdgeFlag', 'VerticesPerRow', 'X', 'Y', 'ResourceID', 'ImageMask', 'Relative'],
  ...['Substitution', 'BitsPerComponent', 'CodePosition', 'CodeCount', 'GlyphCount', 'TransFlag', 'BlendMode', 'Type'],
] as const;
const ELEMENTS = [
  ...['Clips', 'Clip', 'Area', 'Path', 'Text', 'FillColor', 'StrokeColor', 'Pattern', 'CellContent', 'AxialShd'],
  ...['RadialShd', 'GouraudShd', 'LaGourandShd', 'Segment', 'Color', 'Point', 'PageBlock', 'Layer', 'PathObject'],
  ...['TextObject', 'ImageObject', 'CompositeObject', 'Border', 'CGTransform', 'TextCode', 'Content', 'Template'],
] as const;
/** Longer results than this show nothing that shorter ones do not. */
const MAX_LENGTH = 400_000;

interface Span {
  readonly start: number;
  readonly end: number;
  /** Where content may be put in. */
  readonly inside: number;
}

/** A changed copy of the text of a part. */
export function mutateXml(xml: string, numbers: Numbers): string {
  let text = xml;
  for (let count = 1 + numbers.below(numbers.pick([1, 3, 10])); count > 0; count--) text = change(text, numbers);
  return text.length > MAX_LENGTH ? xml : text;
}

function change(xml: string, numbers: Numbers): string {
  const kind = numbers.below(10);
  if (kind < 5) return changeValue(xml, numbers);
  if (kind < 6) return addAttribute(xml, numbers);
  if (kind < 7 && numbers.once(4)) return tear(xml, numbers);
  return changeElements(xml, numbers);
}

/** A value or a text becomes another one, or one of its numbers does. */
function changeValue(xml: string, numbers: Numbers): string {
  const places = [...xml.matchAll(/ [\w:.-]+="([^"]*)"|>([^<>]+)</g)];
  if (places.length === 0) return xml;
  const place = numbers.pick(places);
  const old = place[1] ?? place[2] ?? '';
  const at = place.index + place[0].length - 1 - old.length;
  return xml.slice(0, at) + otherValue(old, places, numbers) + xml.slice(at + old.length);
}

function otherValue(old: string, places: readonly RegExpExecArray[], numbers: Numbers): string {
  const kind = numbers.below(5);
  if (kind === 0) return numbers.pick(ODD_VALUES);
  if (kind === 1) {
    const other = numbers.pick(places);
    return other[1] ?? other[2] ?? '';
  }
  if (kind === 2) {
    const tokens = old.split(/(\s+)/);
    tokens.splice(
      numbers.below(tokens.length),
      1 + numbers.below(3),
      ...(numbers.once(2) ? [] : [numbers.pick(ODD_VALUES)]),
    );
    return tokens.join('');
  }
  const found = [...old.matchAll(/-?\d+(?:\.\d+)?/g)];
  if (found.length === 0) return numbers.pick(ODD_VALUES);
  const number = numbers.pick(found);
  const changed = numbers.once(3)
    ? Number(number[0]) + numbers.below(5) - 2
    : Number(number[0]) * numbers.pick(ODD_FACTORS);
  return old.slice(0, number.index) + changed + old.slice(number.index + number[0].length);
}

function addAttribute(xml: string, numbers: Numbers): string {
  const tags = [...xml.matchAll(/<[A-Za-z][\w:.-]*/g)];
  if (tags.length === 0) return xml;
  const tag = numbers.pick(tags);
  const at = tag.index + tag[0].length;
  return `${xml.slice(0, at)} ${numbers.pick(ATTRIBUTES)}="${numbers.pick(ODD_VALUES)}"${xml.slice(at)}`;
}

/** What no parser takes for XML. */
function tear(xml: string, numbers: Numbers): string {
  const at = numbers.below(xml.length + 1);
  if (numbers.once(2)) return xml.slice(0, at) + xml.slice(at + 1 + numbers.below(40));
  return (
    xml.slice(0, at) +
    numbers.pick(['<', '>', '&', '"', ']]>', '<![CDATA[', '<!--', '&#0;', '</', '\ufffe']) +
    xml.slice(at)
  );
}

function changeElements(xml: string, numbers: Numbers): string {
  const spans = spansOf(xml);
  if (spans.length < 2) return xml;
  const { start, end, inside } = spans[1 + numbers.below(spans.length - 1)]!;
  const other = numbers.pick(spans);
  const element = xml.slice(start, end);
  const outer = [xml.slice(0, start), xml.slice(end)] as const;
  switch (numbers.below(7)) {
    case 0:
      return outer.join('');
    case 1:
      return outer.join(element.repeat(2 + numbers.below(numbers.pick([2, 40]))));
    case 2:
      return xml.slice(0, inside) + xml.slice(other.start, other.end) + xml.slice(inside);
    case 3:
      return outer.join(xml.slice(other.start, other.end));
    case 4: {
      const name = numbers.pick(ELEMENTS);
      const depth = 1 + numbers.below(numbers.pick([1, 70, 300]));
      return outer.join(`<${name}>`.repeat(depth) + element + `</${name}>`.repeat(depth));
    }
    case 5:
      return outer.join(`<${numbers.pick(ELEMENTS)}>${xml.slice(inside, end)}`);
    default:
      return outer.join(renamed(element, numbers.pick(ELEMENTS)));
  }
}

function renamed(element: string, name: string): string {
  return element.replace(/^<[\w:.-]+/, `<${name}`).replace(/<\/[\w:.-]+>$/, `</${name}>`);
}

/** All elements, the root first. */
function spansOf(xml: string): Span[] {
  const spans: { start: number; end: number; inside: number }[] = [];
  const open: number[] = [];
  for (const tag of xml.matchAll(/<(\/?)[A-Za-z][\w:.-]*[^<>]*?(\/?)>/g)) {
    const end = tag.index + tag[0].length;
    if (tag[1] === '/') {
      const span = open.pop();
      if (span !== undefined) spans[span]!.end = end;
      continue;
    }
    if (tag[2] !== '/') open.push(spans.length);
    spans.push({ start: tag.index, end, inside: tag[2] === '/' ? end : end });
  }
  return spans;
}
