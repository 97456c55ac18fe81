import { afterAll, beforeAll, expect, it } from 'vitest';
import { storedCounts } from '#core/gateway/records/usage.ts';
import type { Database } from '#core/platform/database/database.ts';
import { cacheCounts } from '../../../plugins/margins/margin-readings.ts';
import { readUsageCounts } from '../../../plugins/margins/read-usage.ts';
import { day, explain, hour, today } from '../../core/gateway/records/record-fixture.ts';
import { createTestDatabase } from '../../support/database.ts';

const now = today + 13 * hour;

let database: Database;
beforeAll(async () => {
  database = await createTestDatabase();
  const counts = storedCounts.join(', ');
  // A month of 40 accounts, each with six models.
  await database.query(
    `INSERT INTO usage_hour (hour, account_id, model, route, ${counts})
     SELECT ?::timestamptz - i / 240 * interval '1 hour', md5((i % 40)::text)::uuid, 'm' || i / 40 % 6, 'r' || i / 40 % 6,
       ${storedCounts.map(() => '1').join(', ')}
     FROM generate_series(0, 170000) AS i`,
    [new Date(today).toISOString()],
  );
  await database.query(
    `INSERT INTO usage_total (hour, model, route, ${counts})
     SELECT hour, model, route, ${storedCounts.map((name) => `sum(${name})`).join(', ')} FROM usage_hour GROUP BY hour, model, route`,
  );
  await database.query('ANALYZE usage_hour');
});
afterAll(() => database[Symbol.asyncDispose]());

it('usage of a month by account and plan is summed without sorting its hours', async () => {
  const plan = await explain(database, (explaining) =>
    readUsageCounts(explaining, { from: today - 30 * day, until: now }),
  );
  expect(plan).toContain('usage_hour');
  expect(plan).not.toMatch(/Sort.*\n.*Sort Key: .*used\./);
});

it('usage from before yesterday is read once in ten minutes, and stays in the counts', async () => {
  const spans: string[] = [];
  const watched = Object.create(database, {
    query: {
      value: async (sql: string, parameters: string[]) => {
        spans.push(parameters.slice(0, 2).join(' to '));
        return database.query(sql, parameters);
      },
    },
  }) as Database;
  let passed = 0;
  const read = cacheCounts({ database: watched, now: () => now, monotonic: () => passed });
  const span = { from: today - 20 * day, until: now };
  const [from, yesterday, until] = [span.from, today - day, now].map((time) => new Date(time).toISOString());
  const [past, recent] = [`${from} to ${yesterday}`, `${yesterday} to ${until}`];
  const requests = async () => (await read(span)).accounts.reduce((sum, { counts }) => sum + counts.requests, 0);
  const whole = await requests();
  expect(whole).toBeGreaterThan(0);
  expect(spans).toEqual([past, recent]);
  passed = 599_000;
  expect(await requests()).toBe(whole);
  expect(spans).toEqual([past, recent, recent]);
  passed = 600_000;
  expect(await requests()).toBe(whole);
  expect(spans).toEqual([past, recent, recent, past, recent]);
});
