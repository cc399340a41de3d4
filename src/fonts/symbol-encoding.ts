/** Signs of Symbol and Wingdings as Unicode characters, for machines that have neither font (spec 7.8). */

export type SymbolEncoding = ReadonlyMap<number, number>;

/** Symbol, codes 0x21–0x7E and 0xA1–0xFE; a blank where nothing is common. */
const SYMBOL = tableOf([
  [0x21, '!∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼'],
  [0xa1, 'ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪'],
  [0xf1, '〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭'],
]);

/** Wingdings: the signs that forms and lists use. */
const WINGDINGS = tableOf([
  [0x22, '✂✁'],
  [0x28, '☎✆✉'],
  [0x36, '⌛⌨'],
  [0x3e, '✇✍'],
  [0x45, '☜☞☝☟'],
  [0x4a, '☺'],
  [0x4c, '☹'],
  [0x4e, '☠'],
  [0x51, '✈☼'],
  [0x54, '❄'],
  [0x6c, '●❍■□'],
  [0x71, '❑❒⬧⧫◆❖⬥⌧'],
  [0x80, '⓪①②③④⑤⑥⑦⑧⑨⑩⓿❶❷❸❹❺❻❼❽❾❿'],
  [0x9e, '·•'],
  [0xa1, '○'],
  [0xa4, '◉◎'],
  [0xa7, '▪◻'],
  [0xab, '★✶✴✹✵'],
  [0xd8, '➢'],
  [0xdf, '←→↑↓'],
  [0xe8, '➔'],
  [0xef, '⇦⇨⇧⇩⬄'],
  [0xfb, '✗✓☒☑'],
]);

function tableOf(runs: readonly (readonly [first: number, characters: string])[]): SymbolEncoding {
  const table = new Map<number, number>();
  for (const [first, characters] of runs) {
    Array.from(characters).forEach((character, i) => {
      table.set(first + i, character.codePointAt(0)!);
    });
  }
  return table;
}

/** The encoding that a font of one of these names (comparable form) has. */
export function symbolEncodingOf(names: readonly string[]): SymbolEncoding | undefined {
  if (names.some((name) => name.startsWith('wingdings'))) return WINGDINGS;
  return names.some((name) => name.startsWith('symbol')) ? SYMBOL : undefined;
}

/** The character for a code (0x00–0xFF or U+F000–U+F0FF) of the encoding. */
export function substituteSymbol(encoding: SymbolEncoding, codePoint: number): number | undefined {
  if (codePoint > 0xff && (codePoint < 0xf000 || codePoint > 0xf0ff)) return undefined;
  return encoding.get(codePoint & 0xff);
}
