import { readRupiah } from '#core/business/payments/amount.ts';
import {
  type ChargeReference,
  PaymentError,
  type PaymentEvidence,
  type PaymentState,
  type StatedRefund,
} from '#core/business/payments/payment-provider.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { readCode, readText } from './api.ts';
import { parseLocalTime } from './local-time.ts';
import { parseRefunds } from './refund.ts';
import type { MidtransSettings } from './section.ts';

/** The keys are statuses in lower case; the status API also returns upper case. */
const states: Readonly<Record<string, PaymentState>> = {
  pending: 'pending',
  authorize: 'pending',
  settlement: 'paid',
  capture: 'paid',
  expire: 'expired',
  deny: 'failed',
  cancel: 'failed',
  failure: 'failed',
  refund: 'refunded',
  partial_refund: 'disputed',
  chargeback: 'disputed',
  partial_chargeback: 'disputed',
};

/** @throws PaymentError if the status is about a different charge or merchant, or is unknown */
export function readEvidence(body: JsonObject, charge: ChargeReference, settings: MidtransSettings): PaymentEvidence {
  const code = readCode({ status: 200, body });
  if (code === 404) return { ...charge, state: 'unknown', raw: body };
  const evidence = { reference: charge.reference, providerReference: readIdentity(body, charge, settings), raw: body };
  if (code === 407) return { ...evidence, state: 'expired' };
  const state = readState(body, code);
  if (state !== 'paid' && state !== 'refunded' && state !== 'disputed') return { ...evidence, state };
  const amount = readRupiah(body['gross_amount']);
  const refunds = parseRefunds(body);
  return {
    ...evidence,
    // We never charge a fraction of a rupiah, so an operator must look at this payment.
    state: amount === undefined ? 'disputed' : applyRefunds(refunds, amount, body, state),
    ...(refunds !== undefined && { refunds }),
    paymentId: evidence.providerReference,
    ...(amount !== undefined && { paid: { amount, currency: readText(body, 'currency') ?? 'IDR' } }),
    ...readPaidAt(body),
    ...(readText(body, 'issuer') !== undefined && { issuer: readText(body, 'issuer') as string }),
  };
}

/** Keeps the state of a chargeback, which the list of refunds omits. */
function applyRefunds(
  refunds: readonly StatedRefund[] | undefined,
  paid: number,
  body: JsonObject,
  state: PaymentState,
): PaymentState {
  if (refunds === undefined || /chargeback/i.test(readText(body, 'transaction_status') ?? '')) return state;
  const refunded = refunds.filter((refund) => refund.state === 'done').reduce((sum, { amount }) => sum + amount, 0);
  return refunded >= paid ? 'refunded' : 'paid';
}

function readIdentity(body: JsonObject, charge: ChargeReference, settings: MidtransSettings): string {
  const [order, transaction, merchant] = ['order_id', 'transaction_id', 'merchant_id'].map((name) =>
    readText(body, name),
  );
  const isDifferent =
    order !== charge.reference ||
    transaction === undefined ||
    (charge.providerReference !== undefined && charge.providerReference !== transaction) ||
    (settings.merchant_id !== undefined && merchant !== undefined && merchant !== settings.merchant_id);
  if (!isDifferent) return transaction;
  throw new PaymentError(
    'rejected',
    `Midtrans returned order ${order ?? '–'}, transaction ${transaction ?? '–'} of merchant ${merchant ?? '–'} instead of ${charge.reference}`,
  );
}

/** A charge is paid only if the code is 200 and it passed the fraud check. */
function readState(body: JsonObject, code: number | undefined): PaymentState {
  const status = (readText(body, 'transaction_status') ?? '').toLowerCase();
  const state = Object.hasOwn(states, status) ? states[status] : undefined;
  if (state === undefined) throw new PaymentError('temporary', `Midtrans returned the unknown status "${status}"`);
  if (state !== 'paid') return state;
  const fraud = readText(body, 'fraud_status')?.toLowerCase() ?? 'accept';
  if (code === 200 && fraud === 'accept') return 'paid';
  return fraud === 'challenge' ? 'pending' : 'disputed';
}

function readPaidAt(body: JsonObject): { readonly paidAt?: Date } {
  const paidAt = parseLocalTime(body['settlement_time']) ?? parseLocalTime(body['transaction_time']);
  return paidAt === undefined ? {} : { paidAt };
}
