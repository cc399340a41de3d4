/** One conversion of a package that may be anything, and what is wrong with how it went. */
import type { Diagnostic } from '../../src/display/list.js';
import type { FontBook } from '../../src/fonts/index.js';
import { OfdError } from '../../src/ofd/error.js';
import { openOfd } from '../../src/ofd/index.js';
import { DEFAULT_LIMITS } from '../../src/ofd/limits.js';
import { WHITE_PAPER } from '../../src/render/backend.js';
import { loadBackend } from '../../src/render/index.js';

const DPI = 36;
const MAX_PAGES = 4;
const MAX_PIXELS = 64_000_000;
export const MAX_CPU_MS = 10_000;
export const MAX_RSS_BYTES = 1024 ** 3;

export interface Outcome {
  /** What must not happen, in words; undefined where all went well. */
  readonly fault?: string;
  /** Whether there was anything to show. */
  readonly isShown: boolean;
}

/** Converts to each of `formats` in turn. Never throws: whatever is thrown but a refusal is a fault. */
export async function attempt(bytes: Uint8Array, fonts: FontBook, formats: readonly string[]): Promise<Outcome> {
  const cpuBefore = cpuMs();
  const peakBefore = peakBytes();
  const faults: string[] = [];
  let isShown = true;
  const report = (diagnostic: Diagnostic): void => {
    if (diagnostic.code === 'page_failed') faults.push(diagnostic.message);
  };
  try {
    for (const format of formats) await convert(bytes, fonts, format, report);
  } catch (error) {
    if (error instanceof OfdError) isShown = false;
    else faults.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
  const spentMs = cpuMs() - cpuBefore;
  const peak = peakBytes();
  if (spentMs > MAX_CPU_MS) faults.push(`it took ${Math.round(spentMs)} ms`);
  if (peak > MAX_RSS_BYTES && peak > peakBefore) faults.push(`memory rose to ${Math.round(peak / 1024 ** 2)} MiB`);
  return { isShown, ...(faults.length > 0 ? { fault: faults.join('\n') } : {}) };
}

async function convert(
  bytes: Uint8Array,
  fonts: FontBook,
  format: string,
  report: (diagnostic: Diagnostic) => void,
): Promise<void> {
  const document = await openOfd(bytes, { limits: DEFAULT_LIMITS, fonts, report });
  const backend = await loadBackend(format);
  const pageNumbers = Array.from({ length: Math.min(document.pageCount, MAX_PAGES) }, (_, index) => index + 1);
  if (pageNumbers.length === 0) return;
  const file = { write: () => {} };
  const run = backend.start(
    { openDocument: () => file, openPage: () => file },
    {
      dpi: DPI,
      quality: 85,
      maxPixels: MAX_PIXELS,
      background: WHITE_PAPER,
      pageNumbers,
      documents: document.documents,
      report,
    },
  );
  for (const pageNumber of pageNumbers) await run.page(document.page(pageNumber - 1));
  await run.end();
}

/** Of all threads: a busy machine makes nothing slow. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function peakBytes(): number {
  return process.resourceUsage().maxRSS * 1024;
}
