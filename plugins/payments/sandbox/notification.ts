import { createHmac } from 'node:crypto';
import { type JsonObject, parseObject } from '#core/platform/json.ts';
import type {
  PaymentEvidence,
  PaymentNotification,
  PaymentState,
  RawNotification,
  StatedRefund,
} from '#core/business/payments/payment-provider.ts';
import { isSameSecret } from '#core/platform/same-secret.ts';
import type { SandboxCharge, SandboxRefund } from './charges.ts';

/** Header of the signature: HMAC-SHA256 over the body, in hexadecimal. */
export const signatureHeader = 'x-sandbox-signature';

/** Evidence from a charge. A status and a notification contain the same. */
export function evidenceOf(charge: SandboxCharge): PaymentEvidence {
  const { reference, providerReference, paidAmount, paidAt, paymentId, currency } = charge;
  const isPaid = paidAmount !== undefined && paidAt !== undefined;
  return {
    reference,
    providerReference,
    state: stateOf(charge),
    ...(isPaid && { paymentId, paid: { amount: paidAmount, currency }, paidAt, issuer: 'Sandbox' }),
    ...(isPaid && { refunds: stated(charge.refunds) }),
    raw: { ...charge, qr: undefined, notificationUrl: undefined },
  };
}

/** Writes the notification of a charge in its present state. */
export function writeNotification(charge: SandboxCharge, secret: string): { body: string; signature: string } {
  const { state, paidAmount, paidAt, paymentId, refunds } = charge;
  const body = JSON.stringify({
    reference: charge.reference,
    provider_reference: charge.providerReference,
    state: stateOf(charge),
    currency: charge.currency,
    ...(state === 'paid' && { paid_amount: paidAmount, paid_at: paidAt?.toISOString(), payment_id: paymentId }),
    ...(refunds.length > 0 && { refunds }),
  });
  return { body, signature: sign(body, secret) };
}

/** Reads one. The signature covers all of it, so it is evidence. */
export function readSandboxNotification(
  { headers, body }: RawNotification,
  secret: string | undefined,
): PaymentNotification | undefined {
  const text = body.toString('utf8');
  if (secret === undefined || !isSameSecret(headers[signatureHeader] ?? '', sign(text, secret))) return undefined;
  const content = parseObject(text);
  if (content === undefined) return undefined;
  const evidence = evidenceIn(content);
  const { reference, providerReference, paymentId = '', state } = evidence;
  const back = (evidence.refunds ?? []).map(({ id }) => id);
  const eventKey = [providerReference, state, paymentId, ...back].join('/');
  return { reference, providerReference, eventKey, evidence };
}

function evidenceIn(content: JsonObject): PaymentEvidence {
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
      refunds: stated((content['refunds'] ?? []) as unknown as SandboxRefund[]),
    }),
    raw: content,
  };
}

function stated(refunds: readonly SandboxRefund[]): StatedRefund[] {
  return refunds.map(({ key, amount }) => ({ id: key, key, amount, state: 'done' }));
}

function stateOf({ state, paidAmount = 0, refunds }: SandboxCharge): PaymentState {
  const back = refunds.reduce((sum, { amount }) => sum + amount, 0);
  return state === 'paid' && back > 0 && back >= paidAmount ? 'refunded' : state;
}

function sign(body: string, secret: string): string {
  return createHmac('sha256', secret).update(body).digest('hex');
}
