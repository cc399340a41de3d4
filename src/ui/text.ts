/** Every word of the page, in both languages. */

const ENGLISH = {
  pageTitle: 'Document conversion',
  otherLanguage: '中文',
  key: 'Key of the service',
  useKey: 'Use this key',
  wrongKey: 'This is not the key of the service.',
  changeKey: 'Change key',
  scopes: 'The page needs a key with the scopes convert and read; trying jobs again needs admin.',
  unreadable:
    'This key lacks the scope read: jobs and counters are not seen. A product of one file comes back at once, page images do not.',
  unconvertible: 'This key lacks the scope convert: documents cannot be converted with it.',
  accepted: 'Accepted; without the scope read its end is not seen here. Job',
  convert: 'Convert a document',
  drop: 'Drop documents here, or choose them',
  format: 'To',
  pages: 'Pages',
  dpi: 'Dots an inch',
  password: 'Password',
  start: 'Convert',
  noFile: 'Choose a document first.',
  emptyFile: 'The file is empty.',
  inLine: 'Waits to be sent',
  sending: 'Being sent',
  queued: 'Waiting for a worker',
  running: 'Being converted',
  succeeded: 'Done',
  failed: 'Failed',
  cancelled: 'Cancelled',
  download: 'Download',
  downloadAll: 'Download all as ZIP',
  look: 'Look at the pages',
  facts: 'About the document',
  cancel: 'Cancel',
  retry: 'Try again',
  remove: 'Remove from this list',
  warnings: 'Warnings',
  signatures: 'Signatures, as the document states them; not verified',
  noSignatures: 'The document carries no signature.',
  attachments: 'Attachments',
  overview: 'Service',
  jobs: 'Latest jobs',
  job: 'Job',
  state: 'State',
  formats: 'From, to',
  submitted: 'Submitted',
  took: 'Took',
  actions: 'Actions',
  noJobs: 'No job yet.',
  ready: 'Ready',
  notReady: 'Takes no work: ',
  away: 'The service does not answer.',
  unsent: 'The service does not answer, or the file can no longer be read.',
  chartQueued: 'Waiting',
  chartRunning: 'Running',
  chartDone: 'Conversions a minute',
  chartFree: 'Least free space',
  disabled: 'is not there:',
  signedBy: 'Seal',
  method: 'method',
  date: 'date',
  only: 'The first pages are shown.',
  id: 'Id',
  title: 'Title',
  author: 'Author',
  subject: 'Subject',
  abstract: 'Abstract',
  keywords: 'Keywords',
  creator: 'Made with',
  creator_version: 'Version of it',
  creation_date: 'Made on',
  modification_date: 'Changed on',
  usage: 'Usage',
} as const;

export type TextName = keyof typeof ENGLISH;

/** What JSON output says of a document, by the names that it has there. */
export const FACTS = [
  'id',
  'title',
  'author',
  'subject',
  'abstract',
  'keywords',
  'creator',
  'creator_version',
  'creation_date',
  'modification_date',
  'usage',
] as const satisfies readonly TextName[];

export type FactName = (typeof FACTS)[number];

