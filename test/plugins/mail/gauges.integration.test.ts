import { expect, it } from 'vitest';
import { createTestHost } from '#core/extension/testing/index.ts';
import { createTestDatabase } from '../../support/database.ts';
import { mailGauges } from '../../../plugins/mail/gauges.ts';

it('the mail gauges count what waits and what was given up since yesterday, by channel', async () => {
  await using database = await createTestDatabase();
  await using host = createTestHost({ database });
  const add = (id: number, channel: string, state: string, madeAgo: string, finishedAgo: string | null) =>
    database.query(
      `insert into mail_message (event_id, channel, state, created_at, finished_at)
       values (?, ?, ?, clock_timestamp() - ?::interval, clock_timestamp() - ?::interval)`,
      [id, channel, state, madeAgo, finishedAgo],
    );
  await add(1, 'customer', 'waiting', '1 hour', null);
  await add(2, 'customer', 'sending', '10 minutes', null);
  await add(3, 'customer', 'sent', '3 hours', '2 hours');
  await add(4, 'operator', 'failed', '5 days', '2 hours');
  await add(5, 'webhook', 'failed', '9 days', '2 days');
  const [counts, ages] = await Promise.all(
    mailGauges.map(async ({ read }) =>
      [...(await read(host))].map(({ labels = {}, value }) => [...Object.values(labels), value]),
    ),
  );
  expect(counts).toEqual([
    ['customer', 'waiting', 2],
    ['customer', 'failed', 0],
    ['operator', 'waiting', 0],
    ['operator', 'failed', 1],
  ]);
  expect(ages?.map(([channel]) => channel)).toEqual(['customer', 'operator']);
  expect(ages?.[0]?.[1]).toBeCloseTo(3_600, -2);
  expect(ages?.[1]?.[1]).toBe(0);
});
