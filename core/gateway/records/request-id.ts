import { randomUUIDv7 } from 'node:crypto';

/**
 * A request id is `req_` and the 32 hexadecimal digits of a UUID version 7 (RFC 9562, 5.7), whose first 12 digits are the time of the
 * request. Ids therefore sort by time, and determine the daily partition of a record.
 */
const form = /^req_([\da-f]{12})7[\da-f]{19}$/;

/** Last millisecond of the year 9999: ISO 8601 needs more digits after it. */
const latest = 253_402_300_799_999;

const stamp = { time: Number.NaN, digits: '' }; // many requests share a millisecond

/**
 * Creates the id of a request.
 *
 * @param receivedAt epoch ms; exactly the time stored with the record
 */
export function createRequestId(receivedAt: number): string {
  if (stamp.time !== receivedAt) {
    stamp.time = receivedAt;
    stamp.digits = `req_${receivedAt.toString(16).padStart(12, '0')}`;
  }
  const uuid = randomUUIDv7();
  return stamp.digits + uuid.slice(14, 18) + uuid.slice(19, 23) + uuid.slice(24);
}

/** Returns epoch ms of the request with this id; undefined if the text is not a request id. */
export function timeOfRequestId(id: string): number | undefined {
  const digits = form.exec(id)?.[1];
  const time = digits === undefined ? Number.NaN : Number.parseInt(digits, 16);
  return time <= latest ? time : undefined;
}
