import { beforeEach, expect, it } from 'vitest';
import type { Catalog, Upstream } from '#core/config/catalog/catalog.ts';
import { LimitSamples } from '#core/gateway/model-call/reported-limits.ts';

const upstream = { name: 'one' } as Upstream;
const catalog = { upstreams: [upstream] } as unknown as Catalog;
let now: number;
let samples: LimitSamples;
beforeEach(() => {
  now = 0;
  samples = new LimitSamples({ now: () => now, monotonic: () => now });
});
const headers = (left: string) => ({ 'ratelimit-limit': '10', 'ratelimit-remaining': left });
const told = () => samples.latest({ catalog }).map(({ requests, tokens }) => [requests, tokens]);

it.each([
  ['OpenAI', 'x-ratelimit-limit-requests', 'x-ratelimit-remaining-requests'],
  ['Anthropic', 'anthropic-ratelimit-requests-limit', 'anthropic-ratelimit-requests-remaining'],
  ['Moonshot', 'x-ratelimit-limit', 'x-ratelimit-remaining'],
])('the limits that %s tells are read', (_vendor, limit, left) => {
  samples.observe(upstream, {
    [limit]: '500',
    [left]: '20',
    'x-ratelimit-limit-tokens': '9000',
    'x-ratelimit-remaining-tokens': '8',
  });
  expect(told()).toEqual([
    [
      { limit: 500, left: 20 },
      { limit: 9_000, left: 8 },
    ],
  ]);
});

it('the limits are read from one answer in ten seconds, and stay if that answer reports none', () => {
  samples.observe(upstream, headers('9'));
  samples.observe(upstream, headers('8'));
  expect(told()).toEqual([[{ limit: 10, left: 9 }, undefined]]);
  now = 10_000;
  samples.observe(upstream, { 'ratelimit-limit': 'many', 'ratelimit-remaining': '-1' });
  now = 20_000;
  samples.observe(upstream, headers('7'));
  expect(told()).toEqual([[{ limit: 10, left: 7 }, undefined]]);
});

it('the limits of an upstream that gateway.yaml no longer has are not reported', () => {
  samples.observe({ name: 'gone' } as Upstream, { 'ratelimit-limit': '10', 'ratelimit-remaining': '1' });
  expect(told()).toEqual([]);
});
