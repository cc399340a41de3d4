import { describe, expect, it } from 'vitest';
import { describeFaces } from '../../src/fonts/font-index.js';
import { FontBook, type FontRequest } from '../../src/fonts/index.js';
import { bytesSource } from '../../src/fonts/source.js';
import { collection, type NamedFont, namedFontTables, sfnt } from './make-truetype.js';

const HAN = '中文宋体永A1 ';
const BOLD = { weight: 700, selection: 0x20 };

/** A book over one file a font; several fonts in one list stand in one collection. */
function bookOf(...files: readonly (NamedFont | readonly NamedFont[])[]): FontBook {
  const sources = files.map((fonts, i) => {
    const members = (Array.isArray(fonts) ? fonts : [fonts as NamedFont]).map(namedFontTables);
    const bytes = members.length === 1 ? sfnt(members[0]!) : collection(members);
    return [`/fonts/${i}.ttf` as string, bytesSource(bytes)] as const;
  });
  const byFile = new Map(sources);
  const faces = sources.flatMap(([file, source]) => describeFaces(source, file));
  return new FontBook({ faces }, (file) => byFile.get(file)!);
}

function request(fontName: string, more: Partial<FontRequest> = {}): FontRequest {
  return { fontName, bold: false, italic: false, serif: false, fixedWidth: false, weight: 400, ...more };
}

const SERIF_CJK: NamedFont[] = [
  { family: 'Noto Serif CJK JP', characters: HAN },
  { family: 'Noto Serif CJK SC', characters: HAN },
  { family: 'Noto Serif CJK TC', characters: HAN },
];
const SERIF_CJK_BOLD: NamedFont = {
  family: 'Noto Serif CJK SC',
  fullName: 'Noto Serif CJK SC Bold',
  characters: HAN,
  os2: BOLD,
};
const SANS_CJK: NamedFont = { family: 'Noto Sans CJK SC', characters: HAN };
const KAI: NamedFont = { family: 'AR PL UKai CN', characters: HAN };
const FANG: NamedFont = { family: 'FandolFang', characters: HAN };
const SANS: NamedFont = { family: 'DejaVu Sans', characters: 'Aé●✓α' };
const MONO: NamedFont = { family: 'DejaVu Sans Mono', characters: 'A1' };
const machine = bookOf(SANS, MONO, SERIF_CJK, SERIF_CJK_BOLD, SANS_CJK, KAI, FANG);

