import { describe, expect, it } from 'vitest';
import { createReportedFailure } from '#core/gateway/model-call/reported-failure.ts';
import { parseRetryDelay } from '#core/gateway/model-call/retry-after.ts';
import { readReportedError } from '#core/gateway/model-call/upstream-error.ts';
import type { JsonValue } from '#core/platform/json.ts';

const retryInfo = (retryDelay: JsonValue) => ({
  message: 'You exceeded your current quota. Please retry in 9s.',
  details: [
    { '@type': 'type.googleapis.com/google.rpc.QuotaFailure' },
    { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay },
  ],
});

describe('the wait that the body of an error names', () => {
  it.each([
    ['Rate limit reached for gpt-5 in organization org-x on tokens per min. Please try again in 1.2s. Visit …', 1.2],
    ['Please try again in 20ms.', 0.02],
    ['Please try again in 6m0s.', 360],
    ['Rate limit reached … Please try again in 7m12.5s. Need more tokens?', 432.5],
    ['Please try again in 1h2m3s', 3_600],
    ['Please retry after 26 seconds.', 26],
    ['Please retry in 34.07s.', 34.07],
    ['try again in 2 minutes', 120],
    ['Please try again in 1m 30s', 90],
  ])('%j is read from words', (message, seconds) => {
    expect(parseRetryDelay({ message })).toBeCloseTo(seconds, 6);
  });

  it.each(['try again later', 'try again in a moment', 'retry after 5', 'in 5s it was over', 'try again in 0s', ''])(
    '%j names none',
    (message) => {
      expect(parseRetryDelay({ message })).toBeUndefined();
    },
  );

  it.each([
    ['34.074824224s', 34.074824224],
    ['5s', 5],
    ['86400s', 3_600],
  ])('%j is read from what Gemini adds, an hour at most', (delay, seconds) => {
    expect(parseRetryDelay(retryInfo(delay))).toBe(seconds);
  });

  it.each(['soon', '-1s', 5, null])('%j is no delay: the words count', (delay) => {
    expect(parseRetryDelay(retryInfo(delay))).toBe(9);
  });
});

it('an error inside a 200 that speaks of too many requests says for how long', () => {
  const error = { code: 'rate_limit_exceeded', message: 'Rate limit reached. Please try again in 12s.' };
  expect(createReportedFailure(readReportedError({ error }))).toMatchObject({
    code: 'rate_limited',
    details: { retryAfter: 12 },
  });
});
