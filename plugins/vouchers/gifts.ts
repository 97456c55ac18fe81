import { createHmac, randomUUIDv7 } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { GiftCode } from '#core/business/payments/gifts.ts';
import type { Queries } from '#core/platform/database/database.ts';
import { readSecret } from '#core/platform/database/secret.ts';
import { encodeCode, computeDigest, formatCode } from './vouchers.ts';

/*
 * Gift codes. A payment creates a voucher for the order, which is redeemed like any other. Its code is the HMAC of the order's id with a
 * secret of the gateway. It is never stored, but derived again for each page and mail that shows it to the buyer (docs/decisions/0051).
 * Core calls this module as its `GiftSteps`.
 */

export { hasOpenVouchers as hasOpenCodes } from './voucher-batches.ts';

const secretName = 'gift-code';

const validDays = 365; // after the payment

async function deriveCode(database: Queries, orderId: string): Promise<string> {
  const secret = await readSecret(database, secretName);
  return encodeCode(createHmac('sha256', secret).update(orderId).digest());
}

export async function issueGift(transaction: EntityManager, orderId: string): Promise<void> {
  const queries: Queries = { query: (sql, parameters) => transaction.execute(sql, [...(parameters ?? [])]) };
  const code = await deriveCode(queries, orderId);
  await transaction.execute(
    `insert into voucher (id, order_id, sha256, hint, expires_at)
     values (?, ?, decode(?, 'hex'), ?, clock_timestamp() + make_interval(hours => 24 * ?))`,
    [randomUUIDv7(), orderId, computeDigest(code), code.slice(-4), validDays],
  );
}

export async function readGiftCode(database: Queries, orderId: string): Promise<GiftCode | undefined> {
  const code = await deriveCode(database, orderId);
  const matches = await database.query<unknown>(
    `select 1 from voucher where order_id = ? and sha256 = decode(?, 'hex')`,
    [orderId, computeDigest(code)],
  );
  return matches.length > 0 ? { written: formatCode(code), path: `/redeem?code=${code}` } : undefined;
}
