/** Engines that drive programs of the machine: found at start, or absent with the way to bring them. */
import type { AbsentEngines, EngineName } from '../plan.js';
import type { Engine } from './engine.js';

export interface ProgramSettings {
  /** "" looks for it in PATH, as chromePath does. */
  readonly sofficePath: string;
  readonly chromePath: string;
  readonly chromeNoSandbox: boolean;
  /** An existing private folder for the programs' profiles, removed by the caller. */
  readonly profileRoot: string;
  /** Conversions that one engine may be asked for at once. */
  readonly maxParallel: number;
}

export interface Programs {
  readonly engines: ReadonlyMap<EngineName, Engine>;
  readonly absent: AbsentEngines;
  /** Ends every process. */
  close(): Promise<void>;
}

export function findPrograms(_settings: ProgramSettings): Programs {
  const engines = new Map<EngineName, Engine>();
  const absent = new Map<EngineName, string>([
    ['libreoffice', 'install LibreOffice, or set soffice_path to its program soffice'],
    ['chromium', 'install Chromium, or set chrome_path to its program'],
  ]);
  return {
    engines,
    absent,
    close: async () => {
      await Promise.all([...engines.values()].map((engine) => engine.close?.()));
    },
  };
}
