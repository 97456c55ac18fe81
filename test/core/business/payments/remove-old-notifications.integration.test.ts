import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { startOrder } from '#core/business/payments/checkout.ts';
import { resolveFlag } from '#core/business/payments/flags.ts';
import { removeOldNotifications } from '#core/business/payments/inbox.ts';
import type { Order } from '#core/business/payments/order.ts';
import type { Database } from '#core/platform/database/database.ts';
import { createTestDatabase } from '../../../support/database.ts';
import { FakeProvider } from './fake-provider.ts';
import { createBuyer, createPaymentHost, referenceOf } from './fixture.ts';

let database: Database;
let order: Order;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());
beforeEach(async () => {
  await database.query('delete from payment_notification');
  const fake = new FakeProvider();
  order = await startOrder(createPaymentHost(database, [fake.provider]), await createBuyer(database), 7);
});

interface Kept {
  readonly key?: string;
  readonly days: number;
  readonly isWaiting?: boolean;
  readonly reference?: string;
}

const keep = ({ key = 'one', days, isWaiting = false, reference = referenceOf(order) }: Kept) =>
  database.query(
    `insert into payment_notification (provider, event_key, reference, provider_reference, body, received_at, next_try_at)
     values ('fake', ?, ?, ?, '{}', clock_timestamp() - make_interval(days => ?), case when ? then clock_timestamp() end)`,
    [key, reference, `T-${referenceOf(order)}`, days, isWaiting],
  );
const left = async () =>
  (await database.query<{ key: string }>('select event_key as key from payment_notification order by 1')).map(
    ({ key }) => key,
  );
const flag = () =>
  database.query(`insert into order_flag (id, order_id, kind, subject) values (gen_random_uuid(), ?, 'disputed', '')`, [
    order.id,
  ]);

it('processed notifications are removed over their age', async () => {
  await keep({ key: 'old', days: 401 });
  await keep({ key: 'young', days: 399 });
  await keep({ key: 'waiting', days: 401, isWaiting: true });
  expect(await removeOldNotifications(database, 400)).toBe(1);
  expect(await left()).toEqual(['waiting', 'young']);
});

it.each([
  ['ours', {}],
  ["the provider's reference", { reference: '' }],
])('notifications of a flagged order, found by %s, are kept until it is resolved', async (_, named) => {
  await keep({ days: 401, ...named });
  await flag();
  expect(await removeOldNotifications(database, 400)).toBe(0);
  await resolveFlag(database, order.id, 'paid back');
  expect(await removeOldNotifications(database, 400)).toBe(1);
});

it('any number of old notifications is removed, in batches', async () => {
  await database.query(
    `insert into payment_notification (provider, event_key, reference, body, received_at, next_try_at)
     select 'fake', n, 'ORD-OTHER.1', '{}', clock_timestamp() - interval '500 days', null from generate_series(1, 2500) n`,
  );
  expect(await removeOldNotifications(database, 400)).toBe(2_500);
  expect(await left()).toEqual([]);
});
