import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ReplacedKeys } from '#core/business/accounts/replaced-keys.ts';

let clock = 0; // ms
beforeEach(() => {
  clock = 1_000;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  vi.spyOn(performance, 'now').mockImplementation(() => clock);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

async function pass(milliseconds: number): Promise<void> {
  clock += milliseconds;
  await vi.advanceTimersByTimeAsync(milliseconds);
}

const replacedAt = Date.parse('2026-11-22T01:00:00Z');

/** A database that knows one replaced key, and how often it was asked. */
function createKeys() {
  const query = vi.fn(() => Promise.resolve([{ digest: 'old', rotated_at: replacedAt }]));
  return { query, keys: new ReplacedKeys({ query: query as never }) };
}

it('the answer about a key is kept for a minute, also that it was never replaced', async () => {
  const { query, keys } = createKeys();
  const ask = async () => [await keys.findReplacementTime(['old']), await keys.findReplacementTime(['never'])];
  expect(await ask()).toEqual([new Date(replacedAt), undefined]);
  await pass(59_000);
  expect(await ask()).toEqual([new Date(replacedAt), undefined]);
  expect(query).toHaveBeenCalledTimes(2);
  await pass(2_000);
  await ask();
  expect(query).toHaveBeenCalledTimes(4);
});

it('a database that does not answer within a second is not waited for', async () => {
  const keys = new ReplacedKeys({ query: () => new Promise<never>(() => undefined) });
  const found = keys.findReplacementTime(['old']);
  await pass(1_000);
  expect(await found).toBeUndefined();
});
