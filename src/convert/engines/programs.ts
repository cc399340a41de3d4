/** Engines that drive programs of the machine: found at start, or absent with the way to bring them. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { AbsentEngines, EngineName } from '../plan.js';
import { ChromiumEngine, findChrome } from './chromium.js';
import type { Engine } from './engine.js';
import { findSoffice, LibreOfficeEngine } from './libreoffice.js';

/** Why a process of an engine did not end by itself. */
export type ProgramEndReason = 'recycled' | 'crashed' | 'memory' | 'stopped';

export interface ProgramSettings {
  /** "" looks for it in PATH, as chromePath does. */
  readonly sofficePath: string;
  readonly chromePath: string;
  readonly chromeNoSandbox: boolean;
  /** An existing private folder for the programs' profiles, removed by the caller. */
  readonly profileRoot: string;
  /** Conversions that one engine may be asked for at once. */
  readonly maxParallel: number;
  /** Folders with fonts, beside the machine's own. */
  readonly fontDirs: readonly string[];
  readonly onEngineEnd?: (engine: EngineName, reason: ProgramEndReason) => void;
}

export interface Programs {
  readonly engines: ReadonlyMap<EngineName, Engine>;
  readonly absent: AbsentEngines;
  /** Ends every process. */
  close(): Promise<void>;
}

export function findPrograms(settings: ProgramSettings): Programs {
  const engines = new Map<EngineName, Engine>();
  const absent = new Map<EngineName, string>();
  const sofficePath = findSoffice(settings.sofficePath);
  if (sofficePath === undefined) {
    absent.set('libreoffice', absenceOf('LibreOffice', 'soffice_path', settings.sofficePath));
  } else engines.set('libreoffice', libreOffice(sofficePath, settings));
  const chromePath = findChrome(settings.chromePath);
  if (chromePath === undefined) absent.set('chromium', absenceOf('Chromium', 'chrome_path', settings.chromePath));
  else engines.set('chromium', chromium(chromePath, settings));
  return {
    engines,
    absent,
    close: async () => {
      await Promise.all([...engines.values()].map((engine) => engine.close?.()));
    },
  };
}

/** Lines about programs that are named and cannot be run. */
export function misnamedPrograms({
  sofficePath,
  chromePath,
}: Pick<ProgramSettings, 'sofficePath' | 'chromePath'>): readonly string[] {
  const isMisnamed = (configured: string, found: string | undefined): boolean =>
    configured !== '' && found === undefined;
  return [
    ...(isMisnamed(sofficePath, findSoffice(sofficePath))
      ? [absenceOf('LibreOffice', 'soffice_path', sofficePath)]
      : []),
    ...(isMisnamed(chromePath, findChrome(chromePath)) ? [absenceOf('Chromium', 'chrome_path', chromePath)] : []),
  ];
}

function absenceOf(title: string, key: string, configured: string): string {
  return configured === ''
    ? `install ${title}, or set ${key} to its program`
    : `${key} is "${configured}", which is no program that can be run`;
}

function libreOffice(sofficePath: string, settings: ProgramSettings): Engine {
  const profileRoot = join(settings.profileRoot, 'libreoffice');
  mkdirSync(profileRoot, { recursive: true, mode: 0o700 });
  return new LibreOfficeEngine({
    sofficePath,
    profileRoot,
    fontDirs: settings.fontDirs,
    onEngineEnd: (reason) => settings.onEngineEnd?.('libreoffice', reason),
  });
}

function chromium(program: string, settings: ProgramSettings): Engine {
  const profileRoot = join(settings.profileRoot, 'chromium');
  mkdirSync(profileRoot, { recursive: true, mode: 0o700 });
  return new ChromiumEngine({
    program,
    noSandbox: settings.chromeNoSandbox,
    profileRoot,
    fontDirs: settings.fontDirs,
    onBrowserEnd: (reason) => settings.onEngineEnd?.('chromium', reason),
  });
}
