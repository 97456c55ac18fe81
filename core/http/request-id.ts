import { randomUUIDv7 } from 'node:crypto';

/** An id for a request, to be found again in the log; ids sort by time. */
export function createRequestId(): string {
  return `req_${randomUUIDv7().replaceAll('-', '')}`;
}
