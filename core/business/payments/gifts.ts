import { createHmac, randomUUIDv7 } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Database } from '#core/platform/database/database.ts';
import { readSecret } from '#core/platform/database/secret.ts';
import { codeOf, digestOf } from '../accounts/vouchers.ts';
import type { Order } from './order-types.ts';

/*
 * Gifts: orders whose days go to the account that redeems a code. The payment creates a voucher for the order, which is redeemed like any
 * other. Its code is the HMAC of the order's id with a secret of the gateway: it is kept nowhere, and made again for each page
 * and mail that shows it to the buyer (docs/decisions/0051).
 */

type Queries = Pick<Database, 'query'>;

const secretName = 'gift-code';

/** Days from its payment on in which a gift can be redeemed. */
const validDays = 365;

async function makeCode(database: Queries, orderId: string): Promise<string> {
  const secret = await readSecret(database, secretName);
  return codeOf(createHmac('sha256', secret).update(orderId).digest());
}

/** Makes the voucher of a gift that has been paid, in the transaction that records the payment, under the lock of the order. */
export async function issueGift(transaction: EntityManager, orderId: string): Promise<void> {
  const within: Queries = { query: (sql, parameters) => transaction.execute(sql, [...(parameters ?? [])]) };
  const code = await makeCode(within, orderId);
  await transaction.execute(
    `insert into voucher (id, order_id, sha256, hint, expires_at)
     values (?, ?, decode(?, 'hex'), ?, clock_timestamp() + make_interval(hours => 24 * ?))`,
    [randomUUIDv7(), orderId, digestOf(code), code.slice(-4), validDays],
  );
}

/**
 * The code of a gift, for its buyer; undefined when it can no longer be redeemed, or was made with a secret that has been replaced
 * since: who has the code can still redeem it then.
 */
export async function readGiftCode(database: Queries, { id, gift }: Order): Promise<string | undefined> {
  if (gift?.state !== 'open') return undefined;
  const code = await makeCode(database, id);
  const known = await database.query<unknown>(
    `select 1 from voucher where order_id = ? and sha256 = decode(?, 'hex')`,
    [id, digestOf(code)],
  );
  return known.length > 0 ? code : undefined;
}

/**
 * Withdraws a gift that nobody has redeemed.
 *
 * @returns the account that has redeemed it; undefined when nobody has, and nobody can from now on
 */
export async function withdrawGift(transaction: EntityManager, orderId: string): Promise<string | undefined> {
  // Takes no lock of a redeemed one: its account is locked next, and a redemption locks account, then voucher.
  await transaction.execute(
    `update voucher set revoked_at = clock_timestamp() where order_id = ? and redeemed_at is null and revoked_at is null`,
    [orderId],
  );
  const [row] = await transaction.execute<{ account_id: string | null }[]>(
    'select account_id from voucher where order_id = ?',
    [orderId],
  );
  return row?.account_id ?? undefined;
}
