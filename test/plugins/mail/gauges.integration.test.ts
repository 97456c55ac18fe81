import { expect, it } from 'vitest';
import { countUndelivered } from '#core/business/mail/mails.ts';
import { createTestHost } from '#core/extension/testing/index.ts';
import { createMailGauges } from '../../../plugins/mail/gauges.ts';
import { evaluateMails, readMailTrouble } from '../../../plugins/mail/health.ts';
import { explain } from '../../core/gateway/records/record-fixture.ts';
import { createTestDatabase } from '../../support/database.ts';
import { registeredHere } from '../../support/registered.ts';

const registry = await registeredHere();

it('the mail gauges count what waits and what was given up since yesterday, by channel', async () => {
  await using database = await createTestDatabase();
  await using host = createTestHost({ database });
  const add = (name: string, channel: string, state: string, madeAgo: string, finishedAgo: string | null) =>
    database.query(
      `with e as (insert into account_event (name, payload, dedupe_key) values (?, '{}', gen_random_uuid()::text) returning id)
       insert into mail_message (event_id, channel, state, created_at, finished_at)
       select id, ?, ?, clock_timestamp() - ?::interval, clock_timestamp() - ?::interval from e`,
      [name, channel, state, madeAgo, finishedAgo],
    );
  await add('key.rotated', 'customer', 'waiting', '1 hour', null);
  await add('key.rotated', 'customer', 'sending', '10 minutes', null);
  await add('order.paid', 'customer', 'sent', '3 hours', '2 hours');
  await add('day.reported', 'operator', 'failed', '5 days', '2 hours');
  await add('day.reported', 'webhook', 'failed', '9 days', '2 days');
  await add('of.a_newer_version', 'customer', 'waiting', '5 hours', null);
  // A customer's kind is none of alerts.
  await add('key.rotated', 'operator', 'waiting', '5 hours', null);
  const [counts, ages] = await Promise.all(
    createMailGauges(registry).map(async ({ read }) =>
      [...(await read(host))].map(({ labels = {}, value }) => [...Object.values(labels), value]),
    ),
  );
  expect(counts).toEqual([
    ['customer', 'waiting', 3],
    ['customer', 'failed', 0],
    ['operator', 'waiting', 1],
    ['operator', 'failed', 1],
  ]);
  expect(ages?.map(([channel]) => channel)).toEqual(['customer', 'operator']);
  expect(ages?.[0]?.[1]).toBeCloseTo(3_600, -2);
  expect(ages?.[1]?.[1]).toBe(0);
});

it('the health check knows of mails that wait and of receipts that did not arrive', async () => {
  await using database = await createTestDatabase();
  const add = (name: string, state: string, ago: string, error: string | null) =>
    database.query(
      `with e as (insert into account_event (name, payload, dedupe_key) values (?, '{}', gen_random_uuid()::text) returning id)
       insert into mail_message (event_id, state, error, created_at, finished_at)
       select id, ?, ?, clock_timestamp() - ?::interval, case when ? <> 'waiting' then clock_timestamp() - ?::interval end from e`,
      [name, state, error, ago, state, ago],
    );
  const check = async () => evaluateMails(await readMailTrouble(database, registry), Date.now());
  await add('key.rotated', 'failed', '1 hour', 'no');
  await add('order.paid', 'sent', '1 hour', null);
  await add('order.paid', 'failed', '2 days', 'no');
  await add('key.rotated', 'waiting', '5 minutes', null);
  // An instance of a newer version sends it, or somebody closes it after a day.
  await add('of.a_newer_version', 'waiting', '5 hours', null);
  expect(await check()).toEqual({ ok: true });
  await add('order.paid', 'uncertain', '1 hour', 'closed');
  expect(await check()).toMatchObject({ ok: false, reason: expect.stringMatching(/^1 receipt or refund notice/) });
  await add('session.created', 'waiting', '20 minutes 10 seconds', '550 relay not permitted');
  expect(await check()).toMatchObject({
    ok: false,
    reason: 'Mails have waited for 20 minutes: 550 relay not permitted. Run daypass doctor --only mail.',
  });
});

it('mails that did not arrive are counted by an index of their own', async () => {
  await using database = await createTestDatabase();
  await database.query(
    `insert into mail_message (event_id, channel, state, finished_at)
     select i, 'customer', case when i % 1000 = 0 then 'failed' else 'sent' end, now() - i * interval '10 minutes'
     from generate_series(1, 10000) as i`,
  );
  await database.query('analyze mail_message');
  expect(await explain(database, countUndelivered)).toContain('mail_message_undelivered');
});
