import { isJsonObject, type JsonObject } from '#core/platform/json.ts';
import { readRupiah } from '#core/business/payments/amount.ts';
import {
  PaymentError,
  type PaymentState,
  type Refund,
  type RefundRequest,
} from '#core/business/payments/payment-provider.ts';
import { callXendit, textOf } from './api.ts';
import type { XenditSettings } from './section.ts';

const states: Readonly<Record<string, Refund['state']>> = { SUCCEEDED: 'done', FAILED: 'failed', CANCELLED: 'failed' };

/**
 * Asks for a refund. Its metadata carries our reference, because notifications of refunds name only the refund.
 *
 * @throws PaymentError
 */
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
  return readRefund(refund);
}

/** @throws PaymentError */
export async function readXenditRefund(
  settings: XenditSettings,
  { providerReference, key }: RefundRequest,
  signal: AbortSignal,
): Promise<Refund> {
  if (providerReference === undefined) return { state: 'unknown', raw: {} };
  const refunds = await readRefunds(settings, providerReference, signal);
  return readRefund(refunds.find((refund) => refund['reference_id'] === key));
}

/**
 * All refunds of a payment request; none when the list cannot be read. That something was paid stays true without it, and
 * the next read may have it.
 */
export async function listRefunds(
  settings: XenditSettings,
  providerReference: string,
  signal: AbortSignal,
): Promise<readonly JsonObject[]> {
  try {
    return await readRefunds(settings, providerReference, signal);
  } catch (error) {
    if (error instanceof PaymentError) return [];
    throw error;
  }
}

/** What refunds make of a payment: nothing, part of it, or all of it returned. */
export function refundedOf(refunds: readonly JsonObject[], paid: number): PaymentState {
  const returned = refunds
    .filter((refund) => textOf(refund, 'status') === 'SUCCEEDED')
    .reduce((sum, refund) => sum + (readRupiah(refund['amount']) ?? 0), 0);
  if (returned === 0) return 'paid';
  return returned < paid ? 'disputed' : 'refunded';
}

async function readRefunds(settings: XenditSettings, providerReference: string, signal: AbortSignal) {
  const path = `/refunds?payment_request_id=${encodeURIComponent(providerReference)}`;
  const body = await callXendit(settings, { method: 'GET', path, signal });
  const refunds = Array.isArray(body?.['data']) ? body['data'].filter(isJsonObject) : [];
  return refunds.filter((refund) => refund['payment_request_id'] === providerReference);
}

/** Succeeded means handed to the buyer's bank. One that is not listed may be on its way. */
function readRefund(refund: JsonObject | undefined): Refund {
  if (refund === undefined) return { state: 'unknown', raw: {} };
  return { state: states[textOf(refund, 'status') ?? ''] ?? 'pending', raw: refund };
}
