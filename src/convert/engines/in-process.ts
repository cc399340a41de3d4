/** The engines that run in the process itself, each loaded when it is first used. Worker threads and the command line have them. */
import { loadBackend, RENDERED_FORMATS } from '../../render/index.js';
import type { EngineName } from '../plan.js';
import type { Engine } from './engine.js';

const LOADERS = {
  ofd: async () => (await import('./ofd.js')).ofdEngine,
  markdown: async () => (await import('./markdown.js')).markdownEngine,
  pdf: async () => (await import('./pdf.js')).pdfEngine,
  pictures: async () => (await import('./pictures.js')).picturesEngine,
} satisfies Partial<Record<EngineName, () => Promise<Engine>>>;

export type InProcessEngine = keyof typeof LOADERS;

export const IN_PROCESS_ENGINES = Object.keys(LOADERS) as readonly InProcessEngine[];

/** All engines and backends: nothing of them is read from the disk any more. */
export async function loadEverything(): Promise<void> {
  await Promise.all([
    ...IN_PROCESS_ENGINES.map(loadEngine),
    ...RENDERED_FORMATS.map(loadBackend),
    import('../../render/raster/pixel-pages.js'),
  ]);
}

export function loadEngine(name: InProcessEngine): Promise<Engine> {
  return LOADERS[name]();
}
