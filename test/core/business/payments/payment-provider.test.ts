import { createHash, createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  type ChargeReference,
  type Money,
  type PaymentConnection,
  PaymentError,
  type PaymentEvidence,
  type PaymentNotification,
  type PaymentState,
  type RawNotification,
} from '#core/business/payments/payment-provider.ts';
import { isSameSecret } from '#core/platform/same-secret.ts';

/*
 * The contract carries providers that sign everything, something or nothing. What is tried here is how each of them reads
 * its notifications; the calls are those of a provider that answers from a list.
 */

const stateOf = (states: Readonly<Record<string, PaymentState>>, text: string) =>
  states[text.toLowerCase()] ?? 'unknown';

type ReadNotification = PaymentConnection['readNotification'];

/** Signs the raw body, which has everything: the notification is evidence. */
const tripay: ReadNotification = ({ headers, body }) => {
  const signature = createHmac('sha256', 'PRIVKEY').update(body).digest('hex');
  if (!isSameSecret(signature, headers['x-callback-signature'] ?? '')) return undefined;
  const raw = JSON.parse(body.toString()) as {
    reference: string;
    merchant_ref: string;
    status: string;
    total_amount: number;
    paid_at?: number;
  };
  const reference: ChargeReference = { reference: raw.merchant_ref, providerReference: raw.reference };
  const state = stateOf(
    { paid: 'paid', unpaid: 'pending', expired: 'expired', failed: 'failed', refund: 'refunded' },
    raw.status,
  );
  const evidence: PaymentEvidence = {
    ...reference,
    state,
    paymentId: raw.reference,
    paid: { amount: raw.total_amount, currency: 'IDR' },
    ...(raw.paid_at !== undefined && { paidAt: new Date(raw.paid_at * 1000) }),
    raw,
  };
  return { ...reference, eventKey: `${raw.reference}/${raw.status}`, evidence };
};

/** Signs order, code and amount, but not the state: core reads the status before it believes anything. */
const midtrans: ReadNotification = ({ body }) => {
  const raw = JSON.parse(body.toString()) as Record<string, string>;
  const signed = `${raw['order_id']}${raw['status_code']}${raw['gross_amount']}SB-Mid-server-TESTKEY`;
  if (!isSameSecret(createHash('sha512').update(signed).digest('hex'), raw['signature_key'] ?? '')) return undefined;
  return {
    reference: raw['order_id'] ?? '',
    providerReference: raw['transaction_id'],
    eventKey: `${raw['transaction_id']}/${raw['transaction_status']}`,
  };
};

/** Signs nothing: a token in a header says who sent it. */
const xendit: ReadNotification = ({ headers, body }) => {
  if (!isSameSecret(headers['x-callback-token'] ?? '', 'webhook-token')) return undefined;
  const { data } = JSON.parse(body.toString()) as { data: Record<string, string> };
  return {
    reference: data['reference_id'] ?? '',
    providerReference: data['payment_request_id'],
    eventKey: headers['webhook-id'] ?? '',
  };
};

const notificationOf = (headers: Record<string, string>, body: object): RawNotification => ({
  headers,
  body: Buffer.from(JSON.stringify(body)),
  query: new URLSearchParams(),
});

describe('a notification', () => {
  it('of Tripay is evidence by itself, because its signature covers the body', () => {
    const body = {
      reference: 'T1',
      merchant_ref: 'ORD-7F3K2M.1',
      status: 'PAID',
      total_amount: 25_000,
      paid_at: 1_767_225_600,
    };
    const signature = createHmac('sha256', 'PRIVKEY').update(JSON.stringify(body)).digest('hex');
    const read = tripay(notificationOf({ 'x-callback-signature': signature }, body));
    expect(read?.evidence).toMatchObject({
      reference: 'ORD-7F3K2M.1',
      providerReference: 'T1',
      state: 'paid',
      paid: { amount: 25_000, currency: 'IDR' } satisfies Money,
      paidAt: new Date('2026-01-01T00:00:00Z'),
    });
    expect(tripay(notificationOf({ 'x-callback-signature': signature }, { ...body, total_amount: 1 }))).toBeUndefined();
  });

  it('of Midtrans is authentic, but proves no state', () => {
    const signature =
      '0eb6b9d9ecf630a3bb6b305ee6639ed330c023b390f8d6a3de739fe6fe238b30dd38f6b9e929871f1145d1fbb5d46187fc944df557f602795708f2ebc4b26aac';
    const body = {
      order_id: 'ORD-7F3K2M',
      status_code: '200',
      gross_amount: '25000.00',
      transaction_id: 'M1',
      transaction_status: 'settlement',
      signature_key: signature,
    };
    const expected: PaymentNotification = {
      reference: 'ORD-7F3K2M',
      providerReference: 'M1',
      eventKey: 'M1/settlement',
    };
    expect(midtrans(notificationOf({}, body))).toEqual(expected);
    expect(midtrans(notificationOf({}, { ...body, gross_amount: '1.00' }))).toBeUndefined();
  });

  it('of Xendit is known by its sender alone', () => {
    const body = { event: 'payment.capture', data: { reference_id: 'ORD-7F3K2M.2', payment_request_id: 'pr-1' } };
    const headers = { 'x-callback-token': 'webhook-token', 'webhook-id': 'w1' };
    const expected: PaymentNotification = { reference: 'ORD-7F3K2M.2', providerReference: 'pr-1', eventKey: 'w1' };
    expect(xendit(notificationOf(headers, body))).toEqual(expected);
    expect(xendit(notificationOf({ ...headers, 'x-callback-token': 'guess' }, body))).toBeUndefined();
  });
});

describe('an error of a provider', () => {
  it('says whether the call may have had its effect', () => {
    const error = new PaymentError('unknown', 'no answer within 10 s', { retryAfter: 5, cause: 'timeout' });
    expect([error.kind, error.retryAfter, error.cause]).toEqual(['unknown', 5, 'timeout']);
  });
});
