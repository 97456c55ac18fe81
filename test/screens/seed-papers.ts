import { randomUUIDv7 } from 'node:crypto';
import { readOrder } from '#core/business/payments/order.ts';
import { loadReceiptSteps } from '#core/business/payments/receipts.ts';
import { refundOrder } from '#core/business/payments/refunds.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Database } from '#core/platform/database/database.ts';
import { longNames } from './long-names.ts';

export interface ReceiptPaths {
  readonly own: string;
  readonly operator: string;
  readonly signed: string;
}

/**
 * Receipts as of a provider that moves money: one of a company with two refunds. The order `paid` is from before there was a seller, so its
 * page is the simple one.
 */
export async function writeReceipts(
  host: Host,
  orders: Readonly<Record<'paid' | 'refunded', string>>,
): Promise<ReceiptPaths> {
  const { database } = host;
  await database.query('alter table receipt disable trigger receipt_kept');
  await database.query(`update receipt set is_test = false where code = ?`, [orders.refunded]);
  await database.query('alter table receipt enable trigger receipt_kept');
  await database.query('delete from receipt where code = ?', [orders.paid]);
  await database.query(
    `update receipt set added_company = ?, added_npwp = '0098765432109000', added_at = clock_timestamp() where code = ?`,
    [longNames.seller, orders.refunded],
  );
  const order = await readOrder(database, { code: orders.refunded });
  if (order === undefined) throw new Error('no order');
  for (const amount of [100_000, 50_000])
    await refundOrder(host, order.id, { reason: 'sorry', isManual: true, amount, days: 'none' });
  const steps = await loadReceiptSteps(database);
  const mailed = await steps?.readMailedReceipt(host, order.payments[0]?.id ?? '');
  const [stored] = (await steps?.listReceipts(database, order.id)) ?? [];
  return {
    own: stored?.path ?? '',
    operator: stored?.operatorPath ?? '',
    signed: new URL(mailed?.url ?? host.service.baseUrl).pathname,
  };
}

/** Requests of an account about its data, answered and open. @returns the id of the open one */
export async function writeDataRequests(database: Pick<Database, 'query'>, accountId: string): Promise<string> {
  const id = randomUUIDv7();
  await database.query(
    `insert into data_request (id, kind, channel, account_id, text, received_at, due_at, answered_at, outcome, answer)
     select r.id::uuid, r.kind, r.channel, ?::uuid, r.text, now() - r.ago, now() - r.ago + interval '72 hours',
       case when r.answer is null then null else now() - r.ago / 2 end, case when r.answer is null then null else 'done' end, r.answer
     from (values
       (?, 'correction', 'page', 'My name is Rani Putri Ayu Lestari, and the address of the company is no longer mine.', interval '30 hours', null),
       (?, 'access', 'mail', null, interval '9 days', 'Everything that is stored is in the file that you download here.')
     ) r (id, kind, channel, text, ago, answer)`,
    [accountId, id, randomUUIDv7()],
  );
  return id;
}

/** A consent of an account to words that are no longer asked for. */
export async function writeConsent(database: Pick<Database, 'query'>, accountId: string): Promise<void> {
  await database.query(
    `insert into consent (id, account_id, name, label, digest, language, place, given_at)
     values (?, ?, 'news', ?::jsonb, 'of earlier words', 'id', 'checkout', now() - interval '40 days')`,
    [
      randomUUIDv7(),
      accountId,
      JSON.stringify({ en: 'Send me our monthly letter.', id: 'Kirimi saya surat bulanan.' }),
    ],
  );
}
