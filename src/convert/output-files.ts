/** The files of one conversion: written as they grow, hashed on the way, removed again when the conversion fails. */
import { createHash, type Hash } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ServiceError } from '../errors.js';
import type { FormatId } from '../formats.js';
import type { Output, OutputFile } from '../render/backend.js';
import type { ProducedFile } from './converter-types.js';

/** Small writes are gathered up to this size; a page of PDF comes in some tens of them. */
const BUFFER_BYTES = 256 * 1024;

/** A file for the thread that answers requests, which waits for no disk (contract V3). */
export interface AsyncOutputFile {
  readonly path: string;
  /** Resolves when the bytes are written. One call at a time. */
  write(bytes: Uint8Array): Promise<void>;
}

/** What is known of a file while it grows. */
class Growth {
  readonly path: string;
  readonly #name: string;
  readonly #limitBytes: number;
  readonly #hash: Hash = createHash('sha256');
  #sizeBytes = 0;

  constructor(directory: string, name: string, limitBytes: number) {
    this.path = join(directory, name);
    this.#name = name;
    this.#limitBytes = limitBytes;
  }

  /** @throws ServiceError `output_too_large` */
  expect(bytes: Uint8Array): void {
    this.#sizeBytes += bytes.length;
    if (this.#sizeBytes <= this.#limitBytes) return;
    throw new ServiceError('output_too_large', `${this.#name} would be larger than ${this.#limitBytes} bytes`, {
      reason: 'too_large',
    });
  }

  hash(bytes: Uint8Array): void {
    this.#hash.update(bytes);
  }

  end(): ProducedFile {
    return { name: this.#name, path: this.path, sizeBytes: this.#sizeBytes, sha256: this.#hash.digest('hex') };
  }
}

class HashedFile implements OutputFile {
  readonly #growth: Growth;
  readonly #descriptor: number;
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;
  #isOpen = true;

  constructor(growth: Growth) {
    this.#growth = growth;
    this.#descriptor = openSync(growth.path, 'wx', 0o600);
  }

  get path(): string {
    return this.#growth.path;
  }

  write(bytes: Uint8Array): void {
    this.#growth.expect(bytes);
    this.#pending.push(bytes);
    this.#pendingBytes += bytes.length;
    if (this.#pendingBytes >= BUFFER_BYTES) this.#flush();
  }

  #flush(): void {
    const bytes = this.#pending.length === 1 ? this.#pending[0]! : Buffer.concat(this.#pending);
    this.#pending = [];
    this.#pendingBytes = 0;
    this.#growth.hash(bytes);
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#descriptor, bytes, at, bytes.length - at);
  }

  finish(): ProducedFile {
    this.#flush();
    this.close();
    return this.#growth.end();
  }

  close(): void {
    if (this.#isOpen) closeSync(this.#descriptor);
    this.#isOpen = false;
  }
}

class AsyncHashedFile implements AsyncOutputFile {
  readonly #growth: Growth;
  readonly #handle: FileHandle;

  private constructor(growth: Growth, handle: FileHandle) {
    this.#growth = growth;
    this.#handle = handle;
  }

  static async open(growth: Growth): Promise<AsyncHashedFile> {
    return new AsyncHashedFile(growth, await open(growth.path, 'wx', 0o600));
  }

  get path(): string {
    return this.#growth.path;
  }

  async write(bytes: Uint8Array): Promise<void> {
    this.#growth.expect(bytes);
    this.#growth.hash(bytes);
    for (let at = 0; at < bytes.length; ) at += (await this.#handle.write(bytes, at)).bytesWritten;
  }

  async finish(): Promise<ProducedFile> {
    await this.close();
    return this.#growth.end();
  }

  /** Waits for what is being written. */
  close(): Promise<void> {
    return this.#handle.close();
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
  #document: Promise<AsyncHashedFile> | undefined;

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

  /** For a product that is one document, in the thread that answers requests. */
  openDocumentAsync(): Promise<AsyncOutputFile> {
    this.#document = AsyncHashedFile.open(this.#growth(this.#names.document()));
    return this.#document;
  }

  #growth(name: string): Growth {
    return new Growth(this.#directory, name, this.#limitBytes);
  }

  /** One file is open at a time: opening the next finishes the one before. */
  #open(name: string): OutputFile {
    this.#finishCurrent();
    this.#current = new HashedFile(this.#growth(name));
    return this.#current;
  }

  #finishCurrent(): void {
    if (this.#current) this.#files.push(this.#current.finish());
    this.#current = undefined;
  }

  async finish(): Promise<readonly ProducedFile[]> {
    this.#finishCurrent();
    const document = await this.#document;
    if (document) this.#files.push(await document.finish());
    this.#document = undefined;
    return this.#files;
  }

  async discard(): Promise<void> {
    this.#current?.close();
    const document = await this.#document?.catch(() => undefined);
    await document?.close();
    const paths = [this.#current?.path, document?.path, ...this.#files.map(({ path }) => path)];
    for (const path of paths) if (path !== undefined) await rm(path, { force: true });
  }
}
