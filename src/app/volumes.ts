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

/** Watches of all volumes; those that lie on one device share a thread. */
export class VolumeWatches {
  readonly #watches: readonly Watch[];
  readonly #probes: readonly VolumeProbe[];

  private constructor(watches: readonly Watch[], probes: readonly VolumeProbe[]) {
    this.#watches = watches;
    this.#probes = probes;
  }

  static async start(config: Config): Promise<VolumeWatches> {
    const probes = new Map<number, VolumeProbe>();
    const watches: Watch[] = [];
    for (const { key, folder } of volumesOf(config)) {
      const { dev } = await stat(folder);
      const probe = probes.get(dev) ?? new VolumeProbe();
      probes.set(dev, probe);
      const check = (): Promise<void> => probe.check(folder);
      watches.push(new Watch({ name: key, probe: check, everyMs: LOOK_EVERY_MS, deadlineMs: DEADLINE_MS }));
    }
    await Promise.all(watches.map((watch) => watch.start()));
    return new VolumeWatches(watches, [...probes.values()]);
  }

  faults(): readonly string[] {
    return this.#watches.flatMap(({ fault }) => fault ?? []);
  }

  async close(): Promise<void> {
    for (const watch of this.#watches) watch.close();
    await Promise.all(this.#probes.map((probe) => probe.close()));
  }
}
