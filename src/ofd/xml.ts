/** XML parts as trees that forgive what producers get wrong: names without prefix, numbers in any spelling. */
import type { Box, Matrix, Point } from '../display/geometry.js';
import type { Report } from '../display/list.js';
import type { OfdLimits } from './limits.js';

const NO_CHILDREN: readonly XmlElement[] = Object.freeze([]);

/**
 * An element. Names are local names (prefixes are dropped, of attributes too). Every getter of an attribute gives
 * undefined where the attribute is absent or cannot be read as that type.
 */
export class XmlElement {
  readonly name: string;
  readonly children: readonly XmlElement[] = NO_CHILDREN;
  /** Character data and CDATA, concatenated and raw; '' where there is only white space between child elements. */
  readonly text: string = '';
  readonly #attributes: Readonly<Record<string, string>>;

  constructor(name: string, attributes: Readonly<Record<string, string>>) {
    this.name = name;
    this.#attributes = attributes;
  }

  /** The value as written (entities resolved), not trimmed. */
  attribute(name: string): string | undefined {
    return this.#attributes[name];
  }

  /** Names of all attributes, in document order. */
  attributeNames(): string[] {
    return Object.keys(this.#attributes);
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
  number(_name: string): number | undefined {
    throw new Error('not written');
  }

  /** A whole number; `255.0` counts, a fraction is rounded. */
  integer(_name: string): number | undefined {
    throw new Error('not written');
  }

  /** `true`, `1`, `yes` and `false`, `0`, `no`, in any case. */
  boolean(_name: string): boolean | undefined {
    throw new Error('not written');
  }

  /** ST_Box `x y w h`. Missing or unreadable members are 0, sizes may be negative or 0; fewer than two numbers: undefined. */
  box(_name: string): Box | undefined {
    throw new Error('not written');
  }

  /** ST_Pos `x y`; undefined unless both can be read. */
  position(_name: string): Point | undefined {
    throw new Error('not written');
  }

  /**
   * ST_Array of numbers, separated by blanks or commas. A member that is no number (`NaN`, `null`) is 0; undefined where
   * no member is a number.
   */
  array(_name: string): number[] | undefined {
    throw new Error('not written');
  }

  /** Six numbers; undefined where fewer. */
  matrix(_name: string): Matrix | undefined {
    throw new Error('not written');
  }

  /** ST_ID, ST_RefID or an xs:ID: trimmed, undefined where empty. */
  id(_name: string): string | undefined {
    throw new Error('not written');
  }
}

/** Numbers separated by blanks or commas, as in `XmlElement.array`. */
export function parseNumbers(_text: string): number[] | undefined {
  throw new Error('not written');
}

/**
 * Parses one part. Never throws for bad content: what is malformed is read as far as it goes and reported
 * (`xml_malformed`, naming `part`); undefined where nothing can be read, or past a limit (`xml_too_large`).
 * No document type, no entity beyond the five and character references.
 */
export function parseXml(
  _bytes: Uint8Array,
  _part: string,
  _limits: OfdLimits,
  _report: Report,
): XmlElement | undefined {
  throw new Error('not written');
}
