import { afterAll, beforeAll, expect, it } from 'vitest';
import { readDailyUsage } from '#core/gateway/records/daily-usage.ts';
import { foldUsage } from '#core/gateway/records/fold-usage.ts';
import type { Database } from '#core/platform/database/database.ts';
import { createTestDatabase } from '../../../support/database.ts';
import { day, RecordBook } from './record-fixture.ts';

let database: Database;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

/** A zone in which it is about noon: no day ends while a test runs. */
function zoneAtNoon(): string {
  const ahead = 12 - new Date().getUTCHours();
  // East of Greenwich is negative in these names.
  return `Etc/GMT${ahead > 0 ? '-' : '+'}${Math.abs(ahead)}`;
}

it('counts the requests of each day in the time zone, folded or not, with zeros for days without any', async () => {
  const book = new RecordBook(database);
  const timeZone = zoneAtNoon();
  const now = Date.now();
  await book.write(
    { started_at: now - 2 * day, outcome: 'failed' },
    { started_at: now - 3 * day, outcome: 'answered' },
  );
  await foldUsage(database);
  await book.write(
    { started_at: now, outcome: 'answered', has_failover: true },
    { started_at: now, outcome: 'interrupted' },
    { started_at: now, outcome: 'refused' },
    { started_at: now - 2 * day, outcome: 'aborted' },
  );
  const days = await readDailyUsage(database, { timeZone, days: 3 });
  expect(days.map(({ day: _day, ...counts }) => counts)).toEqual([
    { requests: 2, answered: 0, failed: 1, failovers: 0 },
    { requests: 0, answered: 0, failed: 0, failovers: 0 },
    { requests: 3, answered: 1, failed: 1, failovers: 1 },
  ]);
  expect(days.at(-1)?.day).toBe(new Intl.DateTimeFormat('sv-SE', { timeZone }).format(now));
});
