import { expect, it } from 'vitest';
import { EventLog } from '../../../../../plugins/format/state/responses-store/event-log.ts';
import type { StoredEvents } from '../../../../../plugins/format/state/responses-store/run-rows.ts';

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const long = 'x'.repeat(70_000);

it('events are stored in order, with the number of the last one', async () => {
  const stored: StoredEvents[] = [];
  const events = new EventLog((some) => Promise.resolve(void stored.push(some)), log);
  events.add('a', 0);
  events.add('b', 1);
  await events.flush();
  events.add('c', 2);
  await events.flush();
  await events.flush();
  expect(stored).toEqual([
    { events: 'ab', last_sequence: 1 },
    { events: 'c', last_sequence: 2 },
  ]);
});

it('events that could not be stored are stored with the next ones', async () => {
  const stored: string[] = [];
  let fails = true;
  const events = new EventLog((some) => {
    if (fails) return Promise.reject(new Error('down'));
    stored.push(some.events);
    return Promise.resolve();
  }, log);
  events.add(long, 0);
  await events.waitForRoom();
  fails = false;
  events.add('b', 1);
  await events.flush();
  expect(stored).toEqual([`${long}b`]);
});

it('a database that fails for long leaves no room for more events', async () => {
  const events = new EventLog(() => Promise.reject(new Error('down')), log);
  const fill = async () => {
    for (let number = 0; number < 20; number++) {
      events.add(long, number);
      await events.waitForRoom();
    }
  };
  await expect(fill()).rejects.toThrow('down');
  await expect(events.flush()).rejects.toThrow('down');
});
