/** Attached files at the end of the document, each inside its own link. */
import type { Attachment } from '../../display/facts.js';
import type { OutputFile } from '../backend.js';
import { escapeHtml } from './markup.js';
import type { Targets } from './targets.js';
import type { Words } from './words.js';

/** A multiple of three: base64 of the pieces is base64 of the whole. */
const PIECE_BYTES = 3 * 64 * 1024;

/** Writes those that the document wants seen, and those that something leads to. Their bytes are read one by one. */
export function writeAttachments(
  file: OutputFile,
  attachments: readonly Attachment[],
  targets: Targets,
  words: Words,
): void {
  const shown = attachments.filter(({ isVisible, name }) => isVisible || targets.isLinked(name));
  if (shown.length === 0) return;
  const write = (text: string): void => file.write(Buffer.from(text));
  write(`<section class="attachments" aria-label="${words.attachments}">\n<h2>${words.attachments}</h2>\n<ul>\n`);
  for (const attachment of shown) {
    const name = escapeHtml(attachment.name);
    const id = targets.attachmentId(attachment.name);
    const bytes = attachment.bytes();
    if (bytes === undefined) {
      write(`<li id="${id}">${name}</li>\n`);
      continue;
    }
    // No type of its own: whatever it holds, a browser saves it and never shows it as part of this page.
    write(`<li><a id="${id}" download="${name}" href="data:application/octet-stream;base64,`);
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      write(Buffer.from(bytes.subarray(at, at + PIECE_BYTES)).toString('base64'));
    }
    write(`">${name}</a> (${bytes.length} B)</li>\n`);
  }
  write('</ul>\n</section>\n');
}
