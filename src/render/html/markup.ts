/** Text as HTML. */
import { allowedText } from '../svg/markup.js';

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** For the content of elements and for attribute values between double quotes. */
export function escapeHtml(text: string): string {
  return allowedText(text).replace(/[&<>"]/g, (character) => ENTITIES[character]!);
}

/** ` href="…"` and what goes with it. */
export function hrefAttribute(href: string): string {
  const isOutside = !href.startsWith('#');
  return ` href="${escapeHtml(href)}"${isOutside ? ' rel="noopener noreferrer"' : ''}`;
}
