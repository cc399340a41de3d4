/** Markdown to HTML: one document that needs nothing beside it, and that Chromium prints as it is. */
import { readFileSync, statSync } from 'node:fs';
import { ServiceError } from '../../errors.js';
import { decodeText } from '../decode-text.js';
import { markdownPage } from '../markdown/page.js';
import type { Engine, EngineResult, EngineRun } from './engine.js';
import { engineFault } from './faults.js';
import { WarningList } from './warning-list.js';

const MAX_MARKDOWN_BYTES = 8 * 1024 * 1024;
const LONGEST_ADDRESS = 200;

export const markdownEngine: Engine = { convert: convertMarkdown };

async function convertMarkdown(run: EngineRun): Promise<EngineResult> {
  const warnings = new WarningList(run.options.failOn ?? []);
  try {
    const { text, encoding } = decodeText(readMarkdown(run.inputPath));
    if (text.includes('\0')) {
      throw new ServiceError('conversion_failed', 'The file is no Markdown: it holds bytes that no text has', {
        reason: 'corrupt',
      });
    }
    run.onOpened('md');
    if (text.includes('\ufffd')) {
      warnings.report({
        code: 'text_undecodable',
        message: `Bytes that are no text in ${encoding.toUpperCase()} stand as replacement characters`,
      });
    }
    const page = markdownPage(text, (address) =>
      warnings.report({
        code: 'resource_blocked',
        message: `The picture ${address.slice(0, LONGEST_ADDRESS)} is not in the document and was not fetched`,
      }),
    );
    warnings.throwIfFatal();
    run.output.openDocument().write(Buffer.from(page));
    run.onProgress(1, 1);
    return { pages: 1, warnings: warnings.list };
  } catch (error) {
    await run.output.discard();
    throw engineFault(error, 'The Markdown engine', run.pagesField);
  }
}

function readMarkdown(path: string): Buffer {
  const { size } = statSync(path);
  if (size <= MAX_MARKDOWN_BYTES) return readFileSync(path);
  throw new ServiceError('conversion_failed', `The text has ${size} bytes; at most ${MAX_MARKDOWN_BYTES} are read`, {
    reason: 'too_large',
  });
}
