import { readRupiah } from '#core/business/payments/amount.ts';
import {
  type ChargeReference,
  PaymentError,
  type PaymentEvidence,
  type PaymentState,
} from '#core/business/payments/payment-provider.ts';
import { isJsonObject, type JsonObject, listObjects } from '#core/platform/json.ts';
import { callXendit, parseTime, readText } from './api.ts';
import { listRefunds, computePaymentState } from './refund.ts';
import type { XenditSettings } from './section.ts';

const requestStates: Readonly<Record<string, PaymentState>> = {
  REQUIRES_ACTION: 'pending',
  ACCEPTING_PAYMENTS: 'pending',
  AUTHORIZED: 'pending',
  PENDING: 'pending',
  SUCCEEDED: 'paid',
  FAILED: 'failed',
  CANCELED: 'failed',
  EXPIRED: 'expired',
};

/**
 * An expired request may have been paid and still be reported as expired. If Xendit's reference is unknown, the state is `unknown`, because
 * Xendit cannot look up a request by ours.
 *
 * @throws PaymentError
 */
export async function fetchXenditStatus(
  settings: XenditSettings,
  charge: ChargeReference,
  signal: AbortSignal,
): Promise<PaymentEvidence> {
  const identity = { reference: charge.reference, providerReference: charge.providerReference };
  if (charge.providerReference === undefined) return { ...identity, state: 'unknown', raw: {} };
  const path = `/v3/payment_requests/${encodeURIComponent(charge.providerReference)}`;
  const request = await callXendit(settings, { method: 'GET', path, signal });
  if (request === undefined) return { ...identity, state: 'unknown', raw: {} };
  checkIdentity(request, charge);
  const payment = await findPayment(settings, charge, readText(request, 'latest_payment_id'), signal);
  if (payment !== undefined) return fetchPaid(settings, charge, payment, signal);
  const state = readState(request);
  // The payment is not listed yet, but a code for a fixed amount accepts only that amount.
  if (state === 'paid') return fetchPaid(settings, charge, request, signal);
  return { ...identity, state, raw: request };
}

async function findPayment(
  settings: XenditSettings,
  charge: ChargeReference,
  latestPaymentId: string | undefined,
  signal: AbortSignal,
): Promise<JsonObject | undefined> {
  for (const id of new Set([charge.paymentId, latestPaymentId])) {
    if (id === undefined) continue;
    const path = `/v3/payments/${encodeURIComponent(id)}`;
    const payment = await callXendit(settings, { method: 'GET', path, signal });
    if (payment === undefined || readText(payment, 'status') !== 'SUCCEEDED') continue;
    checkIdentity(payment, charge);
    return payment;
  }
  return undefined;
}

async function fetchPaid(
  settings: XenditSettings,
  { reference, providerReference }: ChargeReference,
  payment: JsonObject,
  signal: AbortSignal,
): Promise<PaymentEvidence> {
  const captures = listObjects(payment['captures']);
  const amount = sumCaptures(captures, payment);
  const paymentId = readText(payment, 'payment_id');
  const refunds = await listRefunds(settings, providerReference as string, paymentId, signal);
  const paidAt = parseTime(captures[0]?.['capture_timestamp']) ?? parseTime(payment['updated']);
  const details = isJsonObject(payment['payment_details']) ? payment['payment_details'] : undefined;
  return {
    reference,
    providerReference,
    // We never charge a fraction of a rupiah, so an operator must look at this payment.
    state: amount === undefined ? 'disputed' : computePaymentState(refunds, amount),
    ...(paymentId !== undefined && { paymentId }),
    ...(amount !== undefined && { paid: { amount, currency: readText(payment, 'currency') ?? 'IDR' } }),
    ...(paidAt !== undefined && { paidAt }),
    ...(refunds !== undefined && { refunds }),
    ...(readText(details, 'issuer_name') !== undefined && { issuer: readText(details, 'issuer_name') as string }),
    raw: payment,
  };
}

function sumCaptures(captures: readonly JsonObject[], payment: JsonObject): number | undefined {
  if (captures.length === 0) return readRupiah(payment['request_amount']);
  const amounts = captures.map(({ capture_amount }) => readRupiah(capture_amount));
  return amounts.every((amount) => amount !== undefined) ? amounts.reduce((sum, amount) => sum + amount, 0) : undefined;
}

/** @throws PaymentError if a response is about a different charge */
function checkIdentity(body: JsonObject, { reference, providerReference }: ChargeReference): void {
  const [ours, theirs] = [readText(body, 'reference_id'), readText(body, 'payment_request_id')];
  if (ours === reference && theirs === providerReference) return;
  const about = `${ours ?? '–'} (${theirs ?? '–'})`;
  throw new PaymentError('rejected', `Xendit returned ${about} instead of ${reference}`);
}

function readState(request: JsonObject): PaymentState {
  const status = readText(request, 'status') ?? '';
  const state = Object.hasOwn(requestStates, status) ? requestStates[status] : undefined;
  if (state === undefined) throw new PaymentError('temporary', `Xendit returned the unknown status "${status}"`);
  return state;
}
