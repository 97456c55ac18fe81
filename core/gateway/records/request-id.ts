import { randomUUIDv7 } from 'node:crypto';

/**
 * A request id is `req_` and the 32 hexadecimal digits of a UUID version 7 (RFC 9562, 5.7), whose first 12 digits are the time of the
 * request. Ids therefore sort by time, and determine the daily partition of a record.
 */
const requestIdPattern = /^req_([\da-f]{12})7[\da-f]{19}$/;

const maxTime = 253_402_300_799_999; // end of the year 9999, after which ISO 8601 needs more digits

const lastPrefix = { time: Number.NaN, text: '' }; // many requests share a millisecond

/** @param receivedAt epoch ms; must equal the time stored with the record */
export function createRequestId(receivedAt: number): string {
  if (lastPrefix.time !== receivedAt) {
    lastPrefix.time = receivedAt;
    lastPrefix.text = `req_${receivedAt.toString(16).padStart(12, '0')}`;
  }
  const uuid = randomUUIDv7();
  return lastPrefix.text + uuid.slice(14, 18) + uuid.slice(19, 23) + uuid.slice(24);
}

/** Returns epoch ms; undefined if the text is not a request id. */
export function parseRequestTime(id: string): number | undefined {
  const digits = requestIdPattern.exec(id)?.[1];
  const time = digits === undefined ? Number.NaN : Number.parseInt(digits, 16);
  return time <= maxTime ? time : undefined;
}
