import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Host } from '#core/host.ts';
import { AccountRoom } from '../../../../plugins/format/responses-store/account-room.ts';
import { Recorder, type Shared } from '../../../../plugins/format/responses-store/recorder.ts';
import { responseBody } from './fixture.ts';

const query = vi.fn<() => Promise<unknown[]>>();
const host = {
  log: { info: () => undefined, warn: () => undefined, error: () => undefined },
  database: { query },
  now: () => 1_800_000_000_000,
} as unknown as Host;
const draft = { accountId: 'a', items: [], previousId: undefined, isWanted: true };

const options = { keep_hours: 24, max_bytes: 10_000, max_account_bytes: 1_048_576 };

let shared: Shared;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  query.mockReset();
  shared = { rest: { until: 0 }, room: new AccountRoom() };
});
afterEach(() => void vi.useRealTimers());

const save = (count: number) => new Recorder(host, draft, options, shared).save(responseBody(count));

it('one answer waits for a database that is silent, those after it do not', async () => {
  query.mockReturnValue(new Promise(() => undefined));
  const first = save(1);
  await vi.advanceTimersByTimeAsync(2_000);
  await first;
  await save(2);
  expect(query).toHaveBeenCalledOnce();
});

it('a database that has failed is tried again after a while', async () => {
  query.mockRejectedValueOnce(new Error('away')).mockResolvedValue([]);
  await save(1);
  await vi.advanceTimersByTimeAsync(5_000);
  await save(2);
  expect(query).toHaveBeenCalledTimes(2);
});

it('tells of an answer that the database did not take', async () => {
  query.mockRejectedValueOnce(new Error('away')).mockResolvedValue([]);
  expect([await save(1), await save(2)]).toEqual(Array(2).fill('not stored: the database failed'));
});
