/** The compiled library, once for a thread. The only file of the folder that reads from disk: the library itself. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

let compiled: Promise<WebAssembly.Module> | undefined;

export function pdfiumModule(): Promise<WebAssembly.Module> {
  // At once: a thread that is ended while the system opens a file for it leaves that file open for ever.
  compiled ??= WebAssembly.compile(
    readFileSync(createRequire(import.meta.url).resolve('@embedpdf/pdfium/pdfium.wasm')),
  );
  return compiled;
}
