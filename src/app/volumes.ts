/** The folders that the service writes to, watched while it runs: whether they take files, and have room (contract A11, V2, V3). */
import { stat } from 'node:fs/promises';
import type { Config } from './settings.js';
import { type Volume, volumesOf } from './volume-check.js';
import { VolumeProbe } from './volume-probe.js';
import { Watch } from './watch.js';

/** A look and its deadline together stay under the two seconds of contract A11. */
const LOOK_EVERY_MS = 800;
const DEADLINE_MS = 1000;

/** Why jobs do not start now. */
export interface Hindrance {
  readonly reason: 'no_space' | 'volume_unavailable';
  readonly sinceMs: number;
  /** `output.kind` of the jobs that wait; every job does where absent. */
  readonly kinds?: readonly string[];
  /** Names the key, its folder and what is wrong. */
  readonly text: string;
}

/** All that a job touches but output_dir, which is for products of its kind alone. */
const EVERY_JOB: readonly Volume['key'][] = ['db_path', 'temp_dir'];
const DIR_JOBS = { kinds: ['dir'] } as const;

interface WatchedVolume extends Volume {
  readonly watch: Watch;
  freeBytes: number | undefined;
  lowSinceMs: number | undefined;
}

export interface VolumeWatchOptions {
  readonly config: Config;
  /** A volume has become short of space, or is no longer. */
  readonly onSpace?: (text: string, isLow: boolean) => void;
  /** A volume hangs or takes no file, or does so no longer: `fault` is absent then. */
  readonly onFault?: (key: Volume['key'], fault: string | undefined) => void;
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

  static async start({ config, onSpace, onFault }: VolumeWatchOptions): Promise<VolumeWatches> {
    const probes = new Map<number, VolumeProbe>();
    const volumes: WatchedVolume[] = [];
    for (const { key, folder } of volumesOf(config)) {
      const { dev } = await stat(folder);
      const probe = probes.get(dev) ?? new VolumeProbe();
      probes.set(dev, probe);
      const look = async (): Promise<void> => {
        const { fault, freeBytes } = await probe.check(folder);
        volume.freeBytes = freeBytes;
        // What takes not even the smallest file is full, also where min_free_bytes is off. Where it takes none for another
        // reason, nobody knows what is free.
        const isLow = freeBytes !== undefined && (freeBytes < config.minFreeBytes || fault !== undefined);
        const isKnown = fault === undefined || freeBytes !== undefined;
        if (isKnown && isLow !== (volume.lowSinceMs !== undefined)) {
          volume.lowSinceMs = isLow ? Date.now() : undefined;
          onSpace?.(spaceText(volume, config.minFreeBytes), isLow);
        }
        if (fault !== undefined) throw new Error(fault);
      };
      const watch = new Watch({
        name: key,
        probe: look,
        everyMs: LOOK_EVERY_MS,
        deadlineMs: DEADLINE_MS,
        onChange: (fault) => onFault?.(key, fault),
      });
      const volume: WatchedVolume = { key, folder, watch, freeBytes: undefined, lowSinceMs: undefined };
      volumes.push(volume);
    }
    await Promise.all(volumes.map(({ watch }) => watch.start()));
    return new VolumeWatches(volumes, [...probes.values()], config.minFreeBytes);
  }

  /** Why no work is taken: a volume takes no file, or there is no room for inputs. */
  faults(): readonly string[] {
    const low = this.noRoomForInputs();
    return [...this.#needed().flatMap(({ watch }) => watch.fault ?? []), ...(low ? [low.text] : [])];
  }

  /**
   * What keeps jobs from starting: from the moment that a volume hangs nothing more is sent there (contract V3), and on
   * one that takes no file, such as one that the system has made read-only, they would fail one after the other.
   */
  hindrances(): readonly Hindrance[] {
    return this.#needed().flatMap((volume) => this.#hindranceOf(volume) ?? []);
  }

  /** Why nothing may be sent to this volume now: it hangs. */
  hung(key: Volume['key']): Hindrance | undefined {
    const volume = this.#volumes.find((candidate) => candidate.key === key);
    return volume?.watch.lateSinceMs === undefined ? undefined : this.#hindranceOf(volume);
  }

  /** Work goes on without log files. */
  #needed(): readonly WatchedVolume[] {
    return this.#volumes.filter(({ key }) => key !== 'log_dir');
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
    const { key, watch, lowSinceMs } = volume;
    const who = EVERY_JOB.includes(key) ? {} : DIR_JOBS;
    if (watch.lateSinceMs === undefined && lowSinceMs !== undefined) {
      return { reason: 'no_space', sinceMs: lowSinceMs, text: spaceText(volume, this.#minFreeBytes), ...who };
    }
    const sinceMs = watch.lateSinceMs ?? watch.faultSinceMs;
    if (sinceMs === undefined) return undefined;
    return { reason: 'volume_unavailable', sinceMs, text: watch.fault ?? key, ...who };
  }

  async close(): Promise<void> {
    for (const { watch } of this.#volumes) watch.close();
    const closed = await Promise.allSettled(this.#probes.map((probe) => probe.close()));
    for (const result of closed) if (result.status === 'rejected') throw result.reason;
  }
}

function spaceText({ key, folder, freeBytes }: WatchedVolume, minFreeBytes: number): string {
  return `${key}: ${freeBytes ?? 0} bytes are free in ${folder}, min_free_bytes is ${minFreeBytes}`;
}
