/** Starting → ready → shutting down, and what is not well meanwhile (contract A11). */
import type { Readiness } from '../http/services.js';
import type { JobStore } from '../jobs/store.js';
import type { ColdEngine } from './engines.js';
import type { Hindrance, VolumeWatches } from './volumes.js';
import { Watch } from './watch.js';

/** A look and its deadline together stay under the two seconds of contract A11. */
const PING_EVERY_MS = 800;
const PING_DEADLINE_MS = 1000;

export class ServiceState implements Readiness {
  isStarted = false;
  /** Engines that could not be warmed. */
  coldEngines: readonly ColdEngine[] = [];
  isShuttingDown = false;
  readonly #volumes: VolumeWatches;
  readonly #store: Watch;

  private constructor(volumes: VolumeWatches, store: Watch) {
    this.#volumes = volumes;
    this.#store = store;
  }

  /** Watches the store from now on, until `close`. */
  static async watch(store: Pick<JobStore, 'ping'>, volumes: VolumeWatches): Promise<ServiceState> {
    const watch = new Watch({
      name: 'store',
      probe: () => store.ping(),
      everyMs: PING_EVERY_MS,
      deadlineMs: PING_DEADLINE_MS,
    });
    await watch.start();
    return new ServiceState(volumes, watch);
  }

  reasons(): readonly string[] {
    if (this.isShuttingDown) return ['shutting down'];
    if (!this.isStarted) return ['starting'];
    return [...this.#volumes.faults(), ...(this.#store.fault ? [this.#store.fault] : [])];
  }

  hindrances(): readonly Hindrance[] {
    return this.#volumes.hindrances();
  }

  hung(key: 'db_path' | 'temp_dir' | 'output_dir'): Hindrance | undefined {
    return this.#volumes.hung(key);
  }

  noRoomForInputs(): Hindrance | undefined {
    return this.#volumes.noRoomForInputs();
  }

  freeBytes(): readonly { readonly volume: string; readonly bytes: number }[] {
    return this.#volumes.freeBytes();
  }

  close(): void {
    this.#store.close();
  }
}
