/**
 * Where footnotes go: behind the text, in the order of their marks, then those that no mark leads to, for they are text
 * all the same. In place of the library's own rule, which copies all of the document for each note.
 */
import type { StateCore, Token } from 'markdown-it';

interface Note {
  readonly label?: string;
  /** Of a note that stands in the text. */
  readonly content?: string;
  readonly tokens?: Token[];
  /** Marks that lead to it. */
  readonly count?: number;
}

interface Footnotes {
  /** By a colon and the label: the place in the list, negative where no mark leads to it. */
  readonly refs?: Readonly<Record<string, number>>;
  readonly list?: readonly Note[];
}

export function notesAtEnd(state: StateCore): void {
  const { footnotes } = state.env as { readonly footnotes?: Footnotes };
  if (footnotes === undefined) return;
  const { kept, bodies } = parted(state.tokens);
  const unmarked = Object.entries(footnotes.refs ?? {}).filter(([, place]) => place < 0);
  const notes = [...(footnotes.list ?? []), ...unmarked.map(([key]): Note => ({ label: key.slice(1), count: 0 }))];
  state.tokens = kept;
  if (notes.length === 0) return;
  const push = (type: string, nesting: -1 | 0 | 1, id?: number): void => {
    const token = new state.Token(type, '', nesting);
    if (id !== undefined) token.meta = { id, subId: 0 };
    kept.push(token);
  };
  push('footnote_block_open', 1);
  for (const [id, note] of notes.entries()) {
    push('footnote_open', 1, id);
    const body = note.tokens ? paragraphOf(state, note) : (bodies.get(note.label ?? '') ?? []);
    const isParagraph = body.at(-1)?.type === 'paragraph_close';
    for (const token of isParagraph ? body.slice(0, -1) : body) kept.push(token);
    if (note.count !== 0) push('footnote_anchor', 0, id);
    if (isParagraph) kept.push(body.at(-1)!);
    push('footnote_close', -1);
  }
  push('footnote_block_close', -1);
}

/** The text without notes, and the notes by their labels. */
function parted(tokens: readonly Token[]): { readonly kept: Token[]; readonly bodies: ReadonlyMap<string, Token[]> } {
  const kept: Token[] = [];
  const bodies = new Map<string, Token[]>();
  const open: Token[][] = [];
  for (const token of tokens) {
    if (token.type === 'footnote_reference_open') {
      const body: Token[] = [];
      bodies.set(String(token.meta?.label), body);
      open.push(body);
    } else if (token.type === 'footnote_reference_close') open.pop();
    else (open.at(-1) ?? kept).push(token);
  }
  return { kept, bodies };
}

function paragraphOf(state: StateCore, { content = '', tokens = [] }: Note): Token[] {
  const [start, inline, end] = [
    new state.Token('paragraph_open', 'p', 1),
    new state.Token('inline', '', 0),
    new state.Token('paragraph_close', 'p', -1),
  ];
  inline.content = content;
  inline.children = tokens;
  for (const token of [start, end]) token.block = true;
  return [start, inline, end];
}
