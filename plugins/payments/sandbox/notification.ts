import { createHmac } from 'node:crypto';
import type {
  PaymentEvidence,
  PaymentNotification,
  PaymentState,
  RawNotification,
  StatedRefund,
} from '#core/business/payments/payment-provider.ts';
import { type JsonObject, parseObject } from '#core/platform/json.ts';
import { isSameSecret } from '#core/platform/same-secret.ts';
import type { SandboxCharge, SandboxRefund } from './charges.ts';

/** Header with the HMAC-SHA256 of the body, in hexadecimal. */
export const signatureHeader = 'x-sandbox-signature';

export function toEvidence(charge: SandboxCharge): PaymentEvidence {
  const { reference, providerReference, paidAmount, paidAt, paymentId, currency } = charge;
  const isPaid = paidAmount !== undefined && paidAt !== undefined;
  return {
    reference,
    providerReference,
    state: toPaymentState(charge),
    ...(isPaid && { paymentId, paid: { amount: paidAmount, currency }, paidAt, issuer: 'Sandbox' }),
    ...(isPaid && { refunds: toStatedRefunds(charge.refunds) }),
    raw: { ...charge, qr: undefined, notificationUrl: undefined },
  };
}

export function createSignedNotification(charge: SandboxCharge, secret: string): { body: string; signature: string } {
  const { state, paidAmount, paidAt, paymentId, refunds } = charge;
  const body = JSON.stringify({
    reference: charge.reference,
    provider_reference: charge.providerReference,
    state: toPaymentState(charge),
    currency: charge.currency,
    ...(state === 'paid' && { paid_amount: paidAmount, paid_at: paidAt?.toISOString(), payment_id: paymentId }),
    ...(refunds.length > 0 && { refunds }),
  });
  return { body, signature: sign(body, secret) };
}

/** The signature covers the whole body, so its content is evidence. */
export function readSandboxNotification(
  { headers, body }: RawNotification,
  secret: string | undefined,
): PaymentNotification | undefined {
  const text = body.toString('utf8');
  if (secret === undefined || !isSameSecret(headers[signatureHeader] ?? '', sign(text, secret))) return undefined;
  const content = parseObject(text);
  if (content === undefined) return undefined;
  const evidence = parseEvidence(content);
  const { reference, providerReference, paymentId = '', state } = evidence;
  const refundIds = (evidence.refunds ?? []).map(({ id }) => id);
  const eventKey = [providerReference, state, paymentId, ...refundIds].join('/');
  return { reference, providerReference, eventKey, evidence };
}

function parseEvidence(content: JsonObject): PaymentEvidence {
  const text = (name: string) => String(content[name]);
  return {
    reference: text('reference'),
    providerReference: text('provider_reference'),
    state: text('state') as PaymentState,
    ...(content['paid_at'] !== undefined && {
      paymentId: text('payment_id'),
      paid: { amount: Number(content['paid_amount']), currency: text('currency') },
      paidAt: new Date(text('paid_at')),
      issuer: 'Sandbox',
      refunds: toStatedRefunds((content['refunds'] ?? []) as unknown as SandboxRefund[]),
    }),
    raw: content,
  };
}

function toStatedRefunds(refunds: readonly SandboxRefund[]): StatedRefund[] {
  return refunds.map(({ key, amount }) => ({ id: key, key, amount, state: 'done' }));
}

function toPaymentState({ state, paidAmount = 0, refunds }: SandboxCharge): PaymentState {
  const refundedAmount = refunds.reduce((sum, { amount }) => sum + amount, 0);
  return state === 'paid' && refundedAmount > 0 && refundedAmount >= paidAmount ? 'refunded' : state;
}

function sign(body: string, secret: string): string {
  return createHmac('sha256', secret).update(body).digest('hex');
}
