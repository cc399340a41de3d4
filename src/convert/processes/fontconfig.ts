/**
 * The fontconfig file of the programs that engines drive: the machine's own configuration, our font folders, for the
 * usual names of Chinese documents the installed families that the OFD engine would take too, and boxes for characters
 * that no font has.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type FontKind, SUBSTITUTES } from '../../fonts/alias.js';
import type { FontIndex } from '../../fonts/font-index.js';
import { missingCharacters, PLACEHOLDER_FAMILY, placeholderFonts } from '../../fonts/placeholder.js';
import { openFontFile } from '../../fonts/system.js';

const NAMES: Readonly<Partial<Record<FontKind, readonly string[]>>> = {
  song: [
    ...['宋体', 'SimSun', '新宋体', 'NSimSun', 'SimSun-ExtB', '宋体-简', 'Songti SC', '华文宋体', 'STSong'],
    ...['华文中宋', 'STZhongsong', '方正书宋_GBK', '方正书宋简体', 'FZShuSong-Z01', '报宋', '书宋'],
    ...['MingLiU', 'PMingLiU', '細明體', '新細明體'],
  ],
  titleSong: ['方正小标宋简体', '方正小标宋_GBK', 'FZXiaoBiaoSong-B05S', 'FZXiaoBiaoSong-B05'],
  hei: [
    ...['黑体', 'SimHei', '微软雅黑', 'Microsoft YaHei', 'Microsoft YaHei UI', '微软雅黑 Light'],
    ...['Microsoft YaHei Light', '等线', 'DengXian', '等线 Light', 'DengXian Light', '华文黑体', 'STHeiti'],
    ...['华文细黑', 'STXihei', '苹方-简', 'PingFang SC', '黑体-简', 'Heiti SC', '幼圆', 'YouYuan'],
    ...['方正黑体_GBK', '方正黑体简体', '思源黑体', '思源黑体 CN', 'Source Han Sans SC', 'Source Han Sans CN'],
    ...['微軟正黑體', 'Microsoft JhengHei'],
  ],
  kai: [
    ...['楷体', 'KaiTi', '楷体_GB2312', 'KaiTi_GB2312', '华文楷体', 'STKaiti', '楷体-简', 'Kaiti SC'],
    ...['方正楷体_GBK', '方正楷体简体', '標楷體', '标楷体', 'DFKai-SB', '隶书', 'LiSu', '华文隶书', 'STLiti'],
    ...['华文行楷', 'STXingkai', '华文新魏', 'STXinwei'],
  ],
  fang: [
    ...['仿宋', 'FangSong', '仿宋_GB2312', 'FangSong_GB2312', '华文仿宋', 'STFangsong'],
    ...['方正仿宋_GBK', '方正仿宋简体'],
  ],
  carlito: ['Calibri', 'Calibri Light'],
  caladea: ['Cambria', 'Cambria Math'],
  latinSans: ['Verdana', 'Tahoma', 'Segoe UI', 'Trebuchet MS'],
  latinSerif: ['Georgia', 'Garamond', 'Book Antiqua', 'Palatino Linotype'],
  latinMono: ['Consolas', 'Lucida Console'],
};

/** Which Chinese face goes on where a Latin one ends, whatever else the machine's configuration prefers. */
const COMPANIONS: readonly (readonly [FontKind, FontKind])[] = [
  ['latinSans', 'hei'],
  ['latinSerif', 'song'],
  ['latinMono', 'hei'],
];

/** Fonts that `make run` fetches where the machine has none. */
const OWN_FONTS = fileURLToPath(new URL('../../../data/fonts', import.meta.url));

/** What the fontconfig file of a program needs beside itself. */
export interface FontconfigFolders {
  /** Where fontconfig keeps what it has read, for all conversions. */
  readonly cache: string;
  /** Fonts of makePlaceholders(). */
  readonly placeholders: string;
}

