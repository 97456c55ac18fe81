import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readDailyOutcomes } from '#core/business/model-health/daily-outcomes.ts';
import { readMinuteTraffic } from '#core/business/model-health/minute-traffic.ts';
import type { Database } from '#core/platform/database/database.ts';
import { createTestDatabase } from '../../../support/database.ts';
import { day, hour, RecordBook, today } from '../../gateway/records/record-fixture.ts';

const minute = 60_000;

let database: Database;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

/** So many minutes before one o'clock. */
function at(minutes: number, seconds = 0): number {
  return today + hour - minutes * minute + seconds * 1_000;
}

describe('the traffic of the last minutes', () => {
  it('counts model calls of whole minutes, the oldest first, with zeros between', async () => {
    const now = today + hour + 30_000;
    await new RecordBook(database).write(
      { started_at: at(3) },
      { started_at: at(3, 59), outcome: 'failed', has_failover: true },
      { started_at: at(3), is_metered: false },
      { started_at: at(1), outcome: 'interrupted' },
      { started_at: at(1), outcome: 'refused' },
      { started_at: at(0, 1) }, // the running minute
      { started_at: at(4) },
    );
    expect(await readMinuteTraffic(database, now, 3)).toEqual([
      { requests: 2, failed: 1, answered: 1, failovers: 1 },
      { requests: 0, failed: 0, answered: 0, failovers: 0 },
      { requests: 2, failed: 1, answered: 0, failovers: 0 },
    ]);
  });
});

describe('the answers by day', () => {
  it('are counted by the days of the zone, without refusals and clients that left', async () => {
    const model = 'dp/daily';
    const write = (
      started_at: number,
      ...outcomes: ('answered' | 'failed' | 'refused' | 'aborted' | 'interrupted')[]
    ) => new RecordBook(database).write(...outcomes.map((outcome) => ({ model, started_at, outcome })));
    await write(today + 16 * hour, 'answered', 'answered', 'failed', 'refused', 'aborted'); // 23:00 in Jakarta
    await write(today + 17 * hour, 'answered', 'interrupted'); // midnight there
    await write(today - 95 * day, 'failed');
    const read = async (timeZone: string) =>
      (await readDailyOutcomes(database, { now: today + day, timeZone, days: 90 })).get(model);
    expect(await read('Asia/Jakarta')).toEqual([
      { day: '2031-05-12', answered: 2, failed: 1 },
      { day: '2031-05-13', answered: 1, failed: 1 },
    ]);
    expect(await read('UTC')).toEqual([{ day: '2031-05-12', answered: 3, failed: 2 }]);
  });
});
