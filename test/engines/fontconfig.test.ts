// Which faces the programs of engines take for the names of Chinese documents, asked of fontconfig itself.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fontconfigFile, fontconfigFolders } from '../../src/convert/processes/fontconfig.js';
import { scanFonts } from '../../src/fonts/system.js';
import { namedFontTables, sfnt } from '../fonts/make-truetype.js';
import { temporaryFolder } from '../support/jobs.js';

let folder: ReturnType<typeof temporaryFolder>;
beforeAll(() => {
  folder = temporaryFolder('fontconfig');
  const fonts = join(folder.path, 'fonts');
  mkdirSync(fonts);
  const kai = { family: 'KaiTi', chineseFamily: '楷体', characters: 'A中' };
  writeFileSync(join(fonts, 'kai.ttf'), sfnt(namedFontTables(kai)));
  writeFileSync(join(folder.path, 'without.conf'), fontconfigFile([], fontconfigFolders(folder.path), scanFonts([])));
  writeFileSync(
    join(folder.path, 'with-kai.conf'),
    fontconfigFile([fonts], fontconfigFolders(folder.path), scanFonts([fonts])),
  );
});
afterAll(() => folder.remove());

const ask = (program: string, config: string, ...args: readonly string[]): string =>
  execFileSync(program, args, {
    env: { ...process.env, FONTCONFIG_FILE: join(folder.path, config) },
    encoding: 'utf8',
  });
const match = (config: string, name: string): string => ask('fc-match', config, name, '--format', '%{family[0]}');
/** The name that stands first when the configuration is through with the question: Chromium takes no other. */
const firstName = (config: string, name: string): string =>
  ask('fc-pattern', config, '--config', '--format', '%{family[0]}', name);

describe('a name that is not installed', () => {
  it.each([
    ['宋体', 'Noto Serif CJK SC'],
    ['SimSun', 'Noto Serif CJK SC'],
    ['楷体', 'Noto Serif CJK SC'],
    ['仿宋_GB2312', 'Noto Serif CJK SC'],
    ['方正小标宋简体', 'Noto Serif CJK SC'],
    ['黑体', 'Noto Sans CJK SC'],
    ['微软雅黑', 'Noto Sans CJK SC'],
    ['Verdana', 'Liberation Sans'],
    ['Georgia', 'Liberation Serif'],
    ['Consolas', 'Liberation Mono'],
  ])('%s stands for a face of its kind that is', (name, family) => {
    expect([match('without.conf', name), firstName('without.conf', name)]).toEqual([family, family]);
  });
});

describe('a name that is installed', () => {
  it('is itself, in either language, and stands for others of its kind', () => {
    for (const name of ['KaiTi', '楷体', 'STKaiti', '华文楷体']) expect(match('with-kai.conf', name)).toBe('KaiTi');
    expect(match('with-kai.conf', '宋体')).toBe('Noto Serif CJK SC');
  });
});

it('Chinese in a Latin face goes on in the Chinese face of that kind', () => {
  const second = (name: string): string | undefined =>
    ask('fc-match', 'without.conf', '--sort', name, '--format', '%{family[0]}\n')
      .split('\n')
      .find((family) => /CJK|WenQuanYi|Droid/.test(family));
  expect(second('Liberation Sans')).toBe('Noto Sans CJK SC');
  expect(second('Liberation Serif')).toBe('Noto Serif CJK SC');
  expect(second('Liberation Mono')).toBe('Noto Sans CJK SC');
});
