/**
 * The table of backends. Each is loaded when it is first asked for, so that making a PDF never loads the raster
 * library and making a picture never loads the PDF library.
 */
import type { Backend } from './backend.js';

export type { Backend, BackendRun, Output, OutputFile, RenderOptions } from './backend.js';

const LOADERS: Readonly<Record<string, () => Promise<Backend>>> = {
  pdf: async () => (await import('./pdf/index.js')).pdfBackend,
  png: async () => (await import('./raster/index.js')).pngBackend,
  jpeg: async () => (await import('./raster/index.js')).jpegBackend,
  webp: async () => (await import('./raster/index.js')).webpBackend,
  svg: async () => (await import('./svg/index.js')).svgBackend,
  html: async () => (await import('./html/index.js')).htmlBackend,
  json: async () => (await import('./json/index.js')).jsonBackend,
  txt: async () => (await import('./text.js')).textBackend,
  md: async () => (await import('./markdown.js')).markdownBackend,
};

/** Names of the formats that display lists can become, in the order of the format registry. */
export const RENDERED_FORMATS: readonly string[] = Object.keys(LOADERS);

/** The backend of a format. Throws RangeError for a format that none makes. */
export async function loadBackend(format: string): Promise<Backend> {
  const load = Object.hasOwn(LOADERS, format) ? LOADERS[format] : undefined;
  if (load === undefined) {
    throw new RangeError(`no backend makes "${format}"; there are ${RENDERED_FORMATS.join(', ')}`);
  }
  return load();
}