describe('substitutes by name (spec 7.8)', () => {
  const serif = 'Noto Serif CJK SC';
  const sans = 'Noto Sans CJK SC';
  const kai = 'AR PL UKai CN';
  const fang = 'FandolFang';
  it.each([
    [
      serif,
      [
        '宋体',
        'SimSun',
        'NSimSun',
        '新宋体',
        'STSong',
        '华文宋体',
        '书宋',
        'FZShuSong',
        'FZSSJW--GB1-0',
        'AdobeSongStd-Light',
        'MinionPro-Regular',
      ],
    ],
    [
      sans,
      [
        '黑体',
        'SimHei',
        'STHeiti',
        'STXihei',
        '华文细黑',
        '方正黑体',
        'FZHTJW--GB1-0',
        '微软雅黑',
        'Microsoft YaHei',
        '苹方',
        'PingFang SC',
        '思源黑体',
        '幼圆',
        'YouYuan',
      ],
    ],
    [
      kai,
      [
        '楷体',
        'KaiTi',
        'SimKai',
        '楷体_GB2312',
        'KaiTi_GB2312',
        'STKaiti',
        '华文楷体',
        'FZKTJW--GB1-0',
        '隶书',
        'LiSu',
        '华文行楷',
      ],
    ],
    [
      fang,
      ['仿宋', 'FangSong', 'SimFang', '仿宋_GB2312', 'FangSong_GB2312', 'STFangsong', '华文仿宋', 'FZFSJW--GB1-0'],
    ],
    [fang, ['SomeFangSongFont', '某某仿宋']],
    [kai, ['MyKaiFont', '某某楷书']],
    [sans, ['XyzHei', 'FangZheng HeiTi', '方正兰亭黑']],
    [serif, ['SomeSong', '某某宋']],
    [serif, ['Nobody Knows', '']],
    ['DejaVu Sans', ['Arial', 'Helvetica', 'Calibri']],
    ['DejaVu Sans Mono', ['Courier New', 'OCR-B', 'OCRB']],
  ])('%s for %j', (substitute, names) => {
    for (const name of names) {
      const font = machine.resolve(request(name));
      expect([name, font.substituteName, font.isSubstitute]).toEqual([name, substitute, true]);
    }
  });

  it('reads names with tags, styles, blanks, wide digits and broken encodings', () => {
    for (const name of ['ABCDEF+KaiTi', 'KaiTi,Bold', 'KaiTi-BoldItalic', ' kai_ti ', 'ＫａｉＴｉ', '¿¬Ìå']) {
      expect([name, machine.resolve(request(name)).substituteName]).toEqual([name, kai]);
    }
  });

  it('asks FamilyName next, then the hints', () => {
    expect(machine.resolve(request('F1', { familyName: '楷体' })).substituteName).toBe(kai);
    expect(machine.resolve(request('F1', { fixedWidth: true })).substituteName).toBe('DejaVu Sans Mono');
    expect(machine.resolve(request('F1', { serif: true })).substituteName).toBe(serif);
    expect(machine.resolve(request('F1', { charset: 'prc', fixedWidth: true })).substituteName).toBe(serif);
    expect(machine.resolve(request('F1', { charset: 'big5' })).substituteName).toBe('Noto Serif CJK TC');
    expect(machine.resolve(request('細明體')).substituteName).toBe('Noto Serif CJK TC');
  });

  it('gives the installed font itself first', () => {
    const book = bookOf(SERIF_CJK, { family: 'SimSun', chineseFamily: '宋体', characters: HAN });
    for (const name of ['宋体', 'SimSun', 'ABCDEF+SimSun', '宋体,Bold', 'ËÎÌå']) {
      const font = book.resolve(request(name));
      expect([name, font.isSubstitute, font.primary!.familyName]).toEqual([name, false, 'SimSun']);
    }
  });

  it('is the same object for the same request', () => {
    expect(machine.resolve(request('宋体'))).toBe(machine.resolve(request('宋体')));
  });
});

describe('bold and italic', () => {
  it('takes a real bold member, else says so', () => {
    const bold = machine.resolve(request('宋体', { weight: 700 }));
    expect([bold.primary!.isBold, bold.needsBold]).toEqual([true, false]);
    const kai = machine.resolve(request('楷体', { bold: true, italic: true }));
    expect([kai.needsBold, kai.needsItalic]).toEqual([true, true]);
    expect(machine.resolve(request('楷体,BoldItalic'))).toMatchObject({ needsBold: true, needsItalic: true });
    expect(machine.resolve(request('楷体', { weight: 600 }))).toMatchObject({ needsBold: false });
  });

  it.each(['小标宋', '方正小标宋简体', 'FZXiaoBiaoSong-B05S', 'FZXBSJW--GB1-0'])(
    'takes a heavy Song for %s and never makes it bolder',
    (name) => {
      const font = machine.resolve(request(name, { weight: 700 }));
      expect(font.primary!.isBold).toBe(true);
      expect(bookOf(SERIF_CJK).resolve(request(name, { bold: true })).needsBold).toBe(false);
    },
  );
});

