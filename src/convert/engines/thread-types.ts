/** What passes between the converter and its worker threads. */
import type { ErrorCode, FailureReason } from '../../errors.js';
import type { FormatId } from '../../formats.js';
import type { ThreadGuard } from '../../thread-guard.js';
import type { ConversionResult } from '../converter-types.js';

export interface ThreadSettings {
  readonly fontDirs: readonly string[];
  /** It gives way to no other thread of the process, and reads modules when they are needed. */
  readonly isForeground: boolean;
  readonly guard: ThreadGuard;
}

/** What a thread tells of its task, and first that it can take one. */
export type ThreadMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'opened'; readonly format: FormatId }
  | { readonly kind: 'progress'; readonly done: number; readonly total: number }
  | { readonly kind: 'alive' }
  | { readonly kind: 'log'; readonly bytes: Uint8Array }
  | { readonly kind: 'done'; readonly result: ConversionResult }
  | {
      readonly kind: 'failed';
      readonly code: ErrorCode;
      readonly reason: FailureReason | undefined;
      readonly message: string;
    };

/** With the JavaScript heap and the buffers that the thread holds by then. */
export type ThreadReply = ThreadMessage & { readonly memoryBytes: number };
