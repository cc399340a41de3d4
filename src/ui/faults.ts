/** What went wrong, in the language of the reader: the service's own messages are English, and follow it. */
import { ApiError } from './api.js';
import { CHINESE_FAULTS, CHINESE_WARNINGS } from './chinese.js';
import { currentLanguage, type TextName, text } from './text.js';

/** Why a queued job does not start. */
const WAITS: Readonly<Record<string, { readonly en: string; readonly zh: string }>> = {
  no_space: { en: 'the service is short of disk space', zh: '服务的磁盘空间不足' },
  volume_unavailable: { en: 'a volume of the service does not answer', zh: '服务的存储卷没有响应' },
  sink_unreachable: { en: 'the target cannot be reached', zh: '无法连接目标' },
  retry: { en: 'it will be tried again', zh: '稍后重试' },
};

function led(sentence: string | undefined, message: string): string {
  return currentLanguage() === 'zh' && sentence !== undefined ? `${sentence}${message}` : message;
}

interface Fault {
  readonly code?: string | undefined;
  readonly reason?: string | undefined;
  readonly message: string;
}

export function faultText({ code = '', reason = '', message }: Fault): string {
  // A reason says more than the code beside it.
  return led(CHINESE_FAULTS[reason] ?? CHINESE_FAULTS[code], `${message}${code && ` (${code})`}`);
}

/** A fault that the page finds by itself. */
export class PageFault extends Error {
  readonly textName: TextName;

  constructor(textName: TextName) {
    super(textName);
    this.textName = textName;
  }
}

/** Of whatever a request has thrown. */
export function errorText(error: unknown): string {
  if (error instanceof ApiError) return faultText(error);
  if (error instanceof PageFault) return text(error.textName);
  if (error instanceof TypeError || error instanceof DOMException) return text('unsent');
  return error instanceof Error ? error.message : String(error);
}

export function warningText(code: string, message: string): string {
  return led(CHINESE_WARNINGS[code], message);
}

export function waitText(reason: string): string {
  return WAITS[reason]?.[currentLanguage()] ?? reason;
}
