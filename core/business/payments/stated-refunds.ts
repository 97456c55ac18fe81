import type { EntityManager } from '@mikro-orm/postgresql';
import type { Fields } from '#core/platform/database/rows.ts';
import type { Payment, Refund } from './entities.ts';
import { orderReason } from './order-reason.ts';
import type { PaymentEvidence, StatedRefund } from './payment-provider.ts';
import { failRefund, finishRefund, insertRefund } from './refund-effects.ts';

/** A recorded payment that evidence is about. */
export type RecordedPayment = Fields<typeof Payment, 'id' | 'amount' | 'outcome'> & { readonly orderId: string };

type RecordedRefund = Fields<typeof Refund, 'key' | 'amount' | 'state' | 'isManual' | 'providerRefundId'> & {
  readonly payment: string;
};

const reason = orderReason('orders.reason.at_provider');

/**
 * Brings a payment's recorded refunds in line with the provider's report. Refunds that the gateway requested are found by their key. All
 * others are entered, because the books need them. The caller must hold the order's lock.
 */
export async function enterStatedRefunds(
  transaction: EntityManager,
  payment: RecordedPayment,
  { state, refunds, raw }: PaymentEvidence,
): Promise<void> {
  if (refunds !== undefined) return enterListedRefunds(transaction, payment, refunds, raw);
  if (state === 'refunded') await enterRemainder(transaction, payment, raw);
}

async function enterListedRefunds(
  transaction: EntityManager,
  payment: RecordedPayment,
  stated: readonly StatedRefund[],
  raw: unknown,
): Promise<void> {
  if (stated.length === 0) return;
  const recordedRefunds = await readRefunds(transaction, payment.orderId);
  const unmatchedRefunds: StatedRefund[] = [];
  for (const refund of stated) {
    const recorded =
      recordedRefunds.find(({ key }) => key === refund.key) ??
      recordedRefunds.find(({ providerRefundId }) => providerRefundId === refund.id);
    if (recorded === undefined) unmatchedRefunds.push(refund);
    else await updateRefund(transaction, recorded, refund, raw);
  }
  for (const refund of unmatchedRefunds)
    if (refund.state === 'done') await enterRefund(transaction, payment, refund, raw);
}

async function readRefunds(transaction: EntityManager, orderId: string): Promise<RecordedRefund[]> {
  return transaction.execute<RecordedRefund[]>(
    `select key, payment_id as payment, amount::float8 as amount, state, is_manual as "isManual",
       provider_refund_id as "providerRefundId"
     from refund where order_id = ? order by created_at, key`,
    [orderId],
  );
}

async function updateRefund(
  transaction: EntityManager,
  { key, state }: RecordedRefund,
  stated: StatedRefund,
  raw: unknown,
): Promise<void> {
  await storeProviderId(transaction, key, stated.id);
  if (stated.state === 'done' && state !== 'done') await finishRefund(transaction, key, raw, { at: stated.at });
  else if (stated.state === 'failed') await failRefund(transaction, key, raw);
}

async function enterRefund(
  transaction: EntityManager,
  payment: RecordedPayment,
  { id, amount, at }: StatedRefund,
  raw: unknown,
): Promise<void> {
  // A manual refund of this amount is the same money: an operator refunded it in the provider's dashboard, then recorded it here.
  const manualRefund = (await readRefunds(transaction, payment.orderId)).find(
    (refund) =>
      refund.payment === payment.id &&
      refund.state === 'done' &&
      refund.providerRefundId === null &&
      refund.amount === amount,
  );
  if (manualRefund !== undefined) return storeProviderId(transaction, manualRefund.key, id);
  const key = await insertStatedRefund(transaction, payment, amount, id);
  await finishRefund(transaction, key, raw, { at, isRequested: false });
}

async function enterRemainder(transaction: EntityManager, payment: RecordedPayment, raw: unknown): Promise<void> {
  // The provider reports a full refund without listing refunds.
  const recordedRefunds = (await readRefunds(transaction, payment.orderId)).filter(
    (refund) => refund.payment === payment.id,
  );
  for (const { key } of recordedRefunds.filter(({ state }) => state === 'asked' || state === 'sent'))
    await finishRefund(transaction, key, raw);
  const refundedTotal = recordedRefunds
    .filter(({ state }) => state !== 'failed')
    .reduce((sum, { amount }) => sum + amount, 0);
  if (refundedTotal >= payment.amount) return;
  const key = await insertStatedRefund(transaction, payment, payment.amount - refundedTotal, undefined);
  await finishRefund(transaction, key, raw);
}

async function insertStatedRefund(
  transaction: EntityManager,
  { id, amount: paid, orderId, outcome }: RecordedPayment,
  amount: number,
  providerRefundId: string | undefined,
): Promise<string> {
  const doneRefunds = (await readRefunds(transaction, orderId)).filter(
    ({ payment, state }) => payment === id && state === 'done',
  );
  const isFullRefund = doneRefunds.reduce((sum, refund) => sum + refund.amount, amount) >= paid;
  // After a partial refund, an operator decides about the days.
  const days = outcome === 'activated' && isFullRefund ? 'unused' : 'none';
  return insertRefund(transaction, { paymentId: id, amount, days, isManual: false, reason, providerRefundId });
}

async function storeProviderId(transaction: EntityManager, key: string, id: string): Promise<void> {
  await transaction.execute('update refund set provider_refund_id = ? where key = ? and provider_refund_id is null', [
    id,
    key,
  ]);
}
