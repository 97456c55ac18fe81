import type { LookupAddress } from 'node:dns';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { bounds } from '#core/platform/bounds.ts';
import { createLogger } from '#core/platform/logger.ts';
import { NameError, NameCache, type LookupRequest } from '#core/platform/names/name-cache.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** A name server whose answers the test gives, one lookup at a time. */
function createNameServer() {
  const asked: PromiseWithResolvers<readonly LookupAddress[]>[] = [];
  const lines: string[] = [];
  const names = new NameCache(
    () => {
      const answer = Promise.withResolvers<readonly LookupAddress[]>();
      asked.push(answer);
      return answer.promise;
    },
    createLogger((line) => lines.push(line)),
  );
  return {
    names,
    asked,
    lines,
    find: (hostname = 'a.example') => settled(names.find({ ...question, hostname })),
    answer: (address: string) => asked.at(-1)?.resolve([{ address, family: 4 }]),
    fail: (code = 'EAI_AGAIN') => asked.at(-1)?.reject(Object.assign(new Error(`getaddrinfo ${code}`), { code })),
  };
}

const question: LookupRequest = { hostname: 'a.example', family: 0, hints: 0, order: undefined };

/** The address or the error, once it is there. */
function settled(finding: Promise<readonly LookupAddress[]>) {
  const seen: { value?: string | NameError } = {};
  const done = finding.then(
    (addresses) => (seen.value = addresses.map(({ address }) => address).join()),
    (error: NameError) => (seen.value = error),
  );
  return Object.assign(seen, { done });
}

let server: ReturnType<typeof createNameServer>;
beforeEach(() => {
  vi.useFakeTimers();
  server = createNameServer();
});
afterEach(() => void vi.useRealTimers());

const pass = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds);

/** Finds the name once, at this address. */
async function know(address: string): Promise<void> {
  const found = server.find();
  server.answer(address);
  expect(await found.done).toBe(address);
}

describe('a name', () => {
  it('is asked for once, however many want it at the same time', async () => {
    const found = [server.find(), server.find(), server.find()];
    server.answer('192.0.2.1');
    expect(await Promise.all(found.map(({ done }) => done))).toEqual(['192.0.2.1', '192.0.2.1', '192.0.2.1']);
    expect(server.asked).toHaveLength(1);
  });

  it('is not asked for again within 30 s', async () => {
    await know('192.0.2.1');
    await pass(30 * second - 1);
    expect(await server.find().done).toBe('192.0.2.1');
    expect(server.asked).toHaveLength(1);
  });

  it('is found at its new address after 30 s', async () => {
    await know('192.0.2.1');
    await pass(30 * second);
    await know('192.0.2.2');
  });

  it('does not wait for another one', async () => {
    const slow = server.find('slow.example');
    const found = server.find();
    server.answer('192.0.2.1');
    expect(await found.done).toBe('192.0.2.1');
    expect(slow.value).toBeUndefined();
  });

  it('is asked for separately in each address family', async () => {
    void server.names.find({ ...question, family: 4 });
    void server.names.find({ ...question, family: 6 });
    expect(server.asked).toHaveLength(2);
  });

  it('is asked for at once when no connection to its address could be opened', async () => {
    await know('192.0.2.1');
    server.names.expire('a.example');
    await know('192.0.2.2');
  });

  it('that is unknown fails with a NameError after 5 s', async () => {
    const found = server.find();
    await pass(5 * second - 1);
    expect(found.value).toBeUndefined();
    await pass(1);
    expect(found.value).toBeInstanceOf(NameError);
    expect(found.value).toMatchObject({
      message: 'the name "a.example" could not be resolved: the name server has not responded',
      code: 'EAI_AGAIN',
      syscall: 'getaddrinfo',
    });
  });

  it('has one lookup in flight, however long it takes', async () => {
    for (let seconds = 0; seconds < 60; seconds++) {
      server.find();
      await pass(second);
    }
    expect(server.asked).toHaveLength(1);
    server.answer('192.0.2.1');
    expect(await server.find().done).toBe('192.0.2.1');
  });

  it('is asked for again when a lookup has been lost for two minutes', async () => {
    server.find();
    await pass(2 * minute);
    await know('192.0.2.1');
  });

  it('that does not exist fails with the code of the system, and is asked for again the next time', async () => {
    const found = server.find();
    server.fail('ENOTFOUND');
    expect(await found.done).toMatchObject({
      message: 'the name "a.example" could not be resolved: ENOTFOUND',
      code: 'ENOTFOUND',
    });
    await know('192.0.2.1');
  });
});

describe('a known name', () => {
  beforeEach(async () => {
    await know('192.0.2.1');
    await pass(31 * second);
  });

  it('is used after 200 ms when its new lookup is slow, and then at once', async () => {
    const first = server.find();
    await pass(199);
    expect(first.value).toBeUndefined();
    await pass(1);
    expect(first.value).toBe('192.0.2.1');
    const next = server.find();
    await pass(0);
    expect(next.value).toBe('192.0.2.1');
    expect(server.asked).toHaveLength(2);
  });

  it('moves when the slow lookup ends', async () => {
    server.find();
    await pass(4 * second);
    server.answer('192.0.2.2');
    await pass(0);
    expect(await server.find().done).toBe('192.0.2.2');
  });

  it('is used for 5 s when its new lookup fails, and then asked for again', async () => {
    const found = server.find();
    server.fail();
    expect(await found.done).toBe('192.0.2.1');
    await pass(5 * second - 1);
    expect(await server.find().done).toBe('192.0.2.1');
    expect(server.asked).toHaveLength(2);
    await pass(1);
    await know('192.0.2.2');
  });

  it('is used for an hour longer, and no further', async () => {
    await pass(hour - 2 * second);
    const kept = server.find();
    server.fail();
    expect(await kept.done).toBe('192.0.2.1');
    await pass(6 * second);
    const expired = server.find();
    server.fail();
    expect(await expired.done).toMatchObject({ code: 'EAI_AGAIN' });
  });

  it('is reported when it has been failing for a minute, until it is resolved or no longer used', async () => {
    const fail = async () => {
      server.find();
      server.fail();
      await pass(6 * second);
    };
    const since = performance.now();
    for (let tries = 0; tries < 9; tries++) await fail();
    expect(server.names.listFailures()).toEqual([]);
    await fail();
    expect(server.names.listFailures()).toEqual([since]);
    await pass(5 * minute);
    expect(server.names.listFailures()).toEqual([]);
    await fail();
    expect(server.names.listFailures()).toEqual([since]);
    await know('192.0.2.1');
    expect(server.names.listFailures()).toEqual([]);
  });

  it('is reported when its name server has not responded for a minute', async () => {
    server.find();
    await pass(minute);
    expect(server.names.listFailures()).toHaveLength(1);
  });

  it('is logged at most once a minute while it cannot be resolved', async () => {
    for (let lookup = 0; lookup < 15; lookup++) {
      server.find();
      server.fail();
      await pass(6 * second);
    }
    expect(server.lines).toHaveLength(2);
    expect(server.lines[0]).toContain(
      'the name "a.example" could not be resolved in time (EAI_AGAIN); its addresses from 31 s ago stay in use for up to an hour',
    );
  });
});

it('the cache keeps a bounded number of names, and forgets the oldest', async () => {
  for (let index = 0; index <= bounds.names; index++) {
    const found = server.find(`${index}.example`);
    server.answer('192.0.2.1');
    await found.done;
  }
  server.find('1.example');
  expect(server.asked).toHaveLength(bounds.names + 1);
  server.find('0.example');
  expect(server.asked).toHaveLength(bounds.names + 2);
});
