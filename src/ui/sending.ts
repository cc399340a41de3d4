/** Documents on their way to the service: a few at a time, and again where the service has no place for them yet. */
import { ApiError, submit, type Wish } from './api.js';
import { PageFault } from './faults.js';
import { may } from './keys.js';
import { uploads } from './lane.js';
import { busyFor, pausedFor } from './text.js';

const BUSY = ['rate_limited', 'server_busy'];
const AGAIN_MS = 2000;

export interface Sending {
  readonly signal: AbortSignal;
  /** Its turn has come. */
  readonly onStart?: () => void;
  /** It is sent again after a while: why, and when. */
  readonly onBusy?: (words: () => string) => void;
  /** Goes before all that wait. */
  readonly isFirst?: boolean;
}

/** @returns the answer: a job as JSON, or the product for kind `stream` */
export function send(wish: Wish, { signal, onStart, onBusy, isFirst }: Sending): Promise<Blob> {
  return uploads.run(async () => {
    for (;;) {
      signal.throwIfAborted();
      if (!may('convert')) throw new PageFault('unconvertible');
      onStart?.();
      try {
        const options = await optionsFor(wish);
        return await (await submit({ ...wish, options }, signal)).blob();
      } catch (error) {
        if (!(error instanceof ApiError) || !BUSY.includes(error.code)) throw error;
        const pauseMs = error.retryAfterMs ?? AGAIN_MS;
        onBusy?.(() => (error.code === 'rate_limited' ? pausedFor(pauseMs) : busyFor(pauseMs)));
        await pause(pauseMs, signal);
      }
    }
  }, isFirst);
}

/** A password is for those of the documents that can have one; the service refuses it for others. */
async function optionsFor({ file, options }: Wish): Promise<Readonly<Record<string, string>>> {
  if (options.password === undefined || (await isPdf(file))) return options;
  return Object.fromEntries(Object.entries(options).filter(([name]) => name !== 'password'));
}

async function isPdf(file: File): Promise<boolean> {
  return /\.pdf$/i.test(file.name) || (await file.slice(0, 1024).text()).includes('%PDF-');
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}
