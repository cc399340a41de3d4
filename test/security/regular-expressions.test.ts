// Every regular expression of the product on texts that drive a backtracking matcher mad: the time grows with the length of
// the text, not with its square or worse.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createContext, Script } from 'node:vm';
import { expect, it } from 'vitest';

const SRC = fileURLToPath(new URL('../../src', import.meta.url));

interface Found {
  readonly place: string;
  readonly pattern: RegExp;
}

/** Comments, texts and patterns, as they follow each other. */
const TOKEN =
  /\/\/[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|(?<=[([{,;=:!&|?+~<>*%^]\s*|\b(?:return|case)\s+|=>\s*)\/(?![/*])((?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)\/([dgimsuvy]*)(?![\w/])/g;

function patternsOf(file: string): Found[] {
  const text = readFileSync(join(SRC, file), 'utf8');
  return [...text.matchAll(TOKEN)].flatMap((match): Found[] => {
    const [whole, body, flags] = match;
    if (body === undefined) return [];
    const line = text.slice(0, match.index).split('\n').length;
    return [{ place: `${file}:${line} ${whole}`, pattern: new RegExp(body, flags) }];
  });
}

/** Characters that the pattern names, and some of each class. */
function seedsOf({ source }: RegExp): string[] {
  const named = [...source.replaceAll(/\\[a-zA-Z]/g, '')].filter((character) => !'()[]{}?*+|^$\\'.includes(character));
  const common = ['a', 'A', '0', ' ', '\t', '\n', '.', '-', '_', '票', '/', '"', '='];
  const escaped = [...source.matchAll(/\\([^a-zA-Z0-9])/g)].map(([, character = '']) => character);
  return [...new Set([...named, ...escaped, ...common])].slice(0, 24);
}

/** Starts that lead into a pattern, its own literal beginning among them. */
function prefixesOf({ source }: RegExp): string[] {
  const literal = /^\^?((?:[\w<:" -]|\\[^a-zA-Z0-9])+)/.exec(source)?.[1]?.replaceAll('\\', '') ?? '';
  return [...new Set(['', literal])];
}

function textsOf(pattern: RegExp, length: number): string[] {
  const seeds = seedsOf(pattern);
  const units = [...seeds, ...seeds.slice(0, 8).flatMap((a) => seeds.slice(0, 8).map((b) => a + b))];
  return prefixesOf(pattern).flatMap((prefix) =>
    [...new Set(units)].map((unit) => `${prefix}${unit.repeat(Math.ceil(length / unit.length))}\u0000`),
  );
}

const LIMIT_MS = 2000;
const sandbox = createContext({ text: '', pattern: /a/ });
const script = new Script('text.replace(pattern, "")');

/** Milliseconds; the limit where it took longer. */
function timeOf(pattern: RegExp, text: string): number {
  Object.assign(sandbox, { text, pattern });
  const start = performance.now();
  try {
    script.runInContext(sandbox, { timeout: LIMIT_MS });
  } catch {
    return LIMIT_MS;
  }
  return performance.now() - start;
}

const SHORT = 4000;
/** What a pattern may take for a text of that length before it is looked at more closely. */
const NOTICED_MS = 4;

/** The text that makes the pattern slow, where there is one. */
function slowText(pattern: RegExp): string | undefined {
  for (const text of textsOf(pattern, SHORT)) {
    if (timeOf(pattern, text) < NOTICED_MS) continue;
    // Another program may have had the machine: only what is slow again and again is slow.
    const least = (given: string): number => Math.min(...[1, 2, 3].map(() => timeOf(pattern, given)));
    const unit = text.slice(0, -1);
    const short = least(text);
    const long = short < LIMIT_MS ? least(`${unit}${unit}${unit}${unit}\u0000`) : Number.POSITIVE_INFINITY;
    if (short >= NOTICED_MS && long > 8 * short) return `${JSON.stringify(text.slice(0, 40))} ${short} → ${long} ms`;
  }
  return undefined;
}

/** Patterns that see sound texts alone, by the place they stand in. */
const SOUND_TEXTS: readonly RegExp[] = [
  // After JSON.parse has read the text: no quotation mark is left open.
  /^config\/json-fault\.ts:\d+ \/"\[\^"/,
];

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
const patterns = files.flatMap(patternsOf);

it('finds what is slow', () => {
  expect(patterns.length).toBeGreaterThan(100);
  for (const slow of [/^(a+)+$/, /(\w+\s?)+:/, /\s+$/, /<a[^>]*>/, /(?:a|a)*b/])
    expect(slowText(slow), String(slow)).toBeDefined();
  for (const fast of [/^a+$/, /[a-z]+\d/y, /^\s*x/]) expect(slowText(fast), String(fast)).toBeUndefined();
});

it('no pattern of the product is', { timeout: 300_000 }, () => {
  const looked = patterns.filter(({ place }) => !SOUND_TEXTS.some((sound) => sound.test(place)));
  const slow = looked.flatMap(({ place, pattern }) => {
    const text = slowText(pattern);
    return text === undefined ? [] : [`${place}: ${text}`];
  });
  expect(slow).toEqual([]);
});
