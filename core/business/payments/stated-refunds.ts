import type { EntityManager } from '@mikro-orm/postgresql';
import { orderReason } from './order-reason.ts';
import type { PaymentEvidence, StatedRefund } from './payment-provider.ts';
import { failRefund, finishRefund, insertRefund } from './refund-effects.ts';
import type { Fields } from '#core/platform/database/rows.ts';
import type { Payment, Refund } from './entities.ts';

/** A recorded payment that evidence is about. */
export type RecordedPayment = Fields<typeof Payment, 'id' | 'amount' | 'outcome'> & { readonly orderId: string };

type Known = Fields<typeof Refund, 'key' | 'amount' | 'state' | 'isManual' | 'providerRefundId'> & {
  readonly payment: string;
};

const reason = orderReason('orders.reason.at_provider');

/**
 * Updates the refunds of a payment to what the provider reports: ours are found by their key, others are entered, because the books need
 * them. The caller holds the order's lock.
 */
export async function enterStatedRefunds(
  transaction: EntityManager,
  payment: RecordedPayment,
  { state, refunds, raw }: PaymentEvidence,
): Promise<void> {
  if (refunds !== undefined) return enterListed(transaction, payment, refunds, raw);
  if (state === 'refunded') await enterRemainder(transaction, payment, raw);
}

async function enterListed(
  transaction: EntityManager,
  payment: RecordedPayment,
  stated: readonly StatedRefund[],
  raw: unknown,
): Promise<void> {
  if (stated.length === 0) return;
  const recordedRefunds = await readKnown(transaction, payment.orderId);
  const others: StatedRefund[] = [];
  for (const refund of stated) {
    const own =
      recordedRefunds.find(({ key }) => key === refund.key) ??
      recordedRefunds.find(({ providerRefundId }) => providerRefundId === refund.id);
    if (own === undefined) others.push(refund);
    else await follow(transaction, own, refund, raw);
  }
  for (const refund of others) if (refund.state === 'done') await enter(transaction, payment, refund, raw);
}

async function readKnown(transaction: EntityManager, orderId: string): Promise<Known[]> {
  return transaction.execute<Known[]>(
    `select key, payment_id as payment, amount::float8 as amount, state, is_manual as "isManual",
       provider_refund_id as "providerRefundId"
     from refund where order_id = ? order by created_at, key`,
    [orderId],
  );
}

async function follow(transaction: EntityManager, { key, state }: Known, stated: StatedRefund, raw: unknown) {
  await noteId(transaction, key, stated.id);
  if (stated.state === 'done' && state !== 'done') await finishRefund(transaction, key, raw, { at: stated.at });
  else if (stated.state === 'failed') await failRefund(transaction, key, raw);
}

/** A refund recorded manually by the operator is the same money: made in the dashboard first, recorded here later. */
async function enter(
  transaction: EntityManager,
  payment: RecordedPayment,
  { id, amount, at }: StatedRefund,
  raw: unknown,
): Promise<void> {
  const recorded = (await readKnown(transaction, payment.orderId)).find(
    (refund) =>
      refund.payment === payment.id &&
      refund.state === 'done' &&
      refund.providerRefundId === null &&
      refund.amount === amount,
  );
  if (recorded !== undefined) return noteId(transaction, recorded.key, id);
  const key = await insertReturned(transaction, payment, amount, id);
  await finishRefund(transaction, key, raw, { at, isAsked: false });
}

/** For a provider that lists no refunds and reports a full refund: finishes ours in progress, and enters the missing remainder. */
async function enterRemainder(transaction: EntityManager, payment: RecordedPayment, raw: unknown): Promise<void> {
  const recordedRefunds = (await readKnown(transaction, payment.orderId)).filter(
    (refund) => refund.payment === payment.id,
  );
  for (const { key } of recordedRefunds.filter(({ state }) => state === 'asked' || state === 'sent'))
    await finishRefund(transaction, key, raw);
  const back = recordedRefunds.filter(({ state }) => state !== 'failed').reduce((sum, { amount }) => sum + amount, 0);
  if (back >= payment.amount) return;
  await finishRefund(transaction, await insertReturned(transaction, payment, payment.amount - back, undefined), raw);
}

/** A full refund takes the unused days back. A partial one leaves them for the operator to decide. */
async function insertReturned(
  transaction: EntityManager,
  { id, amount: paid, orderId, outcome }: RecordedPayment,
  amount: number,
  providerRefundId: string | undefined,
): Promise<string> {
  const recordedRefunds = await readKnown(transaction, orderId);
  const back = recordedRefunds.filter(({ payment, state }) => payment === id && state === 'done');
  const isWhole = back.reduce((sum, refund) => sum + refund.amount, amount) >= paid;
  const days = outcome === 'activated' && isWhole ? 'unused' : 'none';
  return insertRefund(transaction, { payment: id, amount, days, isManual: false, reason, providerRefundId });
}

async function noteId(transaction: EntityManager, key: string, id: string): Promise<void> {
  await transaction.execute('update refund set provider_refund_id = ? where key = ? and provider_refund_id is null', [
    id,
    key,
  ]);
}
