/** Rules for file names that clients choose (contract B5). */
import { ServiceError } from '../errors.js';

/** A single path component. Throws `invalid_request` naming `field`. */
export function checkFileName(name: string, field: string, longestBytes: number): void {
  const fault = textFault(name) ?? componentFault(name);
  if (fault !== undefined) throw invalid(field, name, `${fault}; write a plain file name`);
  const sizeBytes = Buffer.byteLength(name);
  if (sizeBytes > longestBytes) {
    throw invalid(field, name, `has ${sizeBytes} bytes in UTF-8; at most ${longestBytes} are allowed`);
  }
}

function componentFault(name: string): string | undefined {
  if (name === '.' || name === '..') return 'names a folder';
  if (name.trim() === '') return 'is made of white space';
  return /[/\\]/.test(name) ? 'contains / or \\' : undefined;
}

/** Control characters, and halves of surrogate pairs, which no file system can keep. */
function textFault(text: string): string | undefined {
  if (/\p{Cc}/u.test(text)) return 'contains a control character';
  return /\p{Cs}/u.test(text) ? 'is not valid Unicode' : undefined;
}

function invalid(field: string, value: string, fault: string): ServiceError {
  const shown = JSON.stringify(value.length > 100 ? `${value.slice(0, 100)}…` : value);
  return new ServiceError('invalid_request', `${field}: ${shown} ${fault}`);
}
