/**
 * Glyph names: the first 229 standard strings of CFF (which name all Latin glyphs), their characters, and the
 * Standard Encoding that accented glyphs are put together by.
 */

const NAMES =
  `.notdef space exclam quotedbl numbersign dollar percent ampersand quoteright parenleft parenright asterisk plus
  comma hyphen period slash zero one two three four five six seven eight nine colon semicolon less equal greater
  question at A B C D E F G H I J K L M N O P Q R S T U V W X Y Z bracketleft backslash bracketright asciicircum
  underscore quoteleft a b c d e f g h i j k l m n o p q r s t u v w x y z braceleft bar braceright asciitilde
  exclamdown cent sterling fraction yen florin section currency quotesingle quotedblleft guillemotleft guilsinglleft
  guilsinglright fi fl endash dagger daggerdbl periodcentered paragraph bullet quotesinglbase quotedblbase
  quotedblright guillemotright ellipsis perthousand questiondown grave acute circumflex tilde macron breve dotaccent
  dieresis ring cedilla hungarumlaut ogonek caron emdash AE ordfeminine Lslash Oslash OE ordmasculine ae dotlessi
  lslash oslash oe germandbls onesuperior logicalnot mu trademark Eth onehalf plusminus Thorn onequarter divide
  brokenbar degree thorn threequarters twosuperior registered minus eth multiply threesuperior copyright Aacute
  Acircumflex Adieresis Agrave Aring Atilde Ccedilla Eacute Ecircumflex Edieresis Egrave Iacute Icircumflex Idieresis
  Igrave Ntilde Oacute Ocircumflex Odieresis Ograve Otilde Scaron Uacute Ucircumflex Udieresis Ugrave Yacute Ydieresis
  Zcaron aacute acircumflex adieresis agrave aring atilde ccedilla eacute ecircumflex edieresis egrave iacute
  icircumflex idieresis igrave ntilde oacute ocircumflex odieresis ograve otilde scaron uacute ucircumflex udieresis
  ugrave yacute ydieresis zcaron`.split(/\s+/);

/** The characters of the names after .notdef, in the same order. */
const CHARACTERS = [
  ...' !"#$%&’()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_‘abcdefghijklmnopqrstuvwxyz{|}~',
  ..."¡¢£⁄¥ƒ§¤'“«‹›ﬁﬂ–†‡·¶•‚„”»…‰¿`´ˆ˜¯˘˙¨˚¸˝˛ˇ—ÆªŁØŒºæıłøœß¹¬µ™Ð½±Þ¼÷¦°þ¾²®−ð×³©ÁÂÄÀÅÃÇÉÊËÈÍÎÏÌÑÓÔÖÒÕŠÚÛÜÙÝŸŽ",
  ...'áâäàåãçéêëèíîïìñóôöòõšúûüùýÿž',
];

/** Strings from 391 on are the font's own; those between are expert glyphs that no document of ours has. */
export const STANDARD_STRING_COUNT = 391;

const characterOfName = new Map(NAMES.slice(1).map((name, i) => [name, CHARACTERS[i]!.codePointAt(0)!]));

/** The name of a standard string; '' beyond the Latin ones. */
export function standardString(sid: number): string {
  return NAMES[sid] ?? '';
}

/** The character that a glyph name means: standard names, `uni4E2D`, `u1F600`; a suffix after a point is ignored. */
export function characterOfGlyphName(name: string): number | undefined {
  const base = name.split('.', 1)[0]!;
  const known = characterOfName.get(base);
  if (known !== undefined) return known;
  const hex = /^(?:uni([0-9A-F]{4})|u([0-9A-F]{4,6}))$/.exec(base);
  if (hex === null) return undefined;
  const codePoint = Number.parseInt(hex[1] ?? hex[2]!, 16);
  return codePoint <= 0x10ffff ? codePoint : undefined;
}

/** First code of each unbroken run of the Standard Encoding's upper half, with the string it starts at and its length. */
const UPPER_RUNS: readonly (readonly [code: number, sid: number, length: number])[] = [
  [161, 96, 15],
  [177, 111, 4],
  [182, 115, 8],
  [191, 123, 1],
  [193, 124, 8],
  [202, 132, 2],
  [205, 134, 4],
  [225, 138, 1],
  [227, 139, 1],
  [232, 140, 4],
  [241, 144, 1],
  [245, 145, 1],
  [248, 146, 4],
];

/** String id of a code of the Standard Encoding, 0 where it has none. */
export function standardEncodingSid(code: number): number {
  if (code >= 32 && code <= 126) return code - 31;
  for (const [first, sid, length] of UPPER_RUNS) {
    if (code >= first && code < first + length) return sid + code - first;
  }
  return 0;
}
