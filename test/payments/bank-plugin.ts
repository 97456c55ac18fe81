import { createHmac } from 'node:crypto';
import { CheckoutError } from '#core/business/payments/checkout-error.ts';
import { startOrder } from '#core/business/payments/checkout.ts';
import {
  type PaymentConnection,
  PaymentError,
  type PaymentEvidence,
  type PaymentNotification,
} from '#core/business/payments/payment-provider.ts';
import type { GatewayPlugin } from '#core/extension/plugin.ts';

/*
 * The gateway's side of the bank of the soak: a provider that speaks to it over HTTP, and a route that orders a plan, so
 * that orders are made in the processes that are killed.
 */

const secret = 'soak';

/** The signature of a notification's body. */
export function signBody(body: string): string {
  return createHmac('sha256', secret).update(body).digest('hex');
}

async function ask(path: string, body: object, signal: AbortSignal): Promise<never> {
  try {
    const response = await fetch(`${process.env['SOAK_BANK']}${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
      signal,
    });
    if (response.status === 429) throw new PaymentError('temporary', 'HTTP 429', { isRateLimited: true });
    if (!response.ok) throw new PaymentError('unknown', `HTTP ${response.status}`);
    return (await response.json()) as never;
  } catch (error) {
    throw error instanceof PaymentError ? error : new PaymentError('unknown', String(error), { cause: error });
  }
}

const rate = process.env['SOAK_RATE'] ?? '';
const connection: PaymentConnection = {
  ...(rate !== '' && { callsPerSecond: Number(rate) }),
  charge: ({ reference, amount, currency }, signal) => ask('/charge', { reference, amount, currency }, signal),
  status: ({ reference }, signal) => ask('/status', { reference }, signal),
  cancel: ({ reference }, signal) => ask('/cancel', { reference }, signal),
  readNotification({ headers, body }) {
    if (headers['x-signature'] !== signBody(body.toString())) return undefined;
    const read = JSON.parse(body.toString()) as PaymentNotification & { readonly evidence?: PaymentEvidence };
    const { reference, providerReference, eventKey, evidence } = read;
    return { reference, providerReference, eventKey, ...(evidence !== undefined && { evidence }) };
  },
};

export const plugin: GatewayPlugin = {
  name: 'soak-bank',
  register(server) {
    const { gateway } = server;
    gateway.paymentProvider({ name: 'bank', title: 'Bank', currencies: ['IDR'], connect: () => connection });
    server.route({
      method: 'POST',
      path: '/soak/orders',
      options: { auth: false },
      async handler(request, h) {
        const { accountId, days } = request.payload as { accountId: string; days: number };
        try {
          const { id, attempt, state } = await startOrder(server.host(), accountId, days);
          return { id, reference: attempt?.qr === undefined ? undefined : attempt.reference, state };
        } catch (error) {
          return h.response(String(error)).code(error instanceof CheckoutError ? 409 : 503);
        }
      },
    });
  },
};
