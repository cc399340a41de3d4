/**
 * Profiles of LibreOffice: one is made on first use, and every conversion works on a copy of its own that goes with it,
 * so that nothing of one document meets the next. Copying one costs some milliseconds.
 */
import { createHash } from 'node:crypto';
import { cp, mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { scanFonts } from '../../fonts/system.js';
import { fontconfigFile, fontconfigFolders, makeFontconfigFolders, makePlaceholders } from '../processes/fontconfig.js';

export interface ProfileStoreOptions {
  /** An existing private folder. */
  readonly root: string;
  readonly fontDirs: readonly string[];
  /** Starts LibreOffice on a new profile, so that it makes it up. */
  readonly makeUp: (profile: string) => Promise<void>;
}

export class ProfileStore {
  readonly #options: ProfileStoreOptions;
  #template: Promise<string> | undefined;

  constructor(options: ProfileStoreOptions) {
    this.#options = options;
  }

  get fontconfigPath(): string {
    return join(this.#options.root, 'fonts.conf');
  }

  /** Makes a profile at `path`, which must not exist yet. */
  async makeAt(path: string): Promise<void> {
    await cp(await this.#madeTemplate(), path, { recursive: true });
    await writeFile(join(path, 'user', 'registrymodifications.xcu'), REGISTRY, { mode: 0o600 });
  }

  /** Makes what the first profile is copied from. */
  async prepare(): Promise<void> {
    await this.#madeTemplate();
  }

  /** Made once; again where it could not be made, or where somebody cleans up old temporary files. */
  async #madeTemplate(): Promise<string> {
    const made = this.#template && (await this.#template.catch(() => undefined));
    if (made === undefined || !(await isThere(join(made, 'user'))) || !(await isThere(this.fontconfigPath))) {
      this.#template = this.#make();
    }
    return this.#template as Promise<string>;
  }

  async #make(): Promise<string> {
    const { root, fontDirs, makeUp } = this.#options;
    const template = join(root, 'template');
    await rm(template, { recursive: true, force: true });
    await mkdir(join(template, 'user'), { recursive: true, mode: 0o700 });
    const folders = fontconfigFolders(root);
    const index = scanFonts(fontDirs);
    await makeFontconfigFolders(folders, await makePlaceholders(index));
    await writeFile(this.fontconfigPath, fontconfigFile(fontDirs, folders, index), { mode: 0o600 });
    await writeFile(join(template, 'user', 'registrymodifications.xcu'), REGISTRY, { mode: 0o600 });
    await makeUp(template);
    return template;
  }
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

export function profileUrl(profile: string): string {
  return pathToFileURL(profile).href;
}

/** The socket that LibreOffice opens for its profile, whatever TMPDIR says; it stays where LibreOffice is killed. */
export function socketPath(profile: string): string {
  const digest = createHash('md5')
    .update(Buffer.from(profileUrl(profile), 'utf16le'))
    .digest();
  // LibreOffice writes each byte by itself and leaves its leading zero out.
  const name = [...digest].map((byte) => byte.toString(16)).join('');
  return `/tmp/OSL_PIPE_${process.getuid?.() ?? 0}_SingleOfficeIPC_${name}`;
}

type Setting = readonly [path: string, name: string, value: string];

/**
 * No macros; links neither followed nor updated; nothing fetched, and a proxy that is not there for whatever tries all
 * the same; Chinese as the Asian language, and paper as it is used there, where a document does not say.
 */
const SETTINGS: readonly Setting[] = [
  ['Office.Common/Security/Scripting', 'DisableMacrosExecution', 'true'],
  ['Office.Common/Security/Scripting', 'MacroSecurityLevel', '3'],
  ['Office.Common/Security/Scripting', 'BlockUntrustedRefererLinks', 'true'],
  ['Office.Common/Security/Scripting', 'DisableActiveContent', 'true'],
  // 0 is "never" in Writer, 1 in Calc.
  ['Office.Writer/Content/Update', 'Link', '0'],
  ['Office.Calc/Content/Update', 'Link', '1'],
  ['Inet/Settings', 'ooInetProxyType', '2'],
  ['Inet/Settings', 'ooInetHTTPProxyName', '127.0.0.1'],
  ['Inet/Settings', 'ooInetHTTPProxyPort', '1'],
  ['Inet/Settings', 'ooInetHTTPSProxyName', '127.0.0.1'],
  ['Inet/Settings', 'ooInetHTTPSProxyPort', '1'],
  ['Inet/Settings', 'ooInetFTPProxyName', '127.0.0.1'],
  ['Inet/Settings', 'ooInetFTPProxyPort', '1'],
  ['Inet/Settings', 'ooInetNoProxy', ''],
  ['Office.Linguistic/General', 'DefaultLocale_CJK', 'zh-CN'],
  ['Setup/L10N', 'ooSetupSystemLocale', 'zh-CN'],
  ['Office.Common/Misc', 'FirstRun', 'false'],
  ['Office.Common/History', 'PickListSize', '0'],
  ['Office.Common/Save/Document', 'AutoSave', 'false'],
  ['Office.Recovery/AutoSave', 'Enabled', 'false'],
];

const REGISTRY = [
  '<?xml version="1.0" encoding="UTF-8"?>',
  '<oor:items xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">',
  ...SETTINGS.map(
    ([path, name, value]) =>
      `<item oor:path="/org.openoffice.${path}"><prop oor:name="${name}" oor:op="fuse"><value>${value}</value></prop></item>`,
  ),
  '</oor:items>',
  '',
].join('\n');
