import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { exportAccount } from '#core/business/accounts/account-export.ts';
import { createAccount } from '#core/business/accounts/accounts.ts';
import { foldUsage } from '#core/gateway/records/fold-usage.ts';
import type { Database } from '#core/platform/database/database.ts';
import { createTestDatabase } from '../../../support/database.ts';
import { RecordBook } from '../../gateway/records/record-fixture.ts';

const count = 450; // more than two pages
const models = Array.from({ length: count }, (_, index) => `model-${index}`);

let database: Database;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

/** Writes a request for each model, several of them in one millisecond, and returns the export of their account. */
async function exportOfMany(): Promise<Record<string, readonly { readonly model: string }[]>> {
  const accounts = await Promise.all(['Ani', 'Budi'].map((name) => createAccount(database, 'dp', { name })));
  const at = Date.now() - 60_000;
  const records = accounts.flatMap(({ accountId }) =>
    models.map((model, index) => ({ account_id: accountId, model, started_at: at + Math.floor(index / 7) })),
  );
  await new RecordBook(database).write(...(records as Parameters<RecordBook['write']>));
  await foldUsage(database);
  const lines = await Array.fromAsync(exportAccount(database, accounts[0]?.accountId ?? ''));
  return JSON.parse(lines.join('\n'));
}

it('an export has each row of a long table once, by its primary key or without one', async () => {
  const { request_log: requests, usage_hour: usage } = await exportOfMany();
  for (const rows of [requests, usage]) {
    expect(rows).toHaveLength(count);
    expect(new Set(rows?.map(({ model }) => model))).toEqual(new Set(models));
  }
});

it('an export has each row once although rows change while it is read', async () => {
  const { accountId } = await createAccount(database, 'dp', { name: 'Cinta' });
  const records = models.map((model) => ({ account_id: accountId, model, started_at: Date.now() - 60_000 }));
  await new RecordBook(database).write(...(records as Parameters<RecordBook['write']>));
  await foldUsage(database);
  let [text, isUsage] = ['', false];
  for await (const line of exportAccount(database, accountId)) {
    // The first rows are read; an update moves all rows to other places in the table.
    if (isUsage) await database.query('update usage_hour set hour = hour where account_id = ?', [accountId]);
    isUsage = line === '"usage_hour": [';
    text += `${line}\n`;
  }
  const { usage_hour: usage } = JSON.parse(text) as { usage_hour: readonly { readonly model: string }[] };
  expect(usage.map(({ model }) => model).toSorted()).toEqual(models.toSorted());
});

it('an export has what is linked to the orders of the account, and what operators did with them', async () => {
  const { accountId } = await createAccount(database, 'dp', { name: 'Dewi' });
  const [orderId, actionId, giftId] = [randomUUID(), randomUUID(), randomUUID()];
  await database.query(
    `insert into plan_order (id, code, account_id, days, price, currency, provider, expires_at)
     values (?, 'EXPORT1', ?, 7, 95000, 'IDR', 'sandbox', clock_timestamp())`,
    [orderId, accountId],
  );
  await database.query(`insert into order_lines (order_id, lines) values (?, '["A line."]')`, [orderId]);
  await database.query(
    `insert into operator_action (id, operator_id, operator, action, subject) values (?, ?, 'ops', 'order.check', ?)`,
    [actionId, randomUUID(), orderId],
  );
  await database.query(
    `insert into voucher (id, order_id, expires_at, sha256, hint) values (?, ?, clock_timestamp(), sha256('gift'), 'GIFT')`,
    [giftId, orderId],
  );
  const exported = JSON.parse((await Array.fromAsync(exportAccount(database, accountId))).join('\n'));
  expect(exported).toMatchObject({
    order_lines: [{ order_id: orderId, lines: ['A line.'] }],
    operator_action: [{ id: actionId }],
    voucher: [{ id: giftId, hint: 'GIFT' }],
  });
});

it('every table of an account that changes has a key that orders its rows', async () => {
  const unordered = await database.query<{ name: string }>(
    `select c.relname as name from pg_class c
     join pg_attribute a on a.attrelid = c.oid and a.attname = 'account_id'
     where c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = (select relnamespace from pg_class where oid = to_regclass('account'))
       and not exists (select from pg_index i where i.indrelid = c.oid and i.indisunique)
     order by 1`,
  );
  // Counts that wait to be added up: rows are inserted and deleted, never changed.
  expect(unordered.map(({ name }) => name)).toEqual(['usage_delta']);
});
