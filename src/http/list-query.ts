/** Parameters that every list takes: how many, and from where. */
import { ServiceError } from '../errors.js';

const DEFAULT_LIMIT = 50;
const LARGEST_LIMIT = 200;

/** Throws `invalid_request`. */
export function limitOf(text: string | undefined): number {
  if (!text) return DEFAULT_LIMIT;
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > LARGEST_LIMIT) {
    throw invalid(`limit: ${shownText(text)} is not allowed; write a whole number from 1 to ${LARGEST_LIMIT}`);
  }
  return limit;
}

/** The store's own cursor, in a form that nobody takes for an id; for next_cursor. */
export function cursorText(cursor: string | undefined): string | undefined {
  return cursor === undefined ? undefined : Buffer.from(cursor).toString('base64url');
}

/**
 * The store's cursor out of what cursorText made of it. Throws `invalid_request`.
 * @param pattern of a whole cursor
 */
export function cursorOf(text: string | undefined, pattern: RegExp): string | undefined {
  if (!text) return undefined;
  const cursor = Buffer.from(text, 'base64url').toString('latin1');
  if (!pattern.test(cursor) || Buffer.from(cursor).toString('base64url') !== text) {
    throw invalid(`cursor: ${shownText(text)} is none of this service; write next_cursor of the page before`);
  }
  return cursor;
}

/** A text of the client's as a message shows it. */
export function shownText(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}

function invalid(message: string): ServiceError {
  return new ServiceError('invalid_request', message);
}
