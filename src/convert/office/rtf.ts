/**
 * Fields of an RTF document that LibreOffice would fetch something for (INCLUDEPICTURE loads any file of the machine,
 * whatever the settings say). Their instructions are blanked where they stand; only fields that are known to fetch
 * nothing keep theirs. Works on the bytes as Latin-1.
 */
import { type OnBlocked, UnreadablePart } from './external.js';

const HARMLESS = new Set(
  (
    'PAGE NUMPAGES SECTION SECTIONPAGES DATE TIME CREATEDATE SAVEDATE PRINTDATE EDITTIME AUTHOR TITLE SUBJECT KEYWORDS ' +
    'COMMENTS FILENAME FILESIZE DOCPROPERTY DOCVARIABLE INFO LASTSAVEDBY REVNUM USERNAME USERINITIALS USERADDRESS ' +
    'NUMCHARS NUMWORDS HYPERLINK REF PAGEREF NOTEREF FTNREF STYLEREF SET ASK FILLIN IF COMPARE QUOTE TOC TOA TC TA XE ' +
    'INDEX SEQ LISTNUM AUTONUM AUTONUMLGL AUTONUMOUT EQ SYMBOL ADVANCE MACROBUTTON GOTOBUTTON FORMTEXT FORMCHECKBOX ' +
    'FORMDROPDOWN MERGEFIELD MERGEREC MERGESEQ NEXT CITATION BIBLIOGRAPHY ADDRESSBLOCK GREETINGLINE PRIVATE ='
  ).split(' '),
);

/** Control words whose whole group is blanked: a template, a linked picture, a linked object. */
const DROPPED = new Set(['template', 'objautlink', 'objlink', 'objsub', 'linkself', 'datafield']);

/** A brace, or a backslash with what belongs to it. */
const TOKEN = /[{}]|\\(?:([a-zA-Z]{1,32})(-?\d{1,20})? ?|'([0-9a-fA-F]{2})|[^a-zA-Z'])/g;
const MOST_GROUPS = 10_000;
const LONGEST_INSTRUCTION = 4096;
/**
 * The letters in their order, whatever stands between them: which of the groups in an instruction LibreOffice counts to
 * it cannot be told here, so all of them are.
 */
const INCLUDING = ['INCLUDEPICTURE', 'INCLUDETEXT'];

interface Group {
  readonly at: number;
  /** Somewhere in an instruction. */
  readonly isWithin: boolean;
  isInstruction: boolean;
  isDropped: boolean;
  /** There was more of the text. */
  isCut: boolean;
  text: string;
}

/**
 * The document without such fields; undefined where there is nothing to change.
 * @throws UnreadablePart
 */
export function withoutFetchingFields(document: Buffer, onBlocked: OnBlocked): Buffer | undefined {
  const text = document.toString('latin1');
  const blanks: (readonly [from: number, to: number])[] = [];
  const open: Group[] = [];
  const close = (at: number): void => {
    const group = open.pop();
    if (!group) return;
    const isFetching = group.isInstruction && mayFetch(group);
    if (isFetching || group.isDropped) {
      blanks.push([group.at + 1, at]);
      if (isFetching) onBlocked('image', group.text.trim());
    }
    // What stands in a group within belongs to the instruction as well.
    const outer = open.at(-1);
    if (outer && group.isWithin && !group.isInstruction && !group.isDropped) {
      add(outer, group.text);
      outer.isCut ||= group.isCut;
    }
  };
  let seenTo = 0;
  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(text); match; match = TOKEN.exec(text)) {
    const group = open.at(-1);
    if (group) add(group, text.slice(seenTo, Math.min(match.index, seenTo + LONGEST_INSTRUCTION + 1)));
    seenTo = TOKEN.lastIndex;
    const [token, word, number, hex] = match;
    if (token === '{') {
      if (open.length === MOST_GROUPS) throw new UnreadablePart('groups in groups');
      const isWithin = group !== undefined && (group.isInstruction || group.isWithin);
      open.push({ at: match.index, isWithin, isInstruction: false, isDropped: false, isCut: false, text: '' });
    } else if (token === '}') {
      close(match.index);
    } else if (word === 'bin') {
      seenTo = TOKEN.lastIndex += Math.max(0, Number(number ?? 0));
      // LibreOffice takes a number that is too large for none.
      if (seenTo > text.length) throw new UnreadablePart('binary data behind the end');
    } else if (group && word !== undefined) {
      if (word === 'fldinst') group.isInstruction = true;
      else if (word === 'u') add(group, String.fromCharCode(Number(number ?? 0) & 0xffff));
      else if (DROPPED.has(word)) group.isDropped = true;
    } else if (group && hex !== undefined) {
      add(group, String.fromCharCode(Number.parseInt(hex, 16)));
    }
  }
  while (open.length > 0) close(text.length);
  return blanks.length === 0 ? undefined : blanked(document, blanks);
}

function mayFetch({ text, isCut }: Group): boolean {
  const instruction = text.trim();
  const [word = ''] = /^[A-Za-z=]*/.exec(instruction) ?? [];
  if (isCut || INCLUDING.some((letters) => holdsInOrder(instruction.toUpperCase(), letters))) return true;
  return instruction !== '' && !HARMLESS.has(word.toUpperCase());
}

function holdsInOrder(text: string, letters: string): boolean {
  let at = -1;
  return [...letters].every((letter) => {
    at = text.indexOf(letter, at + 1);
    return at >= 0;
  });
}

function add(group: Group, text: string): void {
  const more = text.replace(/[\r\n]/g, '');
  group.isCut ||= group.text.length + more.length > LONGEST_INSTRUCTION;
  if (!group.isCut) group.text += more;
}

function blanked(document: Buffer, blanks: readonly (readonly [number, number])[]): Buffer {
  const copy = Buffer.from(document);
  for (const [from, to] of blanks) copy.fill(' ', from, to);
  return copy;
}
