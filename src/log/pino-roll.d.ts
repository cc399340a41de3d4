/** pino-roll ships no types; these are the parts in use. */
declare module 'pino-roll' {
  import type { EventEmitter } from 'node:events';

  export interface RollingStream extends EventEmitter {
    /** Below 0 until the file is open. */
    readonly fd: number;
    /** The file being written. */
    readonly file: string;
    write(line: string): boolean;
    end(): void;
    /** Closes the file without what is still to be written. */
    destroy(): void;
  }

  export interface RollOptions {
    readonly file: string;
    readonly size: string;
    readonly limit: { readonly count: number; readonly removeOtherLogFiles: boolean };
    readonly sync: boolean;
    readonly maxLength: number;
    readonly mode: number;
  }

  export default function pinoRoll(options: RollOptions): Promise<RollingStream>;
}
