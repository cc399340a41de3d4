/**
 * Markdown as people write it: CommonMark with tables, strikethrough and footnotes, emphasis that works between Chinese
 * letters, task lists, headings that can be linked to. Raw HTML is text, pictures are those that the document carries.
 */
import createParser, { type Env, type MarkdownIt, type StateCore, type StateInline, type Token } from 'markdown-it';
import footnotes from 'markdown-it-footnote';
import { notesAtEnd } from './footnotes.js';

/** What the rules share with whoever renders. */
export interface MarkdownEnvironment extends Env {
  /** Text of the first heading. */
  title?: string;
  /** Told of each picture that is not in the document. */
  onMissingPicture?(address: string): void;
}

const CHINESE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303f\uff00-\uffef]/u;
const STAR = 0x2a;
const TILDE = 0x7e;
const LESS_THAN = 0x3c;
const EMBEDDED_PICTURE = /^data:image\/(?:png|jpeg|gif|webp);/i;

/** Renders with a MarkdownEnvironment of its own each time. */
export function markdownParser(): MarkdownIt {
  const parser = createParser('default', { html: false });
  parser.use(footnotes);
  parser.core.ruler.at('footnote_tail', notesAtEnd);
  parser.inline.State = friendlyTo(parser.inline.State);
  parser.inline.ruler.before('autolink', 'breaks_and_comments', breakOrComment);
  parser.core.ruler.push('headings', markHeadings);
  parser.core.ruler.push('tasks', markTasks);
  const { rules } = parser.renderer;
  rules.footnote_caption = (tokens, index) => `[${Number(tokens[index]?.meta?.id) + 1}]`;
  rules.softbreak = (tokens, index) => (joinsChinese(tokens, index) ? '' : '\n');
  rules.image = (tokens, index, _options, env) => picture(parser, tokens[index], env as MarkdownEnvironment);
  return parser;
}

/** Emphasis opens behind, and closes before, a Chinese letter, which no space sets apart: **强调。**后 */
function friendlyTo(State: typeof StateInline): typeof StateInline {
  return class extends State {
    override scanDelims(start: number, canSplitWord: boolean): ReturnType<StateInline['scanDelims']> {
      const scanned = super.scanDelims(start, canSplitWord);
      const marker = this.src.charCodeAt(start);
      if (marker !== STAR && marker !== TILDE) return scanned;
      const before = characterBefore(this.src, start);
      const after = characterAt(this.src, start + scanned.length);
      return {
        ...scanned,
        can_open: scanned.can_open || (CHINESE.test(before) && /\S/.test(after)),
        can_close: scanned.can_close || (CHINESE.test(after) && /\S/.test(before)),
      };
    }
  };
}

function characterAt(text: string, at: number): string {
  const code = text.codePointAt(at);
  return code === undefined ? '' : String.fromCodePoint(code);
}

function characterBefore(text: string, at: number): string {
  const [last = ''] = [...text.slice(Math.max(0, at - 2), at)].slice(-1);
  return last;
}

const LINE_BREAK = /<br\s{0,8}\/?>/iy;

/** `<br>` breaks the line, as in cells of tables, where nothing else can; `<!-- … -->` is not shown. */
function breakOrComment(state: StateInline, isSilent: boolean): boolean {
  if (state.src.charCodeAt(state.pos) !== LESS_THAN) return false;
  LINE_BREAK.lastIndex = state.pos;
  if (LINE_BREAK.test(state.src)) {
    if (!isSilent) state.push('hardbreak', 'br', 0);
    state.pos = LINE_BREAK.lastIndex;
    return true;
  }
  const end = state.src.startsWith('<!--', state.pos) ? commentEnd(state) : -1;
  if (end < 0) return false;
  state.pos = end;
  return true;
}

/** Texts without an end of a comment, so that each is looked through once. */
const withoutEnd = new WeakSet<StateInline>();

function commentEnd(state: StateInline): number {
  if (withoutEnd.has(state)) return -1;
  const at = state.src.indexOf('-->', state.pos + 4);
  if (at < 0) withoutEnd.add(state);
  return at < 0 ? -1 : at + 3;
}

/** A line that ends in Chinese goes on without a space. */
function joinsChinese(tokens: readonly Token[], index: number): boolean {
  const before = tokens[index - 1]?.content ?? '';
  const after = tokens[index + 1]?.content ?? '';
  return CHINESE.test(characterBefore(before, before.length)) && CHINESE.test(characterAt(after, 0));
}

function picture(parser: MarkdownIt, token: Token | undefined, env: MarkdownEnvironment): string {
  const { escapeHtml } = parser.utils;
  const address = String(token?.attrGet('src') ?? '');
  const description = escapeHtml(token?.content ?? '');
  if (EMBEDDED_PICTURE.test(address)) return `<img src="${escapeHtml(address)}" alt="${description}">`;
  env.onMissingPicture?.(address);
  return `<span class="missing-picture">${description === '' ? escapeHtml(address) : description}</span>`;
}

/** Each heading gets an id made of its text, as links in the document expect it. */
function markHeadings({ tokens, env }: StateCore): void {
  const seen = new Map<string, number>();
  const shared = env as MarkdownEnvironment;
  for (const [index, token] of tokens.entries()) {
    if (token.type !== 'heading_open') continue;
    const text = textOf(tokens[index + 1]);
    if (text !== '') shared.title ??= text;
    const id = text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replace(/\s/g, '-');
    const count = seen.get(id) ?? 0;
    seen.set(id, count + 1);
    if (id !== '') token.attrSet('id', count === 0 ? id : `${id}-${count}`);
  }
}

/** Without marks of emphasis and addresses of links. */
function textOf(inline: Token | undefined): string {
  const parts = (inline?.children ?? []).map(({ type, content }) => (type.endsWith('break') ? ' ' : content));
  return parts.join('').trim();
}

/** `- [ ] open` and `- [x] done`. */
function markTasks({ tokens }: StateCore): void {
  for (const [index, token] of tokens.entries()) {
    const isFirstOfItem = tokens[index - 1]?.type === 'paragraph_open' && tokens[index - 2]?.type === 'list_item_open';
    const [first] = token.children ?? [];
    if (!isFirstOfItem || first?.type !== 'text') continue;
    const mark = /^\[([ xX])\]\s/.exec(first.content)?.[1];
    if (mark !== undefined) first.content = `${mark === ' ' ? '☐' : '☑'} ${first.content.slice(4)}`;
  }
}
