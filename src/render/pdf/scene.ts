/** What all parts of one conversion share. */
import type { Item } from '../../display/list.js';
import type { Conformance } from './conformance.js';
import type { ContentStream } from './content.js';
import type { PdfFile } from './file.js';
import type { FontTable } from './font-table.js';
import type { ImageTable } from './image-table.js';
import type { StateTable } from './state-table.js';

export interface Scene {
  readonly file: PdfFile;
  readonly conformance: Conformance;
  readonly states: StateTable;
  readonly fonts: FontTable;
  readonly images: ImageTable;
  /** Paints items into the stream's current space; handed down so that a pattern's cell can hold any item. */
  drawItems(stream: ContentStream, items: readonly Item[]): void;
}