describe('fallback by character', () => {
  it('goes on to the next face that has the character', () => {
    const arial = machine.resolve(request('Arial'));
    expect(arial.glyphFor(0x41)!.face.familyName).toBe('DejaVu Sans');
    expect(arial.glyphFor(0x4e2d)!.face.familyName).toBe('Noto Sans CJK SC');
    expect(machine.resolve(request('宋体')).glyphFor(0x2713)!.face.familyName, 'any face at all').toBe('DejaVu Sans');
    expect(arial.glyphFor(0x10fffd)).toBeUndefined();
    expect(arial.glyphFor(0x10fffd)).toBeUndefined();
  });

  it('works without a Chinese face, and without any', () => {
    const latin = bookOf(SANS).resolve(request('宋体'));
    expect(latin.primary!.familyName).toBe('DejaVu Sans');
    expect(latin.glyphFor(0x4e2d)).toBeUndefined();
    expect(latin.glyphFor(0x41)).toBeDefined();
    const none = bookOf().resolve(request('宋体', { bold: true, italic: true }));
    expect(none).toMatchObject({ primary: undefined, needsBold: false, needsItalic: false, substituteName: '' });
    expect(none.glyphFor(0x41)).toBeUndefined();
  });

  it('finds Chinese faces that no table lists', () => {
    const book = bookOf(SANS, { family: 'Local Kanji', characters: HAN }, { family: 'Local SC', characters: HAN });
    expect(book.resolve(request('宋体')).substituteName).toBe('Local SC');
  });

  it('shows radicals and compatibility forms by their plain characters', () => {
    const font = machine.resolve(request('宋体'));
    expect(font.glyphFor(0x2f42), 'KANGXI RADICAL SCRIPT').toEqual(font.glyphFor(0x6587));
    expect(font.glyphFor(0xff21)).toEqual(font.glyphFor(0x41));
    expect(font.glyphFor(0xfb03)).toBeUndefined();
  });

  it('passes over faces whose file is gone', () => {
    const { faces } = machine.index;
    const book = new FontBook({ faces }, () => bytesSource(new Uint8Array(0)));
    expect(book.resolve(request('宋体')).primary).toBeUndefined();
  });

  it('shows private codes by the named font alone, those of GB 18030 by any Chinese face too', () => {
    const [own, gb] = ['\ue005', '\ue816'];
    const signs: NamedFont = { family: 'OpenSymbol', characters: own + gb };
    const chinese: NamedFont = { family: 'Noto Serif CJK SC', characters: HAN + own + gb };
    const book = bookOf(signs, chinese, { family: 'Mine', characters: own });
    const faceOf = (font: string, character: string) =>
      book.resolve(request(font)).glyphFor(character.codePointAt(0)!)?.face.postScriptName;
    expect(faceOf('宋体', own)).toBeUndefined();
    expect(faceOf('宋体', gb)).toBe(faceOf('宋体', '中'));
    expect(faceOf('宋体', gb)).toBeDefined();
    expect(faceOf('Mine', own)).toBeDefined();
    expect(faceOf('Mine', '\u{f0000}')).toBeUndefined();
  });

  it('shows Symbol and Wingdings codes as characters, or through the font itself', () => {
    const wingdings = machine.resolve(request('Wingdings', { charset: 'symbol' }));
    const tick = machine.resolve(request('宋体')).glyphFor(0x2713)!.glyphId;
    expect(wingdings.glyphFor(0xf0fc)!.glyphId).toBe(tick);
    expect(wingdings.glyphFor(0xfc)!.glyphId).toBe(tick);
    expect(machine.resolve(request('Symbol')).glyphFor(0x61)!.face.familyName).toBe('DejaVu Sans');
    const own = bookOf(SANS, { family: 'Wingdings', characters: '\uf0fc' });
    expect(own.resolve(request('Wingdings')).glyphFor(0xf0fc)!.face.familyName).toBe('Wingdings');
  });
});

describe('embedded fonts', () => {
  const bytes = sfnt(namedFontTables({ family: 'Inner', characters: 'A' }));

  it('opens the same bytes once, other bytes under the same name anew', () => {
    const face = machine.embedded('Doc_0/Res/font.ttf', bytes, 'Inner')!;
    expect(machine.embedded('Doc_0/Res/font.ttf', Uint8Array.from(bytes), 'Inner')).toBe(face);
    const other = sfnt(namedFontTables({ family: 'Other', characters: 'B' }));
    const second = machine.embedded('Doc_0/Res/font.ttf', other, 'Inner')!;
    expect(second.familyName).toBe('Other');
    expect(second.key).not.toBe(face.key);
    expect(bookOf().embedded('elsewhere', bytes, 'Inner')!.key, 'the key is of the content').toBe(face.key);
  });

  it('gives undefined for what is no font', () => {
    expect(machine.embedded('a', new Uint8Array(0), 'x')).toBeUndefined();
    expect(machine.embedded('b', new Uint8Array(1000).fill(0x41), 'x')).toBeUndefined();
  });
});
