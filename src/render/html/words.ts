/** The few words that the file itself says, in the language of the document. */

export interface Words {
  readonly untitled: string;
  readonly outline: string;
  readonly attachments: string;
  page(pageNumber: number): string;
}

const ENGLISH: Words = {
  untitled: 'Document',
  outline: 'Contents',
  attachments: 'Attachments',
  page: (pageNumber) => `Page ${pageNumber}`,
};

const CHINESE: Words = {
  untitled: '文档',
  outline: '目录',
  attachments: '附件',
  page: (pageNumber) => `第 ${pageNumber} 页`,
};

/** `language` as in the `lang` attribute; undefined where nobody knows. */
export function wordsOf(language: string | undefined): Words {
  return language === 'zh' ? CHINESE : ENGLISH;
}
