import dns from 'node:dns';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { LookupRequest } from '#core/platform/names/name-cache.ts';
import { SystemResolver } from '#core/platform/names/system-resolver.ts';

type Lookup = (hostname: string, options: object, callback: (...result: unknown[]) => void) => void;

const localhost: LookupRequest = { hostname: 'localhost', family: 4, hints: 0, order: undefined };
const loopback = [{ address: '127.0.0.1', family: 4 }];
const real = dns.lookup;

/** What the system does in this process; the helper always asks the real one. */
const lookup = vi.fn<Lookup>();
let resolver: SystemResolver;
beforeEach(() => {
  lookup.mockReset();
  dns.lookup = lookup as unknown as typeof dns.lookup;
  resolver = new SystemResolver();
});
afterEach(() => {
  resolver[Symbol.dispose]();
  dns.lookup = real;
});

it('the resolver asks in this process while the system is fast', async () => {
  lookup.mockImplementation((_hostname, _options, callback) => callback(null, [{ address: '192.0.2.1', family: 4 }]));
  expect(await resolver.resolve(localhost)).toEqual([{ address: '192.0.2.1', family: 4 }]);
});

it('the resolver returns what the helper finds when the system is slow in this process', async () => {
  lookup.mockImplementation(() => undefined);
  expect(await resolver.resolve(localhost)).toEqual(loopback);
});

it('the resolver asks only the helper while a lookup in this process is overdue, and no longer', async () => {
  let end: (() => void) | undefined;
  lookup.mockImplementation((_hostname, _options, callback) => (end = () => callback(null, [])));
  await resolver.resolve(localhost);
  await resolver.resolve(localhost);
  expect(lookup).toHaveBeenCalledOnce();
  end?.();
  lookup.mockImplementation((_hostname, _options, callback) => callback(null, []));
  expect(await resolver.resolve(localhost)).toEqual([]);
});

it('the resolver reports the error of the helper with its code', async () => {
  lookup.mockImplementation(() => undefined);
  // Longer than a label may be: no name server is asked.
  await expect(resolver.resolve({ ...localhost, hostname: 'a'.repeat(64) })).rejects.toMatchObject({
    code: expect.stringMatching(/^E/),
  });
});

it('lookups continue in this process when the helper ends', async () => {
  lookup.mockImplementation(() => undefined);
  await resolver.resolve(localhost);
  const question = resolver.resolve(localhost);
  lookup.mockImplementation((_hostname, _options, callback) => callback(null, [{ address: '192.0.2.1', family: 4 }]));
  resolver[Symbol.dispose]();
  expect(await question).toEqual([{ address: '192.0.2.1', family: 4 }]);
});
