/** XML parts as trees that forgive what producers get wrong: names without prefix, numbers in any spelling. */
import { SaxesParser } from 'saxes';
import type { Box, Matrix, Point } from '../display/geometry.js';
import type { Report } from '../display/list.js';
import type { OfdLimits } from './limits.js';
import { scanMarkup } from './xml-salvage.js';
import { decodeXml } from './xml-text.js';

const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
/** Far more names than the format has; a part that makes up names does not fill the memory with them. */
const MAX_KEPT_NAMES = 4096;
const NO_CHILDREN: readonly XmlElement[] = Object.freeze([]);

/**
 * An element. Names are local names (prefixes are dropped, of attributes too; namespace declarations are not kept).
 * Every getter of an attribute gives undefined where the attribute is absent or cannot be read as that type.
 */
export class XmlElement {
  readonly name: string;
  readonly children: readonly XmlElement[];
  /** Character data and CDATA, concatenated and raw; '' where there is only white space between child elements. */
  readonly text: string;
  /** Name, value, name, value …: a list takes a fraction of the room of a map, and elements have few attributes. */
  readonly #attributes: readonly string[];

  constructor(name: string, attributes: readonly string[], children: readonly XmlElement[], text: string) {
    this.name = name;
    this.children = children;
    this.text = text;
    this.#attributes = attributes;
  }

  /** The value as written (entities resolved), not trimmed. */
  attribute(name: string): string | undefined {
    const list = this.#attributes;
    for (let i = 0; i < list.length; i += 2) {
      if (list[i] === name) return list[i + 1];
    }
    return undefined;
  }

  /** Names of all attributes, in document order. */
  attributeNames(): string[] {
    return this.#attributes.filter((_, i) => i % 2 === 0);
  }

  /** The first child of that name. */
  child(name: string): XmlElement | undefined {
    return this.children.find((child) => child.name === name);
  }

  /** All children of that name, in document order. */
  childrenNamed(name: string): XmlElement[] {
    return this.children.filter((child) => child.name === name);
  }

  /** Text of the first child of that name, trimmed; undefined where there is no such child. */
  childText(name: string): string | undefined {
    return this.child(name)?.text.trim();
  }

  /** A finite number (`.5`, `5.`, `1e-3`, `+3`, blanks around). */
  number(name: string): number | undefined {
    const value = this.attribute(name);
    return value === undefined ? undefined : parseNumber(value);
  }

  /** A whole number; `255.0` counts, a fraction is rounded. */
  integer(name: string): number | undefined {
    const value = this.number(name);
    return value === undefined ? undefined : Math.round(value);
  }

  /** `true`, `1`, `yes` and `false`, `0`, `no`, in any case. */
  boolean(name: string): boolean | undefined {
    const value = this.attribute(name)?.trim().toLowerCase();
    if (value === 'true' || value === '1' || value === 'yes') return true;
    if (value === 'false' || value === '0' || value === 'no') return false;
    return undefined;
  }

  /** ST_Box `x y w h`. Missing or unreadable members are 0, sizes may be negative or 0; fewer than two members: undefined. */
  box(name: string): Box | undefined {
    const list = this.array(name);
    if (list === undefined || list.length < 2) return undefined;
    const [x = 0, y = 0, width = 0, height = 0] = list;
    return { x, y, width, height };
  }

  /** ST_Pos `x y`; undefined where there are fewer than two members. */
  position(name: string): Point | undefined {
    const [x, y] = this.array(name) ?? [];
    return x === undefined || y === undefined ? undefined : { x, y };
  }

  /** ST_Array of numbers; see `parseNumbers`. */
  array(name: string): number[] | undefined {
    const value = this.attribute(name);
    return value === undefined ? undefined : parseNumbers(value);
  }

  /** The first six members of an ST_Array; undefined where fewer. */
  matrix(name: string): Matrix | undefined {
    const [a, b, c, d, e, f] = this.array(name) ?? [];
    if (a === undefined || b === undefined || c === undefined) return undefined;
    return d === undefined || e === undefined || f === undefined ? undefined : [a, b, c, d, e, f];
  }

  /** ST_ID, ST_RefID or an xs:ID: trimmed, undefined where empty. */
  id(name: string): string | undefined {
    return this.attribute(name)?.trim() || undefined;
  }
}

/** A finite decimal number with blanks around, or undefined. */
export function parseNumber(text: string): number | undefined {
  const trimmed = text.trim();
  if (!NUMBER.test(trimmed)) return undefined;
  const value = Number(trimmed);
  return Number.isFinite(value) ? value : undefined;
}

/**
 * Numbers separated by blanks or commas. A member that is no number (`NaN`, `null`) is 0, so that the others keep their
 * places; undefined where no member is a number.
 */
export function parseNumbers(text: string): number[] | undefined {
  const numbers: number[] = [];
  let hasNumber = false;
  for (const token of text.split(/[\s,]+/)) {
    if (token === '') continue;
    const value = parseNumber(token);
    hasNumber ||= value !== undefined;
    numbers.push(value ?? 0);
  }
  return hasNumber ? numbers : undefined;
}

/**
 * Parses one part. Never throws for bad content: what is malformed is read as far as it goes and reported
 * (`xml_malformed`, naming `part`); undefined where nothing can be read, or past a limit (`xml_too_large`).
 * No document type, no entity beyond the five and character references.
 */
