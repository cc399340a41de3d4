/** Options of a conversion (contract B4): what each may be, and which pairs have a use for it. HTTP and command line share it. */
import type { FormatId } from '../formats.js';
import { parseColor } from './color.js';
import type { ConversionOptions } from './converter-types.js';
import { PageListError, parsePageList } from './page-list.js';
import { hasRoom, PAPER_NAMES, PaperError, parseMargins, parsePaper } from './paper.js';
import { WARNING_CODES } from './warning-codes.js';

export type OptionName = keyof ConversionOptions;

/** Options as a client gave them, not looked at yet; absent and undefined are the same. */
export type GivenOptions = { readonly [Name in OptionName]?: unknown };

/** Thrown for an option that cannot be; the message names it as the client spells it, its value and what would be right. */
export class OptionError extends Error {
  override readonly name = 'OptionError';
}

interface Rule {
  /** Inputs that have a use for it; all where absent. */
  readonly inputs?: readonly FormatId[];
  /** Outputs that have a use for it; all where absent. */
  readonly outputs?: readonly FormatId[];
  /** It is about pages, or what stands on them: of no use where there are none on the way. */
  readonly isOfPages?: true;
  /** What is wrong with a value; undefined where nothing is. */
  readonly fault: (value: unknown, to: FormatId) => string | undefined;
}

/** Formats that are made of pixels. */
const RASTER_FORMATS: readonly FormatId[] = ['png', 'jpeg', 'webp'];
/** The longest side that all of them can have. */
const LONGEST_SIDE_PX = 16_383;

/** Formats that flow until they are put on pages. */
const FLOWING_FORMATS: readonly FormatId[] = ['html', 'mhtml', 'md'];

const RULES: Readonly<Record<OptionName, Rule>> = {
  pages: { isOfPages: true, fault: pagesFault },
  dpi: { outputs: RASTER_FORMATS, fault: wholeNumberFault(36, 600) },
  width: { outputs: RASTER_FORMATS, fault: wholeNumberFault(1, LONGEST_SIDE_PX) },
  height: { outputs: RASTER_FORMATS, fault: wholeNumberFault(1, LONGEST_SIDE_PX) },
  background: { outputs: [...RASTER_FORMATS, 'svg'], fault: backgroundFault },
  quality: { outputs: ['jpeg', 'webp'], fault: wholeNumberFault(1, 100) },
  annotations: { inputs: ['ofd', 'pdf'], fault: flagFault },
  password: { inputs: ['pdf'], fault: passwordFault },
  paper: { inputs: FLOWING_FORMATS, isOfPages: true, fault: paperFault(parsePaper) },
  margins: { inputs: FLOWING_FORMATS, isOfPages: true, fault: paperFault(parseMargins) },
  landscape: { inputs: FLOWING_FORMATS, isOfPages: true, fault: flagFault },
  printBackground: { inputs: FLOWING_FORMATS, isOfPages: true, fault: flagFault },
  failOn: { fault: failOnFault },
};

export const OPTION_NAMES = Object.keys(RULES) as readonly OptionName[];

/** The name of an option as HTTP writes it. */
export function wireNameOf(name: OptionName): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The inputs and the outputs that have a use for an option; undefined for all. */
export function formatsOf(name: OptionName): Pick<Rule, 'inputs' | 'outputs'> {
  return RULES[name];
}

/** What is converted into what; `from` is undefined as long as nobody knows it. */
export interface Pair {
  readonly from: FormatId | undefined;
  readonly to: FormatId;
}

/**
 * The options that were given, all of them right and of use for the pair. Throws OptionError for the first that is not.
 *
 * @param spell how the client writes an option's name
 */
export function checkOptions(given: GivenOptions, pair: Pair, spell: (name: OptionName) => string): ConversionOptions {
  const { to } = pair;
  const names = OPTION_NAMES.filter((name) => given[name] !== undefined);
  for (const name of names) {
    const useless = uselessFor(RULES[name], pair);
    if (useless !== undefined) throw new OptionError(`${spell(name)} is of no use for ${useless}`);
    const found = RULES[name].fault(given[name], to);
    if (found !== undefined) throw new OptionError(`${spell(name)}: ${found}`);
  }
  const side = names.find((name) => name === 'width' || name === 'height');
  if (names.includes('dpi') && side !== undefined) {
    const both = `${spell('dpi')} and ${spell(side)}`;
    throw new OptionError(`${both} exclude each other: each decides how many pixels a page gets; leave one out`);
  }
  const options = Object.fromEntries(names.map((name) => [name, given[name]])) as ConversionOptions;
  const { paper, landscape, margins } = options;
  if (margins !== undefined && !hasRoom(paper, landscape, margins)) {
    throw new OptionError(`${spell('margins')}: "${margins}" leaves no room on ${paper ?? 'A4'}; write smaller ones`);
  }
  return options;
}

/** What an option has no use for, and what it belongs to; undefined where it fits. */
function uselessFor({ inputs, outputs, isOfPages }: Rule, { from, to }: Pair): string | undefined {
  if (outputs !== undefined && !outputs.includes(to)) return `${to}; it belongs to ${outputs.join(', ')}`;
  if (inputs !== undefined && from !== undefined && !inputs.includes(from)) {
    return `${from}; it belongs to input of ${inputs.join(', ')}`;
  }
  return isOfPages && from === 'md' && to === 'html' ? 'md to html, which has no pages' : undefined;
}

/**
 * What is wrong with a value whatever the output is, as `checkOptions` says it; undefined where nothing is.
 * @param name as HTTP writes it: `fail_on`
 */
export function optionFault(name: string, value: unknown): string | undefined {
  const own = OPTION_NAMES.find((candidate) => wireNameOf(candidate) === name);
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

function flagFault(value: unknown): string | undefined {
  return typeof value === 'boolean' ? undefined : instead(value, 'true or false');
}

const LONGEST_PASSWORD = 256;

/** Never shows the value. */
function passwordFault(value: unknown): string | undefined {
  const isRight = typeof value === 'string' && value.length > 0 && value.length <= LONGEST_PASSWORD;
  return isRight ? undefined : `write a text of 1 to ${LONGEST_PASSWORD} characters`;
}

function paperFault(parse: (text: string) => unknown): Rule['fault'] {
  return (value) => {
    if (typeof value !== 'string') {
      return instead(
        value,
        parse === parsePaper ? `${PAPER_NAMES.join(', ')} or "210x297"` : 'millimetres such as "20"',
      );
    }
    try {
      parse(value);
      return undefined;
    } catch (error) {
      if (error instanceof PaperError) return instead(value, error.message);
      throw error;
    }
  };
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
