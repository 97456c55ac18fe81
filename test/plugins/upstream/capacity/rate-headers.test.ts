import { describe, expect, it } from 'vitest';
import { readRateHeaders } from '../../../../plugins/upstream/capacity/rate-headers.ts';

const now = Date.parse('2026-01-01T00:00:00Z');

describe('headers about a rate', () => {
  it.each([
    ['OpenAI', { 'x-ratelimit-remaining-requests': '3', 'x-ratelimit-reset-requests': '1m30s' }, 3, 90_000],
    ['Groq', { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '120ms' }, 0, 120],
    [
      'Anthropic',
      {
        'anthropic-ratelimit-requests-remaining': '7',
        'anthropic-ratelimit-requests-reset': '2026-01-01T00:00:05Z',
      },
      7,
      5_000,
    ],
    ['OpenRouter', { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(now + 4_000) }, 0, 4_000],
    ['the draft of the IETF', { 'ratelimit-remaining': '12', 'ratelimit-reset': '30' }, 12, 30_000],
  ])('of %s are read', (_vendor, headers, requests, leftFor) => {
    const left = readRateHeaders(headers, now);
    expect(left?.requests).toBe(requests);
    expect(left?.validForMs).toBeCloseTo(leftFor, 6);
  });

  it.each([
    [{}],
    [{ 'x-ratelimit-remaining-requests': '3' }],
    [{ 'x-ratelimit-remaining-requests': '-1', 'x-ratelimit-reset-requests': '1s' }],
    [{ 'x-ratelimit-remaining-requests': '1', 'x-ratelimit-reset-requests': 'soon' }],
    [{ 'x-ratelimit-remaining-tokens': '1', 'x-ratelimit-reset-tokens': '1s' }],
  ])('that do not mention requests are ignored: %j', (headers) => {
    expect(readRateHeaders(headers, now)).toBeUndefined();
  });
});
