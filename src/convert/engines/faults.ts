/** Errors that every engine in this process may meet, as clients see them. */
import { ServiceError } from '../../errors.js';
import { PageListError } from '../page-list.js';

/** For a document none of whose pages is wanted, or that has none. */
export function noPage(pages: string | undefined, pagesField: string, pageCount: number): ServiceError {
  return pages === undefined
    ? new ServiceError('conversion_failed', 'The document has no page', { reason: 'corrupt' })
    : new ServiceError('invalid_request', `${pagesField}: "${pages}" names no page of a document of ${pageCount}`);
}

/** @param engine as a message begins with it: "The OFD engine" */
export function engineFault(error: unknown, engine: string, pagesField: string): ServiceError {
  if (error instanceof ServiceError) return error;
  if (error instanceof PageListError) {
    return new ServiceError('invalid_request', `${pagesField}: ${error.message}`, { cause: error });
  }
  const { code, syscall, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new ServiceError('insufficient_storage', `No space for the product: ${message}`, { cause: error });
  }
  if (syscall !== undefined) {
    return new ServiceError('internal_error', `The product cannot be written: ${message}`, { cause: error });
  }
  return new ServiceError('conversion_failed', `${engine} failed: ${message ?? String(error)}`, {
    reason: 'internal',
    cause: error,
  });
}
