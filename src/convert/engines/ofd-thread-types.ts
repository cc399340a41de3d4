/** What passes between the converter and its worker threads. */
import type { ErrorCode, FailureReason } from '../../errors.js';
import type { ConversionResult } from '../converter-types.js';

export interface ThreadSettings {
  readonly fontDirs: readonly string[];
}

export type ThreadReply =
  | { readonly kind: 'progress'; readonly done: number; readonly total: number }
  | { readonly kind: 'done'; readonly result: ConversionResult }
  | {
      readonly kind: 'failed';
      readonly code: ErrorCode;
      readonly reason: FailureReason | undefined;
      readonly message: string;
    };
