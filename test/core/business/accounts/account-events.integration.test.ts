import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { publishEvents, readEvents, recordEvent, removeOldEvents } from '#core/business/accounts/account-events.ts';
import { rotateKey } from '#core/business/accounts/account-key.ts';
import { createAccount } from '#core/business/accounts/accounts.ts';
import { EventRelay } from '#core/business/accounts/event-relay.ts';
import type { EventPublisher } from '#core/gateway/events/event-handler.ts';
import type { Database } from '#core/platform/database/database.ts';
import { SharedUnavailable } from '#core/platform/shared/shared.ts';
import { clearDatabase, createTestDatabase, silentLog } from '../../../support/database.ts';

let database: Database;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());
beforeEach(async () => {
  await clearDatabase(database);
});

const blocked = (accountId: string) => ({ accountId });
const record = (accountId: string, key: string = randomUUID()) =>
  database.fork().transactional((tx) => recordEvent(tx, 'account.blocked', blocked(accountId), key));

/** A publisher that remembers the account of each event, and refuses those of `refused`. */
function createPublisher(refused = '') {
  const heard: string[] = [];
  const events: EventPublisher = {
    async publish(_name, payload) {
      const { accountId } = payload as { accountId: string };
      if (accountId === refused) throw new SharedUnavailable('down');
      heard.push(accountId);
    },
  };
  return { heard, events };
}

describe('a recorded event', () => {
  it('is read back as it was written, whatever characters it has', async () => {
    const id = `a?b'c\\?d"e`;
    await record(id);
    expect(await readEvents(database, '0', 10)).toMatchObject([
      { name: 'account.blocked', payload: { accountId: id }, createdAt: expect.any(Date) },
    ]);
  });

  it('is gone when its transaction is rolled back', async () => {
    const work = database.fork().transactional(async (tx) => {
      await recordEvent(tx, 'account.blocked', blocked('a'), 'k');
      throw new Error('refused');
    });
    await expect(work).rejects.toThrow('refused');
    expect(await readEvents(database, '0', 10)).toEqual([]);
  });

  it('has one row however often its key is used at once', async () => {
    await Promise.all(Array.from({ length: 8 }, () => record('a', 'same')));
    expect(await readEvents(database, '0', 10)).toHaveLength(1);
  });

  it('is refused when it is too long for the bus', async () => {
    await expect(record('a'.repeat(9_000))).rejects.toThrow('the event account.blocked is longer than 8000 characters');
  });

  it('is read after the id of an earlier one', async () => {
    await record('a');
    await record('b');
    const [first] = await readEvents(database, '0', 1);
    expect(await readEvents(database, first?.id ?? '', 10)).toMatchObject([{ payload: { accountId: 'b' } }]);
  });
});

describe('publishEvents', () => {
  it('publishes each event once, in order, also over several batches', async () => {
    const ids = Array.from({ length: 230 }, (_, index) => String(index));
    await database.fork().transactional(async (tx) => {
      for (const id of ids) await recordEvent(tx, 'account.blocked', blocked(id), id);
    });
    const { heard, events } = createPublisher();
    await publishEvents({ database, events });
    await publishEvents({ database, events });
    expect(heard).toEqual(ids);
  });

  it('by two instances at once publishes no event twice', async () => {
    for (const id of ['a', 'b', 'c', 'd']) await record(id);
    const { heard, events } = createPublisher();
    await Promise.all([publishEvents({ database, events }), publishEvents({ database, events })]);
    await publishEvents({ database, events });
    expect(heard.toSorted()).toEqual(['a', 'b', 'c', 'd']);
  });

  it('keeps what the shared store has refused for the next time', async () => {
    for (const id of ['a', 'b', 'c']) await record(id);
    const broken = createPublisher('b');
    await expect(publishEvents({ database, events: broken.events })).rejects.toThrow(SharedUnavailable);
    const { heard, events } = createPublisher();
    await publishEvents({ database, events });
    expect([broken.heard, heard]).toEqual([['a'], ['b', 'c']]);
  });
});

describe('the relay', () => {
  it('publishes an event as soon as another process has committed it', async () => {
    const { heard, events } = createPublisher();
    await using relay = new EventRelay({ database, events, log: silentLog });
    await relay.ready();
    await record('a');
    await vi.waitFor(() => expect(heard).toEqual(['a']), { timeout: 15_000 });
  });

  it('rests until there is another event', async () => {
    const { heard, events } = createPublisher();
    let looks = 0;
    const fork: Database['fork'] = () => {
      looks++;
      return database.fork();
    };
    await using relay = new EventRelay({
      database: { fork, query: database.query.bind(database), notifications: database.notifications } as Database,
      events,
      log: silentLog,
    });
    await relay.ready();
    for (const account of ['a', 'b']) {
      await record(account);
      await vi.waitFor(() => expect(heard).toContain(account), 10_000);
    }
    // One look for each event, and one for what has come meanwhile.
    expect(looks).toBeLessThanOrEqual(6);
  });
});

it('the relay warns of a failure that lasts once a minute', async () => {
  const notified = Promise.withResolvers<() => void>();
  const notifications = {
    async listen(_channel: string, listener: () => void) {
      notified.resolve(listener);
      return () => undefined;
    },
  };
  const fork = vi.fn<Database['fork']>(() => {
    throw new Error('no connection');
  });
  const query = fork as unknown as Database['query'];
  const warn = vi.fn<(message: string) => void>();
  const { events } = createPublisher();
  await using relay = new EventRelay({
    database: { fork, query, notifications } as unknown as Database,
    events,
    log: { ...silentLog, warn },
  });
  await relay.ready();
  const wake = await notified.promise;
  const clock = vi.spyOn(performance, 'now');
  onTestFinished(() => clock.mockRestore());
  for (const [second, warnings] of [
    [0, 1],
    [59, 1],
    [61, 2],
  ] as const) {
    clock.mockReturnValue(second * 1_000);
    const looks = fork.mock.calls.length;
    wake();
    await vi.waitFor(() => expect(fork.mock.calls.length).toBeGreaterThan(looks));
    await new Promise(setImmediate); // the failure is reported
    expect(warn).toHaveBeenCalledTimes(warnings);
  }
  expect(warn).toHaveBeenLastCalledWith('could not publish account events, will retry later: no connection');
});

describe('rotating a key', () => {
  it('records one event with the id of the key', async () => {
    const { accountId } = await createAccount(database, 'dp', { name: 'Ani' });
    await rotateKey(database, 'dp', accountId);
    expect(await readEvents(database, '0', 10)).toMatchObject([{ name: 'key.rotated', payload: { accountId } }]);
  });
});

describe('removeOldEvents', () => {
  it('removes events that were published 90 days ago, and no others', async () => {
    for (const id of ['old', 'waiting', 'new']) await record(id);
    const age = (payload: string, column: string, days: number) =>
      database.query(
        `update account_event set ${column} = now() - make_interval(days => ?) where payload ->> 'accountId' = ?`,
        [days, payload],
      );
    await age('old', 'published_at', 91);
    await age('waiting', 'created_at', 91);
    await age('new', 'published_at', 89);
    await removeOldEvents(database);
    const left = await readEvents(database, '0', 10);
    expect(left).toMatchObject([{ payload: { accountId: 'waiting' } }, { payload: { accountId: 'new' } }]);
  });
});
