/** The folders that the service writes to: made and tried at start, watched from then on (contract A11, V1). */
import { open, stat, unlink } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { makeFolder } from '../make-folder.js';
import { prepareOutputDir } from '../transfer/sinks/directory.js';
import type { Config } from './settings.js';
import { StartError } from './start-error.js';
import { PROBE_NAME, VolumeProbe } from './volume-probe.js';
import { Watch } from './watch.js';

/** A look and its deadline together stay under the two seconds of contract A11. */
const LOOK_EVERY_MS = 800;
const DEADLINE_MS = 1000;

interface Volume {
  readonly key: string;
  readonly folder: string;
}

function volumesOf(config: Config): readonly Volume[] {
  return [
    { key: 'db_path', folder: dirname(config.dbPath) },
    { key: 'temp_dir', folder: config.tempDir },
    { key: 'output_dir', folder: config.outputDir },
  ];
}

/** Makes what is missing and writes a file in each. Throws StartError that names the first that will not do. */
export async function prepareVolumes(config: Config): Promise<void> {
  for (const { key, folder } of volumesOf(config)) {
    // What lies in output_dir is meant for others too, so its mode is left to the umask; the rest is the service's own.
    await prepareFolder(key, folder, key === 'output_dir' ? 0o777 : 0o750);
  }
  await prepareOutputDir(config.outputDir).catch((error: Error) => {
    throw new StartError(error.message, { cause: error });
  });
}

async function prepareFolder(key: string, folder: string, mode: number): Promise<void> {
  const probe = join(folder, PROBE_NAME);
  try {
    await makeFolder(folder, mode);
    const handle = await open(probe, 'w', 0o600);
    await handle.writeFile('probe').finally(() => handle.close());
    await unlink(probe);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new StartError(`${key}: cannot write to ${folder} (${code ?? message})${await ownerText(folder)}`, {
      cause: error,
    });
  }
}

async function ownerText(folder: string): Promise<string> {
  const found = await stat(folder).catch(() => undefined);
  if (!found || found.uid === userInfo().uid) return '';
  return `: it belongs to uid ${found.uid}, this process runs as uid ${userInfo().uid}; chown -R ${userInfo().uid} ${folder} mends it`;
}

/** Why no job starts now. */
export interface Hindrance {
  readonly reason: 'no_space' | 'volume_unavailable';
  readonly sinceMs: number;
  /** Names the key, its folder and what is wrong. */
  readonly text: string;
}

interface WatchedVolume extends Volume {
  readonly watch: Watch;
  freeBytes: number | undefined;
  lowSinceMs: number | undefined;
}

export interface VolumeWatchOptions {
  readonly config: Config;
  /** A volume has become short of space, or is no longer. */
  readonly onSpace?: (text: string, isLow: boolean) => void;
}

/** Watches of all volumes; those that lie on one device share a thread. */
export class VolumeWatches {
  readonly #volumes: readonly WatchedVolume[];
  readonly #probes: readonly VolumeProbe[];
  readonly #minFreeBytes: number;

  private constructor(volumes: readonly WatchedVolume[], probes: readonly VolumeProbe[], minFreeBytes: number) {
    this.#volumes = volumes;
    this.#probes = probes;
    this.#minFreeBytes = minFreeBytes;
  }

  static async start({ config, onSpace }: VolumeWatchOptions): Promise<VolumeWatches> {
    const probes = new Map<number, VolumeProbe>();
    const volumes: WatchedVolume[] = [];
    for (const { key, folder } of volumesOf(config)) {
      const { dev } = await stat(folder);
      const probe = probes.get(dev) ?? new VolumeProbe();
      probes.set(dev, probe);
      const look = async (): Promise<void> => {
        volume.freeBytes = await probe.check(folder);
        const isLow = volume.freeBytes !== undefined && volume.freeBytes < config.minFreeBytes;
        if (isLow === (volume.lowSinceMs !== undefined)) return;
        volume.lowSinceMs = isLow ? Date.now() : undefined;
        onSpace?.(spaceText(volume, config.minFreeBytes), isLow);
      };
      const watch = new Watch({ name: key, probe: look, everyMs: LOOK_EVERY_MS, deadlineMs: DEADLINE_MS });
      const volume: WatchedVolume = { key, folder, watch, freeBytes: undefined, lowSinceMs: undefined };
      volumes.push(volume);
    }
    await Promise.all(volumes.map(({ watch }) => watch.start()));
    return new VolumeWatches(volumes, [...probes.values()], config.minFreeBytes);
  }

  /** Why no work is taken: a volume takes no file, or there is no room for inputs. */
  faults(): readonly string[] {
    const low = this.noRoomForInputs();
    return [...this.#volumes.flatMap(({ watch }) => watch.fault ?? []), ...(low ? [low.text] : [])];
  }

  /** What keeps jobs from starting, of all volumes; from the moment that one hangs nothing more is sent there (contract V3). */
  hindrances(): readonly Hindrance[] {
    return this.#volumes.flatMap((volume) => this.#hindranceOf(volume) ?? []);
  }

  /** The volume that keeps the inputs is short of space (contract V2). */
  noRoomForInputs(): Hindrance | undefined {
    const [inputs] = this.#volumes;
    return inputs?.lowSinceMs === undefined ? undefined : this.#hindranceOf(inputs);
  }

  /** What is free on each volume, where that is known. */
  freeBytes(): readonly { readonly volume: string; readonly bytes: number }[] {
    return this.#volumes.flatMap(({ key, watch, freeBytes }) =>
      freeBytes === undefined || watch.lateSinceMs !== undefined ? [] : [{ volume: key, bytes: freeBytes }],
    );
  }

  #hindranceOf(volume: WatchedVolume): Hindrance | undefined {
    const { watch, lowSinceMs } = volume;
    if (watch.lateSinceMs !== undefined) {
      return { reason: 'volume_unavailable', sinceMs: watch.lateSinceMs, text: watch.fault ?? volume.key };
    }
    if (lowSinceMs === undefined) return undefined;
    return { reason: 'no_space', sinceMs: lowSinceMs, text: spaceText(volume, this.#minFreeBytes) };
  }

  async close(): Promise<void> {
    for (const { watch } of this.#volumes) watch.close();
    await Promise.all(this.#probes.map((probe) => probe.close()));
  }
}

function spaceText({ key, folder, freeBytes }: WatchedVolume, minFreeBytes: number): string {
  return `${key}: ${freeBytes ?? 0} bytes are free in ${folder}, min_free_bytes is ${minFreeBytes}`;
}
