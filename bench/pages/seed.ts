import { randomUUIDv7 } from 'node:crypto';
import pg from 'pg';
import { createAccount } from '#core/business/accounts/accounts.ts';
import { foldUsage } from '#core/gateway/records/fold-usage.ts';
import type { Database } from '#core/platform/database/database.ts';
import { operator } from './catalog.ts';
import { fillDay } from './fill-day.ts';

const days = 30;
const day = 86_400_000; // ms
const accountCount = 200;
const ordersOfAccount = 20;

/** The first account sends 30 % of the requests of the last 30 days; the last account is the operator. */
export async function seed(database: Database, rows: number, report: (line: string) => void): Promise<void> {
  const accounts = await createAccounts(database);
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    await client.query(`SET maintenance_work_mem = '256MB'; SET work_mem = '64MB'; SET synchronous_commit = off`);
    await client.query('SELECT setseed(0.42)');
    await insertOrders(client, accounts);
    const now = Date.now();
    const today = now - (now % day);
    for (let start = today - (days - 1) * day; start <= today; start += day) {
      const end = Math.min(start + day, now);
      await fillDay(client, { accounts, start, end, rows: Math.round((rows / days) * ((end - start) / day)) });
      await foldUsage(database);
      report(`${new Date(start).toISOString().slice(0, 10)} is filled`);
    }
    await client.query('VACUUM ANALYZE');
  } finally {
    await client.end();
  }
}

async function createAccounts(database: Database): Promise<string[]> {
  const accounts: string[] = [];
  for (let index = 1; index <= accountCount; index++) {
    const { accountId } = await createAccount(database, 'dp', {
      name: `Account ${index}`,
      email: index === accountCount ? operator : `account${index}@example.com`,
      period: { days: 30, reason: 'grant' },
    });
    accounts.push(accountId);
  }
  return accounts;
}

async function insertOrders(client: pg.Client, accounts: readonly string[]): Promise<void> {
  const orders = accounts.flatMap((account) =>
    Array.from({ length: ordersOfAccount }, (_, index) => ({ id: randomUUIDv7(), account, index })),
  );
  await client.query(
    `WITH ordered AS (
       INSERT INTO plan_order (id, code, account_id, days, price, currency, provider, state, created_at, expires_at, paid_at)
       SELECT id, 'ORD-' || upper(substr(md5(id::text), 1, 8)), account, 1, 18000, 'IDR', 'sandbox',
         CASE WHEN is_paid THEN 'paid' ELSE 'expired' END, at, at + interval '30 minutes',
         CASE WHEN is_paid THEN at + interval '1 minute' END
       FROM (
         SELECT id, account, index % 5 <> 0 AS is_paid, now() - (index + random()) * interval '36 hours' AS at
         FROM unnest($1::uuid[], $2::uuid[], $3::integer[]) AS given (id, account, index)
       ) AS made
       RETURNING *
     ), attempted AS (
       INSERT INTO payment_attempt (reference, order_id, number, provider, charge, amount, currency, expires_at, created_at, state)
       SELECT code || '-1', id, 1, provider, 'created', price, currency, expires_at, created_at, state FROM ordered
     )
     INSERT INTO payment (id, order_id, reference, provider, payment_id, amount, currency, paid_at, outcome, raw, recorded_at)
     SELECT gen_random_uuid(), id, code || '-1', provider, code, price, currency, paid_at, 'activated', '{}', paid_at
     FROM ordered WHERE state = 'paid'`,
    [orders.map(({ id }) => id), orders.map(({ account }) => account), orders.map(({ index }) => index)],
  );
}
