/** What passes between the converter and its worker threads. */
import type { ErrorCode, FailureReason } from '../../errors.js';
import type { FormatId } from '../../formats.js';
import type { ConversionResult } from '../converter-types.js';

export interface ThreadSettings {
  readonly fontDirs: readonly string[];
  /** Whether it gives way to the other threads of the process. */
  readonly givesWay: boolean;
}

/** In place of a task: load the engines and look through the fonts. */
export const WARM_UP = 'warm up';

/** What a thread tells of its task. */
export type ThreadMessage =
  | { readonly kind: 'opened'; readonly format: FormatId }
  | { readonly kind: 'progress'; readonly done: number; readonly total: number }
  | { readonly kind: 'alive' }
  | { readonly kind: 'log'; readonly bytes: Uint8Array }
  /** Of WARM_UP, which is no task. */
  | { readonly kind: 'warm' }
  | { readonly kind: 'done'; readonly result: ConversionResult }
  | {
      readonly kind: 'failed';
      readonly code: ErrorCode;
      readonly reason: FailureReason | undefined;
      readonly message: string;
    };

/** With the JavaScript heap and the buffers that the thread holds by then. */
export type ThreadReply = ThreadMessage & { readonly memoryBytes: number };
