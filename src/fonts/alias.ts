/**
 * Which kind of letter a font name stands for, and the installed families that can take its place (spec 7.8). Tables
 * only: names are compared in the form of comparableName().
 */

export type FontKind =
  | 'song'
  | 'titleSong'
  | 'hei'
  | 'kai'
  | 'fang'
  | 'latinSans'
  | 'latinSerif'
  | 'latinMono'
  | 'carlito'
  | 'caladea'
  | 'symbol';

/** Names of the table in their order: the first pattern that fits decides. Title faces come before plain Song. */
const NAMES: readonly (readonly [FontKind, RegExp])[] = [
  ['titleSong', /小标宋|大标宋|粗宋|xiaobiaosong|dabiaosong|fzxbs|fzdbs|fzcs/],
  ['fang', /^(仿宋|华文仿宋|方正仿宋|fangsong|simfang|stfangsong|fzfs|adobefangsong)/],
  ['kai', /^(楷体|华文楷体|方正楷体|标楷体|標楷體|kaiti|simkai|stkaiti|fzkt|dfkai|biaukai|adobekaiti)/],
  ['kai', /^(隶书|华文隶书|方正隶|lisu|simli|stliti|fzls|fzlb|华文行楷|stxingkai|华文新魏|stxinwei|舒体|fzst)/],
  ['hei', /^(幼圆|youyuan|simyou|fzy[0-9]|fzzy|fzxy|圆体)/],
  ['hei', /^(黑体|华文细黑|华文黑体|方正黑体|simhei|stheiti|stxihei|heiti|fzht|fzxh|fzdh|fzch|adobeheiti)/],
  ['hei', /^(微软雅黑|微軟正黑|microsoftyahei|msyh|microsoftjhenghei|苹方|pingfang|等线|dengxian|文泉驿|wenquanyi)/],
  ['hei', /^(思源黑体|sourcehansans|notosanscjk|notosanssc|droidsansfallback|adobegothic|msgothic|malgun)/],
  ['song', /^(新?宋体|华文宋体|华文中宋|方正书宋|书宋|报宋|n?simsun|stsong|stzhongsong|songti|fzss|fzbs|fzshusong)/],
  ['song', /^(adobesong|minionpro|思源宋体|sourcehanserif|notoserifcjk|notoserifsc|p?mingliu|新?細明體|明体|msmincho)/],
  [
    'latinSans',
    /^(arial|helvetica|verdana|tahoma|segoeui|trebuchet|liberationsans|dejavusans(?!mono)|univers|frutiger)/,
  ],
  ['latinSerif', /^(timesnewroman|times|georgia|garamond|bookantiqua|palatino|century|liberationserif)/],
  ['latinMono', /^(couriernew|courier|consolas|lucidaconsole|menlo|monaco|ocrb?|ocra|liberationmono|dejavusansmono)/],
  ['carlito', /^(calibri|carlito)/],
  ['caladea', /^(cambria|caladea)/],
  ['symbol', /^(wingdings|webdings|symbol|zapfdingbats|mtextra)/],
];

/** In this order, since FangSong contains Song. */
const PATTERNS: readonly (readonly [FontKind, RegExp])[] = [
  ['fang', /fang|仿/],
  ['kai', /kai|楷|隶|行书|草/],
  ['hei', /hei|黑|圆|gothic/],
  ['song', /song|宋|sung|ming|明/],
  ['latinMono', /mono(?!type)|typewriter|courier/],
  ['latinSans', /sans/],
];

/** The kind that a name (comparable form) says, or undefined. */
export function kindOfName(name: string): FontKind | undefined {
  for (const [kind, pattern] of NAMES) if (pattern.test(name)) return kind;
  // FangZheng is the maker, not a style.
  const style = name.replace(/fangzheng|方正/g, '');
  for (const [kind, pattern] of PATTERNS) if (pattern.test(style)) return kind;
  return undefined;
}