/** The folders of a program below a folder of its own. */
export function fontconfigFolders(root: string): FontconfigFolders {
  return { cache: join(root, 'fontconfig'), placeholders: join(root, 'placeholders') };
}

let made: { readonly of: string; readonly fonts: Promise<ReadonlyMap<string, Uint8Array>> } | undefined;

/**
 * What is written into the folder of placeholders: fonts by their names. All fonts of the index are looked through,
 * once for all engines.
 */
export function makePlaceholders(index: FontIndex): Promise<ReadonlyMap<string, Uint8Array>> {
  const of = JSON.stringify(index.faces.map(({ file, member }) => [file, member]));
  if (made?.of !== of) made = { of, fonts: placeholdersBeside(index) };
  return made.fonts;
}

async function placeholdersBeside(index: FontIndex): Promise<ReadonlyMap<string, Uint8Array>> {
  const characters = await missingCharacters(index, openFontFile);
  return new Map([...placeholderFonts(characters)].map((font, number) => [`${number + 1}.ttf`, font]));
}

/** Makes the folders, and the fonts that are not there: others may be reading them. */
export async function makeFontconfigFolders(
  { cache, placeholders }: FontconfigFolders,
  fonts: ReadonlyMap<string, Uint8Array>,
): Promise<void> {
  await mkdir(cache, { recursive: true, mode: 0o700 });
  await mkdir(placeholders, { recursive: true, mode: 0o700 });
  for (const [name, bytes] of fonts) {
    const path = join(placeholders, name);
    const isThere = await stat(path).then(
      ({ size }) => size === bytes.length,
      () => false,
    );
    if (isThere) continue;
    const whole = join(cache, `${randomUUID()}.part`);
    await writeFile(whole, bytes, { mode: 0o600 });
    await rename(whole, path);
  }
}

/** @param index what there is in `fontDirs` and the machine's own folders */
export function fontconfigFile(fontDirs: readonly string[], folders: FontconfigFolders, index: FontIndex): string {
  const installed = new Set(index.faces.flatMap(({ families }) => families.map(folded)));
  const best = (kind: FontKind): string | undefined =>
    SUBSTITUTES[kind].find((family) => installed.has(folded(family)));
  const replacements = Object.entries(NAMES).flatMap(([kind, names]) => {
    const family = best(kind as FontKind);
    const missing = family === undefined ? [] : names.filter((name) => !installed.has(folded(name)));
    return missing.map((name) => rule(name, 'assign', family!));
  });
  const companions = COMPANIONS.flatMap(([latin, chinese]) => {
    const [before, after] = [best(latin), best(chinese)];
    return before === undefined || after === undefined || before === after ? [] : [rule(before, 'append', after)];
  });
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">',
    '<fontconfig>',
    ...[...fontDirs, OWN_FONTS, folders.placeholders].map((dir) => `<dir>${escaped(dir)}</dir>`),
    `<cachedir>${escaped(folders.cache)}</cachedir>`,
    WITHOUT_LANGUAGE,
    '<include ignore_missing="yes">/etc/fonts/fonts.conf</include>',
    ...replacements,
    ...companions,
    '</fontconfig>',
    '',
  ].join('\n');
}

/** Boxes are no font for a language, whatever letters of it they stand for. */
const WITHOUT_LANGUAGE = [
  '<match target="scan">',
  `<test name="family" compare="contains"><string>${PLACEHOLDER_FAMILY}</string></test>`,
  '<edit name="lang" mode="delete_all"/>',
  '</match>',
].join('');

/** Instead of a name, or behind it. Behind it is not enough for Chromium, which takes only what stands first. */
function rule(name: string, mode: 'assign' | 'append', family: string): string {
  const test = `<test name="family"><string>${escaped(name)}</string></test>`;
  const edit = `<edit name="family" mode="${mode}" binding="same"><string>${escaped(family)}</string></edit>`;
  return `<match target="pattern">${test}${edit}</match>`;
}

function folded(family: string): string {
  return family.toLowerCase();
}

function escaped(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}
