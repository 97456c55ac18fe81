import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Database } from '#core/platform/database/database.ts';
import { retention } from '../../../plugins/receipts/jobs.ts';
import { createTestDatabase, silentLog } from '../../support/database.ts';
import { tablesHere } from '../../support/registered.ts';

let database: Database;
beforeAll(async () => {
  database = await createTestDatabase(silentLog, await tablesHere());
});
afterAll(() => database[Symbol.asyncDispose]());

interface Given {
  readonly order: string;
  readonly kind: 'payment' | 'refund';
  readonly years: number; // since it was made
  readonly number?: number;
}

async function store({ order, kind, years, number }: Given): Promise<void> {
  await database.query(
    `insert into receipt (id, kind, payment_id, refund_key, order_id, account_id, code, made_at, currency, amount, buyer, content, is_test,
       number, numbered_at)
     values (?, ?, ?, ?, ?, ?, 'A', clock_timestamp() - make_interval(years => ?), 'IDR', 1, 'Ani', '{}', false, ?,
       case when ?::bigint is null then null else clock_timestamp() end)`,
    [
      randomUUID(),
      kind,
      randomUUID(),
      kind === 'refund' ? randomUUID() : null,
      order,
      randomUUID(),
      years,
      number ?? null,
      number ?? null,
    ],
  );
}

it('receipts go keep_years after the year of the newest one of their order, and none without its number', async () => {
  const [old, refunded, waiting] = [randomUUID(), randomUUID(), randomUUID()];
  await store({ order: old, kind: 'payment', years: 12, number: 1 });
  await store({ order: old, kind: 'refund', years: 12, number: 1 });
  await store({ order: refunded, kind: 'payment', years: 12, number: 2 });
  await store({ order: refunded, kind: 'refund', years: 9, number: 2 });
  await store({ order: waiting, kind: 'payment', years: 12 });
  await retention.run({}, {
    database,
    section: () => ({ name: 'PT Penjual', keep_years: 10 }),
    log: silentLog,
  } as never);
  const left = await database.query<{ order_id: string }>('select order_id from receipt');
  expect(left.map(({ order_id: order }) => order).toSorted()).toEqual([refunded, refunded, waiting].toSorted());
});