export function parseXml(bytes: Uint8Array, part: string, limits: OfdLimits, report: Report): XmlElement | undefined {
  try {
    if (bytes.length > limits.maxXmlBytes) {
      throw new LimitReached(`${bytes.length} bytes of XML, more than ${limits.maxXmlBytes}`);
    }
    const { text, fault } = decodeXml(bytes);
    if (fault !== undefined) report({ code: 'xml_encoding', part, message: `${part}: ${fault}` });
    return parseText(text, part, limits, report);
  } catch (error) {
    if (!(error instanceof LimitReached)) throw error;
    report({ code: 'xml_too_large', part, message: `${part} is not read: ${error.message}` });
    return undefined;
  }
}

function parseText(text: string, part: string, limits: OfdLimits, report: Report): XmlElement | undefined {
  try {
    return parseStrictly(text, limits);
  } catch (error) {
    if (error instanceof LimitReached) throw error;
    const root = parseLeniently(text, limits);
    const reason = error instanceof Error ? error.message : String(error);
    const outcome = root === undefined ? 'nothing in it can be read' : 'read as far as it makes sense';
    report({ code: 'xml_malformed', part, message: `${part} is not well-formed XML (${reason}); ${outcome}` });
    return root;
  }
}

/** Throws at the first thing that is not well-formed. Prefixes are not resolved: the parser's own way is quadratic. */
function parseStrictly(text: string, limits: OfdLimits): XmlElement | undefined {
  const tree = new TreeBuilder(limits);
  const parser = new SaxesParser({ xmlns: false });
  parser.on('attribute', ({ name, value }) => tree.attribute(name, value));
  parser.on('opentag', ({ name }) => tree.open(name));
  parser.on('text', (characters) => tree.text(characters));
  parser.on('cdata', (characters) => tree.text(characters));
  parser.on('closetag', () => tree.closeInnermost());
  parser.write(text).close();
  return tree.finish();
}

function parseLeniently(text: string, limits: OfdLimits): XmlElement | undefined {
  const tree = new TreeBuilder(limits);
  scanMarkup(text, tree);
  return tree.finish();
}

class LimitReached extends Error {}

interface Frame {
  /** With prefix, as closing tags have it. */
  name: string;
  attributes: readonly string[];
  children: XmlElement[] | undefined;
  text: string;
}

/** Builds elements when they close, from frames that are used again. */
class TreeBuilder {
  readonly #limits: OfdLimits;
  readonly #frames: Frame[] = [];
  readonly #localNames = new Map<string, string>();
  #depth = 0;
  #elements = 0;
  #attributes = 0;
  #pending: string[] = [];
  #root: XmlElement | undefined;

  constructor(limits: OfdLimits) {
    this.#limits = limits;
  }

  attribute(name: string, value: string): void {
    if (name === 'xmlns' || name.startsWith('xmlns:')) return;
    if (++this.#attributes > this.#limits.maxXmlAttributes) {
      throw new LimitReached(`more than ${this.#limits.maxXmlAttributes} attributes`);
    }
    this.#pending.push(this.#localName(name), value);
  }

  open(name: string): void {
    if (this.#depth >= this.#limits.maxXmlDepth) {
      throw new LimitReached(`elements nest deeper than ${this.#limits.maxXmlDepth}`);
    }
    if (++this.#elements > this.#limits.maxXmlElements) {
      throw new LimitReached(`more than ${this.#limits.maxXmlElements} elements`);
    }
    let frame = this.#frames[this.#depth++];
    if (frame === undefined) {
      frame = { name, attributes: [], children: undefined, text: '' };
      this.#frames.push(frame);
    }
    frame.name = name;
    frame.attributes = this.#pending;
    frame.children = undefined;
    frame.text = '';
    this.#pending = [];
  }

  text(characters: string): void {
    if (this.#depth > 0) this.#frames[this.#depth - 1]!.text += characters;
  }

  /** Closes the innermost open element of that name and all within it; nothing where none is open. */
  close(name: string): void {
    let depth = this.#depth;
    while (depth > 0 && this.#frames[depth - 1]!.name !== name) depth--;
    if (depth === 0) return;
    while (this.#depth >= depth) this.closeInnermost();
  }

  closeInnermost(): void {
    const frame = this.#frames[--this.#depth]!;
    const { children } = frame;
    const text = children !== undefined && frame.text.trim() === '' ? '' : frame.text;
    const element = new XmlElement(this.#localName(frame.name), frame.attributes, children ?? NO_CHILDREN, text);
    if (this.#depth === 0) this.#root ??= element;
    else {
      const parent = this.#frames[this.#depth - 1]!;
      if (parent.children === undefined) parent.children = [element];
      else parent.children.push(element);
    }
  }

  /** The first root, all that is open closed. */
  finish(): XmlElement | undefined {
    while (this.#depth > 0) this.closeInnermost();
    return this.#root;
  }

  #localName(name: string): string {
    let local = this.#localNames.get(name);
    if (local === undefined) {
      local = name.slice(name.lastIndexOf(':') + 1);
      if (this.#localNames.size < MAX_KEPT_NAMES) this.#localNames.set(name, local);
    }
    return local;
  }
}
