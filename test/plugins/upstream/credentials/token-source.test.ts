import { setImmediate } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { TokenSource } from '../../../../plugins/upstream/credentials/token-source.ts';
import { silentLog } from '../../../support/database.ts';

let now = 0;
let suspended = 0; // ms that only the wall clock has seen
const clock = { log: silentLog, monotonic: () => now, now: () => now + suspended };
/** A cloud whose tokens are numbered, and live for an hour. */
const cloud = () => {
  let count = 0;
  return vi.fn(async () => ({ value: `token-${++count}`, lifetimeSeconds: 3_600 }));
};

it('a token is requested once for many calls', async () => {
  const read = cloud();
  const source = new TokenSource(read, clock);
  expect(await Promise.all([source.get(), source.get(), source.get()])).toEqual(['token-1', 'token-1', 'token-1']);
  expect(source.get()).toBe('token-1');
  expect(read).toHaveBeenCalledTimes(1);
});

it('a token is renewed before it ends, while calls go on with it', async () => {
  const source = new TokenSource(cloud(), clock);
  await source.get();
  now += 3_290_000;
  expect(source.get()).toBe('token-1');
  now += 20_000;
  expect(source.get()).toBe('token-1');
  await vi.waitFor(() => expect(source.get()).toBe('token-2'));
});

it('a renewal that fails is tried again, and the token serves until its end', async () => {
  const read = cloud();
  const source = new TokenSource(read, clock);
  await source.get();
  read.mockRejectedValue(new Error('out of service'));
  now += 3_400_000;
  for (let call = 0; call < 5; call++) expect(source.get()).toBe('token-1');
  await vi.waitFor(() => expect(read).toHaveBeenCalledTimes(2));
  await setImmediate();
  now += 11_000;
  expect(source.get()).toBe('token-1');
  await vi.waitFor(() => expect(read).toHaveBeenCalledTimes(3));
  await setImmediate();
  now += 200_000;
  await expect(source.get()).rejects.toThrow('out of service');
});

it('a token that has ended while the machine was suspended is not used, even if the wall clock is set back later', async () => {
  const source = new TokenSource(cloud(), clock);
  await source.get();
  suspended += 3_600_000;
  expect(await source.get()).toBe('token-2');
  suspended -= 7_200_000;
  expect(source.get()).toBe('token-2');
  now += 3_600_000;
  expect(await source.get()).toBe('token-3');
});

it('a token that the upstream has refused is not used again', async () => {
  const source = new TokenSource(cloud(), clock);
  source.discard('token-0');
  source.discard(await source.get());
  expect(await source.get()).toBe('token-2');
});
