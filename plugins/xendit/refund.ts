import { readRupiah } from '#core/business/payments/amount.ts';
import {
  PaymentError,
  type PaymentState,
  type Refund,
  type RefundRequest,
  type StatedRefund,
} from '#core/business/payments/payment-provider.ts';
import { type JsonObject, listObjects } from '#core/platform/json.ts';
import { callXendit, parseTime, readText } from './api.ts';
import type { XenditSettings } from './section.ts';

const states: Readonly<Record<string, StatedRefund['state']>> = {
  SUCCEEDED: 'done',
  FAILED: 'failed',
  CANCELLED: 'failed',
};

/** The metadata carries our reference, because notifications about refunds name only the refund. Throws PaymentError. */
export async function refundXendit(
  settings: XenditSettings,
  { reference, providerReference, key, amount, currency }: RefundRequest,
  signal: AbortSignal,
): Promise<Refund> {
  const body = {
    payment_request_id: providerReference,
    reference_id: key,
    currency,
    amount,
    reason: 'REQUESTED_BY_CUSTOMER',
    metadata: { reference },
  };
  const headers = { 'idempotency-key': key };
  const refund = await callXendit(settings, { method: 'POST', path: '/refunds', body, headers, signal });
  return parseRefund(refund);
}

export async function fetchXenditRefund(
  settings: XenditSettings,
  { providerReference, key }: RefundRequest,
  signal: AbortSignal,
): Promise<Refund> {
  if (providerReference === undefined) return { state: 'unknown', raw: {} };
  const refunds = await fetchRefunds(settings, providerReference, signal);
  return parseRefund(refunds.find((refund) => refund['reference_id'] === key));
}

/**
 * Lists the refunds of one payment of a request, which may have several payments. Returns undefined if they cannot be fetched; the payment
 * then counts as not refunded until the next attempt succeeds.
 */
export async function listRefunds(
  settings: XenditSettings,
  providerReference: string,
  paymentId: string | undefined,
  signal: AbortSignal,
): Promise<readonly StatedRefund[] | undefined> {
  try {
    const refunds = await fetchRefunds(settings, providerReference, signal);
    return refunds.filter((refund) => belongsTo(refund, paymentId)).flatMap(toStatedRefunds);
  } catch (error) {
    if (error instanceof PaymentError) return undefined;
    throw error;
  }
}

/** A refund that names no payment belongs to the request's only one. */
function belongsTo(refund: JsonObject, paymentId: string | undefined): boolean {
  const refundPaymentId = readText(refund, 'payment_id');
  return refundPaymentId === undefined || paymentId === undefined || refundPaymentId === paymentId;
}

function toStatedRefunds(refund: JsonObject): StatedRefund[] {
  const [id, amount] = [readText(refund, 'id'), readRupiah(refund['amount'])];
  if (id === undefined || amount === undefined) return [];
  const state = readState(refund);
  return [{ id, key: readText(refund, 'reference_id'), amount, state, at: parseRefundTime(refund) }];
}

function parseRefundTime(refund: JsonObject): Date | undefined {
  return parseTime(refund['updated'] ?? refund['created']);
}

export function computePaymentState(refunds: readonly StatedRefund[] | undefined, paid: number): PaymentState {
  const refunded = (refunds ?? []).filter(({ state }) => state === 'done').reduce((sum, { amount }) => sum + amount, 0);
  return refunded > 0 && refunded >= paid ? 'refunded' : 'paid';
}

async function fetchRefunds(settings: XenditSettings, providerReference: string, signal: AbortSignal) {
  const path = `/refunds?payment_request_id=${encodeURIComponent(providerReference)}`;
  const body = await callXendit(settings, { method: 'GET', path, signal });
  return listObjects(body?.['data']).filter((refund) => refund['payment_request_id'] === providerReference);
}

/** `SUCCEEDED` means that the buyer's bank has accepted the refund. One that is not listed may still be in progress. */
function parseRefund(refund: JsonObject | undefined): Refund {
  if (refund === undefined) return { state: 'unknown', raw: {} };
  return { state: readState(refund), at: parseRefundTime(refund), raw: refund };
}

function readState(refund: JsonObject): StatedRefund['state'] {
  return states[readText(refund, 'status') ?? ''] ?? 'pending';
}