const CHINESE: Readonly<Record<TextName, string>> = {
  pageTitle: '文档转换',
  otherLanguage: 'English',
  key: '服务密钥',
  useKey: '使用此密钥',
  wrongKey: '密钥不正确。',
  changeKey: '更换密钥',
  scopes: '本页需要权限范围为 convert 和 read 的密钥；重试任务需要 admin。',
  unreadable: '此密钥没有 read 权限：看不到任务和统计。单个文件的产物直接返回，页面图像则取不到。',
  unconvertible: '此密钥没有 convert 权限：不能用它转换文档。',
  accepted: '已接受；没有 read 权限，此处看不到结果。任务：',
  convert: '转换文档',
  drop: '将文档拖到此处，或选择文档',
  format: '目标格式',
  pages: '页码',
  dpi: '分辨率（DPI）',
  password: '密码',
  start: '转换',
  noFile: '请先选择文档。',
  emptyFile: '文件是空的。',
  inLine: '等待上传',
  sending: '正在上传',
  queued: '等待处理',
  running: '正在转换',
  succeeded: '完成',
  failed: '失败',
  cancelled: '已取消',
  download: '下载',
  downloadAll: '打包下载（ZIP）',
  look: '查看页面',
  facts: '文档信息',
  cancel: '取消',
  retry: '重试',
  remove: '从列表移除',
  warnings: '警告',
  signatures: '签名签章（文档自述，未验证）',
  noSignatures: '文档没有签名签章。',
  attachments: '附件',
  overview: '服务状态',
  jobs: '最近的任务',
  job: '任务',
  state: '状态',
  formats: '格式',
  submitted: '提交时间',
  took: '用时',
  actions: '操作',
  noJobs: '还没有任务。',
  ready: '就绪',
  notReady: '暂不接收任务：',
  away: '服务没有响应。',
  unsent: '服务没有响应，或文件已无法读取。',
  chartQueued: '排队',
  chartRunning: '运行中',
  chartDone: '每分钟转换数',
  chartFree: '最小可用空间',
  disabled: '不可用：',
  signedBy: '印章',
  method: '算法',
  date: '日期',
  only: '仅显示前几页。',
  id: '标识',
  title: '标题',
  author: '作者',
  subject: '主题',
  abstract: '摘要',
  keywords: '关键词',
  creator: '创建程序',
  creator_version: '程序版本',
  creation_date: '创建日期',
  modification_date: '修改日期',
  usage: '用途',
};

export type Language = 'en' | 'zh';

const STORED = 'ofd-server-language';
let language: Language = initialLanguage();

function initialLanguage(): Language {
  const stored = localStorage.getItem(STORED);
  if (stored === 'en' || stored === 'zh') return stored;
  return navigator.language.toLowerCase().startsWith('zh') ? 'zh' : 'en';
}

export function text(name: TextName): string {
  return (language === 'zh' ? CHINESE : ENGLISH)[name];
}

export function currentLanguage(): Language {
  return language;
}

export function switchLanguage(): void {
  language = language === 'zh' ? 'en' : 'zh';
  localStorage.setItem(STORED, language);
}

const words = new WeakMap<Element, () => string>();

/** Gives an element words that follow the language. */
export function say<Kind extends HTMLElement>(element: Kind, shown: () => string): Kind {
  words.set(element, shown);
  element.dataset.said = '';
  // What is said aloud is not said again where nothing has changed.
  if (element.textContent !== shown()) element.textContent = shown();
  return element;
}

/** Puts the words of the current language into everything that is marked with `data-text`, or has got them by `say`. */
export function translatePage(): void {
  document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en';
  document.title = `ofd-server: ${text('pageTitle')}`;
  for (const element of document.querySelectorAll<HTMLElement>('[data-text]')) {
    element.textContent = text(element.dataset.text as TextName);
  }
  for (const element of document.querySelectorAll('[data-said]')) element.textContent = words.get(element)?.() ?? '';
}

/** "page 3 of 7", "第3页，共7". */
export function pageOf(done: number, total: number): string {
  return language === 'zh' ? `第 ${done} 页，共 ${total} 页` : `page ${done} of ${total}`;
}

export function pageCount(pages: number): string {
  return language === 'zh' ? `${pages} 页` : `${pages} page${pages === 1 ? '' : 's'}`;
}

/** "page 3", "第3页". */
export function pageNamed(page: number): string {
  return language === 'zh' ? `第 ${page} 页` : `page ${page}`;
}

/** Too many requests: when the next will be made. */
export function pausedFor(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  return language === 'zh'
    ? `此密钥的请求过于频繁，${seconds} 秒后继续。`
    : `Too many requests with this key; the page goes on in ${seconds} s.`;
}

/** The service has no place for the document now: when it is sent again. */
export function busyFor(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  return language === 'zh' ? `服务繁忙，${seconds} 秒后重试` : `The service is busy; sent again in ${seconds} s`;
}

export function bytesText(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const step = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(bytes, 1)) / 10)));
  return `${new Intl.NumberFormat(document.documentElement.lang, { maximumFractionDigits: step === 0 ? 0 : 1 }).format(bytes / 1024 ** step)} ${units[step]}`;
}

export function timeText(instant: string): string {
  return new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: 'short', timeStyle: 'medium' }).format(
    new Date(instant),
  );
}
