/** The files of one conversion: written as they grow, hashed on the way, removed again when the conversion fails. */
import { createHash, type Hash } from 'node:crypto';
import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { ServiceError } from '../errors.js';
import type { FormatId } from '../formats.js';
import type { Output, OutputFile } from '../render/backend.js';
import type { ProducedFile } from './converter-types.js';

/** Small writes are gathered up to this size; a page of PDF comes in some tens of them. */
const BUFFER_BYTES = 256 * 1024;

class HashedFile implements OutputFile {
  readonly path: string;
  readonly #name: string;
  readonly #limitBytes: number;
  readonly #descriptor: number;
  readonly #hash: Hash = createHash('sha256');
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;
  #sizeBytes = 0;
  #isOpen = true;

  constructor(path: string, name: string, limitBytes: number) {
    this.path = path;
    this.#name = name;
    this.#limitBytes = limitBytes;
    this.#descriptor = openSync(path, 'wx', 0o600);
  }

  write(bytes: Uint8Array): void {
    this.#sizeBytes += bytes.length;
    if (this.#sizeBytes > this.#limitBytes) {
      throw new ServiceError('output_too_large', `${this.#name} would be larger than ${this.#limitBytes} bytes`, {
        reason: 'too_large',
      });
    }
    this.#pending.push(bytes);
    this.#pendingBytes += bytes.length;
    if (this.#pendingBytes >= BUFFER_BYTES) this.#flush();
  }

  #flush(): void {
    const bytes = this.#pending.length === 1 ? this.#pending[0]! : Buffer.concat(this.#pending);
    this.#pending = [];
    this.#pendingBytes = 0;
    this.#hash.update(bytes);
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#descriptor, bytes, at, bytes.length - at);
  }

  finish(sync: boolean): ProducedFile {
    this.#flush();
    if (sync) fsyncSync(this.#descriptor);
    this.close();
    return { name: this.#name, path: this.path, sizeBytes: this.#sizeBytes, sha256: this.#hash.digest('hex') };
  }

  close(): void {
    if (this.#isOpen) closeSync(this.#descriptor);
    this.#isOpen = false;
  }
}

/** Names of products (contract B5): `output.pdf`, `page-0007.png`; an extension already there is not added again. */
export function documentName(baseName: string | undefined, to: FormatId): string {
  const base = baseName ?? 'output';
  return base.toLowerCase().endsWith(`.${to}`) ? base : `${base}.${to}`;
}

export function pageName(baseName: string | undefined, pageNumber: number, to: FormatId): string {
  return `${baseName ?? 'page'}-${String(pageNumber).padStart(4, '0')}.${to}`;
}

export interface OutputNames {
  document(): string;
  page(pageNumber: number): string;
}

/** Puts a conversion's files into one directory. `finish` gives what was made; `discard` removes it. */
export class OutputFiles implements Output {
  readonly #directory: string;
  readonly #names: OutputNames;
  readonly #limitBytes: number;
  readonly #files: ProducedFile[] = [];
  #current: HashedFile | undefined;

  constructor(directory: string, names: OutputNames, limitBytes = Number.POSITIVE_INFINITY) {
    this.#directory = directory;
    this.#names = names;
    this.#limitBytes = limitBytes;
  }

  openDocument(): OutputFile {
    return this.#open(this.#names.document());
  }

  openPage(pageNumber: number): OutputFile {
    return this.#open(this.#names.page(pageNumber));
  }

  /** One file is open at a time: opening the next finishes the one before. */
  #open(name: string): OutputFile {
    this.#finishCurrent();
    this.#current = new HashedFile(join(this.#directory, name), name, this.#limitBytes);
    return this.#current;
  }

  #finishCurrent(): void {
    if (this.#current) this.#files.push(this.#current.finish(false));
    this.#current = undefined;
  }

  finish(): readonly ProducedFile[] {
    this.#finishCurrent();
    return this.#files;
  }

  discard(): void {
    this.#current?.close();
    if (this.#current) rmSync(this.#current.path, { force: true });
    for (const file of this.#files) rmSync(file.path, { force: true });
  }
}
