import { describe, expect, it } from 'vitest';
import { createRequestId, parseRequestTime } from '#core/gateway/records/request-id.ts';

describe('a request id', () => {
  it('contains its time to the millisecond', () => {
    for (const time of [0, 1, 1_795_306_495_794, Date.now(), 253_402_300_799_999]) {
      expect(parseRequestTime(createRequestId(time))).toBe(time);
    }
  });

  it('is a UUID version 7 without hyphens', () => {
    expect(createRequestId(Date.now())).toMatch(/^req_[\da-f]{12}7[\da-f]{3}[89ab][\da-f]{15}$/);
  });

  it('sorts by time', () => {
    const ids = [9, 10, 4_095, 4_096, 1_795_306_495_794, 1_795_306_495_795].map(createRequestId);
    expect(ids.toSorted()).toEqual(ids);
  });

  it('is unique within a millisecond', () => {
    expect(new Set(Array.from({ length: 10_000 }, () => createRequestId(1))).size).toBe(10_000);
  });

  it.each([
    ['an empty text', ''],
    ['another prefix', createRequestId(1).replace('req_', 'res_')],
    ['a digit too many', `${createRequestId(1)}0`],
    ['capitals', createRequestId(1).toUpperCase()],
    ['another version of UUID', `req_${'0'.repeat(12)}4${'0'.repeat(19)}`],
    ['a time after the year 9999', `req_${'f'.repeat(12)}7${'0'.repeat(19)}`],
    ['SQL', "req_' OR true --"],
  ])('is not %s', (_, text) => {
    expect(parseRequestTime(text)).toBeUndefined();
  });
});
