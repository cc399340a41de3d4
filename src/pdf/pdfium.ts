/**
 * PDFium as a WebAssembly instance: its functions, its memory, and the bounds of both. An instance is for one document:
 * nothing of one document can be seen by, or break, the next, and its memory goes when it goes.
 */
import { init } from '@embedpdf/pdfium';
import { PdfError } from './error.js';

/** PDFium's C functions as they are: numbers and addresses. */
export type PdfiumFunctions = Readonly<
  Record<
    Exclude<keyof Awaited<ReturnType<typeof init>>, 'pdfium'> | 'malloc' | 'free',
    (...values: readonly number[]) => number
  >
> & { readonly memory: { readonly buffer: ArrayBuffer } };

/** PDFium's own data, fonts and code take 20 MB; a page of 16 million pixels with two layers of transparency 200 MB. */
const MAX_MEMORY_BYTES = 640 * 1024 * 1024;
const MAX_TEXT_BYTES = 1 << 20;

export class Pdfium {
  /** Addresses stay valid; views of the memory do not survive a call that may grow it. */
  readonly call: PdfiumFunctions;
  readonly #addFunction: (callback: (...values: number[]) => number | undefined, signature: string) => number;
  readonly #removeFunction: (address: number) => void;
  readonly #state: { isShortOfMemory: boolean };
  #view: DataView;
  #bytes: Uint8Array;

  private constructor(instance: Awaited<ReturnType<typeof init>>, state: { isShortOfMemory: boolean }) {
    const { pdfium } = instance;
    this.call = pdfium.wasmExports as unknown as PdfiumFunctions;
    this.#addFunction = (callback, signature) => pdfium.addFunction(callback, signature);
    this.#removeFunction = (address) => pdfium.removeFunction(address);
    this.#state = state;
    this.#bytes = new Uint8Array(this.call.memory.buffer);
    this.#view = new DataView(this.call.memory.buffer);
  }

  /** @param log takes what the library prints */
  static async start(module: WebAssembly.Module, log: (line: string) => void): Promise<Pdfium> {
    const state = { isShortOfMemory: false };
    const overrides = {
      print: log,
      printErr: log,
      instantiateWasm(imports: WebAssembly.Imports, done: (instance: WebAssembly.Instance) => void): object {
        void WebAssembly.instantiate(module, bounded(imports, state)).then(done);
        return {};
      },
    };
    const instance = await init(overrides as Parameters<typeof init>[0]);
    const pdfium = new Pdfium(instance, state);
    pdfium.call.PDFiumExt_Init();
    return pdfium;
  }

  /** The memory as it is now. */
  get bytes(): Uint8Array {
    if (this.#bytes.buffer !== this.call.memory.buffer) this.#bytes = new Uint8Array(this.call.memory.buffer);
    return this.#bytes;
  }

  get view(): DataView {
    if (this.#view.buffer !== this.call.memory.buffer) this.#view = new DataView(this.call.memory.buffer);
    return this.#view;
  }

  allocate(sizeBytes: number): number {
    const address = this.call.malloc(sizeBytes);
    if (address === 0) throw new PdfError('too_large', 'The document needs more memory than a conversion may take');
    return address;
  }

  /** Lends memory, zeroed, for the time of `use`. */
  lend<T>(sizeBytes: number, use: (address: number) => T): T {
    const address = this.allocate(sizeBytes);
    try {
      this.bytes.fill(0, address, address + sizeBytes);
      return use(address);
    } finally {
      this.call.free(address);
    }
  }

  /** Lends memory that holds `text` as UTF-8 with a zero after it. */
  lendText<T>(text: string, use: (address: number) => T): T {
    const encoded = new TextEncoder().encode(text);
    return this.lend(encoded.length + 1, (address) => {
      this.bytes.set(encoded, address);
      return use(address);
    });
  }

  /** Floats that a function writes; undefined where it returns false. */
  floats(count: number, write: (...addresses: readonly number[]) => number): number[] | undefined {
    return this.lend(count * 4, (address) => {
      const places = Array.from({ length: count }, (_, i) => address + 4 * i);
      return write(...places) === 0 ? undefined : places.map((place) => this.view.getFloat32(place, true));
    });
  }

  /** Floats of a structure that a function fills. */
  structure(count: number, write: (address: number) => number): number[] | undefined {
    return this.floats(count, (address) => write(address!));
  }

  /** A UTF-16 text of a function that tells its length in bytes; '' where there is none. */
  utf16(read: (address: number, sizeBytes: number) => number): string {
    const bytes = this.sized(read);
    return decodeZeroEnded(new TextDecoder('utf-16le'), bytes.subarray(0, bytes.length & ~1));
  }

  /** As UTF-8; as Latin-1 where it is none, which FontBook knows how to read. */
  utf8(read: (address: number, sizeBytes: number) => number): string {
    return decodeBytes(this.sized(read));
  }

  /** What a function writes that tells its size first; cut at a megabyte. */
  sized(read: (address: number, sizeBytes: number) => number): Uint8Array {
    const size = Math.min(read(0, 0) >>> 0, MAX_TEXT_BYTES);
    if (size === 0) return new Uint8Array(0);
    return this.lend(size, (address) => {
      read(address, size);
      return this.bytes.slice(address, address + size);
    });
  }

  /** Text with a zero byte after it, as callbacks get it. */
  textAt(address: number): string {
    const end = this.bytes.indexOf(0, address);
    return decodeBytes(this.bytes.slice(address, Math.min(end, address + 4096)));
  }

  /** Makes a function callable from the library; `signature` as Emscripten writes it: result, then values. */
  callback(signature: string, run: (...values: number[]) => number | undefined): number {
    return this.#addFunction(run, signature);
  }

  removeCallback(address: number): void {
    this.#removeFunction(address);
  }

  /** What a trap in the library means; any other error as it is. The instance must not be used again. */
  explain(error: unknown): unknown {
    if (error instanceof PdfError) return error;
    if (this.#state.isShortOfMemory) {
      return new PdfError('too_large', 'The document needs more memory than a conversion may take', { cause: error });
    }
    return error instanceof WebAssembly.RuntimeError || error instanceof RangeError
      ? new PdfError('internal', `The PDF library broke down on the document: ${error.message}`, { cause: error })
      : error;
  }
}

function decodeBytes(bytes: Uint8Array): string {
  try {
    return decodeZeroEnded(new TextDecoder('utf-8', { fatal: true }), bytes);
  } catch {
    return decodeZeroEnded(new TextDecoder('latin1'), bytes);
  }
}

function decodeZeroEnded(decoder: InstanceType<typeof TextDecoder>, bytes: Uint8Array): string {
  return decoder.decode(bytes).replace(/\0[\s\S]*$/, '');
}

/** The same imports with an end to the memory, and with a clock that stands still: the same bytes give the same bytes. */
function bounded(imports: WebAssembly.Imports, state: { isShortOfMemory: boolean }): WebAssembly.Imports {
  const grow = imports.env?.emscripten_resize_heap as (sizeBytes: number) => unknown;
  return {
    ...imports,
    env: {
      ...imports.env,
      emscripten_resize_heap: (sizeBytes: number) => {
        if (sizeBytes >>> 0 <= MAX_MEMORY_BYTES) return Number(grow(sizeBytes));
        state.isShortOfMemory = true;
        return 0;
      },
      emscripten_date_now: () => 0,
    },
  };
}
