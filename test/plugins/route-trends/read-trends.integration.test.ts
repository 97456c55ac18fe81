import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { service } from '#core/config/sections/core-sections.ts';
import { createTestHost } from '#core/extension/testing/index.ts';
import { foldUsage } from '#core/gateway/records/fold-usage.ts';
import { quantile } from '#core/gateway/records/latency-histogram.ts';
import type { Database } from '#core/platform/database/database.ts';
import { readDailyCounts } from '../../../plugins/route-trends/daily-counts.ts';
import { readTimedCounts, readTrends } from '../../../plugins/route-trends/read-trends.ts';
import { RecordBook } from '../../core/gateway/records/record-fixture.ts';
import { createTestDatabase } from '../../support/database.ts';

const hour = 3_600_000;
const now = Math.floor(Date.now() / hour) * hour + hour / 2;
const route = 'slow/m';

const record = (at: number, isThrottled: boolean, firstMs: number, on = route) => ({
  started_at: at,
  route: isThrottled ? null : on,
  outcome: isThrottled ? ('failed' as const) : ('answered' as const),
  status: isThrottled ? 429 : 200,
  first_content_ms: isThrottled ? null : firstMs,
  duration_ms: firstMs + 10_000,
  output_tokens: 500,
  is_stream: true,
  attempts: [
    {
      route: on,
      format: 'chat',
      status: isThrottled ? 429 : 200,
      startedAt: 0,
      duration: 10,
      outcome: isThrottled ? 'failed' : 'served',
      ...(isThrottled && { fault: 'throttled' }),
    },
  ],
});
const many = (count: number, from: number, build: (at: number, index: number) => object) =>
  Array.from({ length: count }, (_, index) => build(from + index * 1_000, index));

let database: Database;
beforeAll(async () => {
  database = await createTestDatabase();
  const book = new RecordBook(database);
  const records = [
    ...many(300, now - 60 * hour, (at) => record(at, false, 500)),
    ...many(300, now - 2 * hour, (at, index) => record(at, index % 10 === 0, 1_500)),
    ...many(300, now - 60 * hour, (at) => record(at, false, 500, 'steady/m')),
    ...many(300, now - 2 * hour, (at) => record(at, false, 500, 'steady/m')),
  ];
  await book.write(...(records as Parameters<RecordBook['write']>));
});
afterAll(() => database[Symbol.asyncDispose]());

it.each(['deltas', 'hours'])('a step down is found on the route that has it, from %s', async (from) => {
  if (from === 'hours') await foldUsage(database);
  const trends = await readTrends(database, now);
  expect(trends.map((one) => one.route)).toEqual([route]);
  expect(trends[0]?.steps.map(({ kind }) => kind)).toEqual(['throttled', 'first_token']);
  expect(trends[0]?.steps[0]).toMatchObject({ before: 0, now: 0.1 });
});

it('the course of a route has the attempts of each hour and day, the latest first', async () => {
  const since = now - 72 * hour;
  for (const by of ['hour', 'day'] as const) {
    const course = await readTimedCounts(database, route, { since, by, timeZone: 'Asia/Jakarta' });
    expect(course.reduce((sum, { attempts }) => sum + attempts, 0)).toBe(600);
    expect(course.reduce((sum, { throttled }) => sum + throttled, 0)).toBe(30);
    expect(course.map(({ at }) => at)).toEqual(course.map(({ at }) => at).toSorted((one, other) => other - one));
    expect(quantile(course.at(-1)?.firstContent ?? [], 0.5)).toBeCloseTo(500, -2);
  }
});

it('the days of a course are those of one reading, of which a second view reads the last two', async () => {
  await using host = createTestHost({ database });
  const { time_zone: timeZone } = host.section(service);
  const query = vi.spyOn(database, 'query');
  try {
    const days = await readDailyCounts(host, route);
    expect(query).toHaveBeenCalledTimes(2);
    expect(await readDailyCounts(host, route)).toEqual(days);
    expect(query).toHaveBeenCalledTimes(3);
    expect(days).toEqual(await readTimedCounts(database, route, { since: now - 14 * 24 * hour, by: 'day', timeZone }));
  } finally {
    query.mockRestore();
  }
});

it('the trend of an unknown route is empty, whatever its name', async () => {
  expect(
    await readTimedCounts(database, `x'; drop table usage_total; --`, { since: 0, by: 'day', timeZone: 'UTC' }),
  ).toEqual([]);
});