const SONG = [
  'SimSun',
  'NSimSun',
  'STSong',
  'Songti SC',
  'FZShuSong-Z01',
  'Noto Serif CJK SC',
  'Source Han Serif SC',
  'Source Han Serif CN',
  'Noto Serif SC',
  'AR PL UMing CN',
  'FandolSong',
  'AR PL SungtiL GB',
];
const HEI = [
  'SimHei',
  'Microsoft YaHei',
  'PingFang SC',
  'STHeiti',
  'Heiti SC',
  'Noto Sans CJK SC',
  'Source Han Sans SC',
  'Source Han Sans CN',
  'Noto Sans SC',
  'WenQuanYi Micro Hei',
  'WenQuanYi Zen Hei',
  'FandolHei',
  'Droid Sans Fallback',
];
const KAI = [
  'KaiTi',
  'KaiTi_GB2312',
  'STKaiti',
  'Kaiti SC',
  'FandolKai',
  'AR PL UKai CN',
  'LXGW WenKai',
  'AR PL KaitiM GB',
];
const FANG = [
  'FangSong',
  'FangSong_GB2312',
  'STFangsong',
  'FandolFang',
  'Zhuque Fangsong',
  'Zhuque Fangsong (technical preview)',
];
const TITLE = ['FZXiaoBiaoSong-B05S', 'FZXiaoBiaoSong-B05', 'FZXBSJW--GB1-0', '方正小标宋简体'];
const SANS = ['Liberation Sans', 'Arimo', 'Arial', 'Helvetica', 'Nimbus Sans', 'FreeSans', 'DejaVu Sans'];
const SERIF = ['Liberation Serif', 'Tinos', 'Times New Roman', 'Times', 'Nimbus Roman', 'FreeSerif', 'DejaVu Serif'];
const MONO = ['Liberation Mono', 'Cousine', 'Courier New', 'Courier', 'Nimbus Mono PS', 'FreeMono', 'DejaVu Sans Mono'];
const SYMBOL = ['Noto Sans Symbols2', 'Noto Sans Symbols', 'Segoe UI Symbol', 'DejaVu Sans'];

/** Families to look for, best first; a Latin kind goes on with the Chinese kind that goes with it. */
export const SUBSTITUTES: Readonly<Record<FontKind, readonly string[]>> = {
  song: [...SONG, ...HEI, ...SERIF],
  titleSong: [...TITLE, ...SONG, ...HEI, ...SERIF],
  hei: [...HEI, ...SONG, ...SANS],
  kai: [...KAI, ...SONG, ...HEI, ...SERIF],
  fang: [...FANG, ...SONG, ...HEI, ...SERIF],
  latinSans: [...SANS, ...HEI, ...SONG],
  latinSerif: [...SERIF, ...SONG, ...HEI],
  latinMono: [...MONO, ...HEI, ...SONG],
  carlito: ['Carlito', 'Calibri', ...SANS, ...HEI, ...SONG],
  caladea: ['Caladea', 'Cambria', ...SERIF, ...SONG, ...HEI],
  symbol: [...SYMBOL, ...SONG, ...HEI],
};

/** Families that have a member for each Chinese region, by the suffix for simplified characters. */
export const REGIONAL_SUFFIX = / SC$/;

const REGION_OF_CHARSET: Readonly<Record<string, string>> = {
  big5: ' TC',
  'shift-jis': ' JP',
  wansung: ' KR',
  johab: ' KR',
};

const REGION_OF_NAME: readonly (readonly [region: string, pattern: RegExp])[] = [
  [' TC', /mingliu|細明|標楷|biaukai|dfkai|jhenghei|正黑體|pingfangtc|pingfanghk|(?:cjk|hans(?:ans|erif))(?:tc|hk|tw)/],
  [' JP', /mincho|msgothic|mspgothic|meiryo|hiragino|明朝|yugothic/],
  [' KR', /batang|malgun|gulim|dotum|applegothic/],
];

/** Suffix of the regional members to prefer, by the name (comparable form), then by Font@Charset; undefined for SC. */
export function regionOf(names: readonly string[], charset: string): string | undefined {
  for (const [region, pattern] of REGION_OF_NAME) if (names.some((name) => pattern.test(name))) return region;
  return REGION_OF_CHARSET[charset];
}
