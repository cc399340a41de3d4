/** Options of a conversion (contract B4): what each may be, and which outputs have a use for it. HTTP and command line share it. */
import type { FormatId } from '../formats.js';
import { parseColor } from './color.js';
import type { ConversionOptions } from './converter-types.js';
import { PageListError, parsePageList } from './page-list.js';
import { WARNING_CODES } from './warning-codes.js';

export type OptionName = keyof ConversionOptions;

/** Options as a client gave them, not looked at yet; absent and undefined are the same. */
export type GivenOptions = { readonly [Name in OptionName]?: unknown };

/** Thrown for an option that cannot be; the message names it as the client spells it, its value and what would be right. */
export class OptionError extends Error {
  override readonly name = 'OptionError';
}

interface Rule {
  /** Outputs that have a use for it; all where absent. */
  readonly outputs?: readonly FormatId[];
  /** What is wrong with a value; undefined where nothing is. */
  readonly fault: (value: unknown, to: FormatId) => string | undefined;
}

/** Formats that are made of pixels. */
const RASTER_FORMATS: readonly FormatId[] = ['png', 'jpeg', 'webp'];
/** The longest side that all of them can have. */
const LONGEST_SIDE_PX = 16_383;

const RULES: Readonly<Record<OptionName, Rule>> = {
  pages: { fault: pagesFault },
  dpi: { outputs: RASTER_FORMATS, fault: wholeNumberFault(36, 600) },
  width: { outputs: RASTER_FORMATS, fault: wholeNumberFault(1, LONGEST_SIDE_PX) },
  height: { outputs: RASTER_FORMATS, fault: wholeNumberFault(1, LONGEST_SIDE_PX) },
  background: { outputs: [...RASTER_FORMATS, 'svg'], fault: backgroundFault },
  quality: { outputs: ['jpeg', 'webp'], fault: wholeNumberFault(1, 100) },
  annotations: { fault: (value) => (typeof value === 'boolean' ? undefined : instead(value, 'true or false')) },
  failOn: { fault: failOnFault },
};

export const OPTION_NAMES = Object.keys(RULES) as readonly OptionName[];

/** The outputs that have a use for an option; undefined for all. */
export function formatsOf(name: OptionName): readonly FormatId[] | undefined {
  return RULES[name].outputs;
}

/**
 * The options that were given, all of them right and of use for `to`. Throws OptionError for the first that is not.
 *
 * @param spell how the client writes an option's name
 */
export function checkOptions(
  given: GivenOptions,
  to: FormatId,
  spell: (name: OptionName) => string,
): ConversionOptions {
  const names = OPTION_NAMES.filter((name) => given[name] !== undefined);
  for (const name of names) {
    const { outputs, fault } = RULES[name];
    if (outputs !== undefined && !outputs.includes(to)) {
      throw new OptionError(`${spell(name)} is of no use for ${to}; it belongs to ${outputs.join(', ')}`);
    }
    const found = fault(given[name], to);
    if (found !== undefined) throw new OptionError(`${spell(name)}: ${found}`);
  }
  const side = names.find((name) => name === 'width' || name === 'height');
  if (names.includes('dpi') && side !== undefined) {
    const both = `${spell('dpi')} and ${spell(side)}`;
    throw new OptionError(`${both} exclude each other: each decides how many pixels a page gets; leave one out`);
  }
  return Object.fromEntries(names.map((name) => [name, given[name]])) as ConversionOptions;
}

/**
 * What is wrong with a value whatever the output is, as `checkOptions` says it; undefined where nothing is.
 * @param name as HTTP writes it: `fail_on`
 */
export function optionFault(name: string, value: unknown): string | undefined {
  const own = name === 'fail_on' ? 'failOn' : OPTION_NAMES.find((candidate) => candidate === name);
  return own && RULES[own].fault(value, 'png');
}

const LONGEST_SHOWN = 100;

function instead(value: unknown, wanted: string): string {
  const shown = jsonOf(value);
  const cut = shown.length > LONGEST_SHOWN ? `${shown.slice(0, LONGEST_SHOWN)}…` : shown;
  return `${cut} is not allowed; write ${wanted}`;
}

function jsonOf(value: unknown): string {
  // What 1e400 is read as has no JSON.
  if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY) return String(value);
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    // Nested deeper than the call stack reaches.
    return 'this value';
  }
}

function wholeNumberFault(least: number, most: number): Rule['fault'] {
  return (value) => {
    const isRight = Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
    return isRight ? undefined : instead(value, `a whole number from ${least} to ${most}`);
  };
}

function pagesFault(value: unknown): string | undefined {
  if (typeof value !== 'string') return instead(value, 'pages such as "1-3,7"');
  try {
    parsePageList(value);
    return undefined;
  } catch (error) {
    if (error instanceof PageListError) return error.message;
    throw error;
  }
}

function backgroundFault(value: unknown, to: FormatId): string | undefined {
  const color = typeof value === 'string' ? parseColor(value) : undefined;
  if (color === undefined) {
    const forms =
      to === 'jpeg' ? 'an opaque colour such as "#fff"' : 'a colour such as "#fff" or "#ffffff80", or "transparent"';
    return instead(value, forms);
  }
  return to === 'jpeg' && color.alpha < 1
    ? instead(value, 'an opaque colour such as "#fff": jpeg has no other')
    : undefined;
}

function failOnFault(value: unknown): string | undefined {
  const isList = Array.isArray(value) && value.every((code) => typeof code === 'string');
  if (!isList) return instead(value, 'a list of warning codes such as ["font_substituted"]');
  const unknown = (value as readonly string[]).find((code) => !WARNING_CODES.includes(code));
  return unknown === undefined ? undefined : instead(unknown, `codes of warnings: ${WARNING_CODES.join(', ')}`);
}
