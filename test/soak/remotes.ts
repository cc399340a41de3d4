/** Remote targets of a soak: real servers, each behind a line that is cut, held or slowed now and then. */
import type { Numbers } from '../fuzz/numbers.js';
import { type Fault, FaultProxy } from '../transfer/servers/fault-proxy.js';
import { startPyftpd } from '../transfer/servers/ftp.js';
import { startS3rver } from '../transfer/servers/s3.js';
import type { TestServer } from '../transfer/servers/server.js';
import { startSshd } from '../transfer/servers/sftp.js';
import { startRclone } from '../transfer/servers/webdav.js';
import { pause } from './client.js';

/** A server that is not installed has said so by then. */
const START_MS = 20_000;
const CALM_MS = 30_000;
const FAULT_MS = 5000;

export interface Remote {
  readonly name: string;
  readonly server: TestServer;
  readonly proxy: FaultProxy;
}

/** Every server that can be started here, and what became of the others. */
export async function startRemotes(): Promise<{ remotes: Remote[]; absent: string[] }> {
  const remotes: Remote[] = [];
  const absent: string[] = [];
  const starts = { ftp: startPyftpd, s3: startS3rver, webdav: startRclone, sftp: startSshd };
  let host = 40;
  for (const [name, start] of Object.entries(starts)) {
    try {
      const late = pause(START_MS).then(() => Promise.reject(new Error(`did not start within ${START_MS} ms`)));
      late.catch(() => undefined);
      const server = await Promise.race([start(), late]);
      host += 1;
      remotes.push({ name, server, proxy: await FaultProxy.start(server.ports, `127.0.0.${host}`) });
    } catch (error) {
      absent.push(`${name}: ${(error as Error).message.split('\n', 1)[0]}`);
    }
  }
  return { remotes, absent };
}

/** Keys of the configuration. */
export function remoteKeys(remotes: readonly Remote[]): Record<string, unknown> {
  const groups = remotes.map(({ server, proxy }) => [
    `${server.kind}_targets`,
    { box: { ...server.target(proxy.host), timeout_seconds: 5 } },
  ]);
  return { allow_insecure_ftp: true, allow_insecure_s3: true, ...Object.fromEntries(groups) };
}

/** Puts faults on the lines until the signal aborts; all of them are whole then. */
export async function disturb(remotes: readonly Remote[], numbers: Numbers, signal: AbortSignal): Promise<number> {
  let faults = 0;
  while (!signal.aborted && remotes.length > 0) {
    await untilAborted(signal, numbers.below(CALM_MS));
    if (signal.aborted) break;
    const { proxy } = numbers.pick(remotes);
    await proxy.set(someFault(numbers));
    faults += 1;
    await untilAborted(signal, numbers.below(FAULT_MS));
    await proxy.set({ kind: 'none' });
  }
  return faults;
}

function someFault(numbers: Numbers): Fault {
  const afterBytes = numbers.below(20_000);
  return numbers.pick<Fault>([
    { kind: 'refuse' },
    { kind: 'reset', afterBytes },
    { kind: 'cut', afterBytes },
    { kind: 'stall', afterBytes },
    { kind: 'slow', bytesPerSecond: 20_000 },
  ]);
}

/** Waits so long, or until the signal aborts. */
export function untilAborted(signal: AbortSignal, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
  });
}
