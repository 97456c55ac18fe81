/**
 * A payment provider: QRIS by Tripay (https://tripay.co.id/developer).
 *
 *     plugins: [./docs/examples/tripay/index.ts]
 *     payments: { provider: tripay }
 *     tripay: { api_key: "${TRIPAY_API_KEY}", private_key: "${TRIPAY_PRIVATE_KEY}", merchant_code: T0001 }
 */
import { createHmac } from 'node:crypto';
import {
  callProvider,
  type Charge,
  type ChargeReference,
  type ChargeRequest,
  defineSection,
  failureOf,
  type GatewayPlugin,
  type Host,
  isSameSecret,
  type JsonObject,
  type PaymentConnection,
  PaymentError,
  type PaymentEvidence,
  type PaymentNotification,
  type PaymentState,
  type ProviderCall,
  type RawNotification,
  readRupiah,
} from 'daypass';

const section = defineSection({
  name: 'tripay',
  schema: {
    type: 'object',
    description: 'Account at Tripay, used when `payments.provider` is tripay.',
    default: {},
    properties: {
      api_key: { type: 'string', writeOnly: true, description: 'API key of the merchant.' },
      private_key: { type: 'string', writeOnly: true, description: 'Private key of the merchant; it signs.' },
      merchant_code: { type: 'string', description: 'Code of the merchant, such as T0001.' },
      base_url: {
        type: 'string',
        pattern: '^https?://\\S+[^/]$',
        default: 'https://tripay.co.id/api',
        description: 'https://tripay.co.id/api-sandbox for the sandbox.',
      },
    },
    additionalProperties: false,
  },
});

interface Settings {
  readonly api_key: string;
  readonly private_key: string;
  readonly merchant_code: string;
  readonly base_url: string;
}

const secrets = ['api_key', 'private_key', 'merchant_code'] as const;

export const plugin: GatewayPlugin = {
  name: 'tripay',
  register({ gateway }) {
    gateway.section(section);
    gateway.paymentProvider({
      name: 'tripay',
      title: 'Tripay',
      currencies: ['IDR'],
      check(all, report) {
        const settings = all.get(section);
        for (const name of secrets)
          if (!settings[name]) report(['payments', 'provider'], `is tripay, and tripay.${name} is missing`, 'add it');
        if (all.isProduction && settings.base_url.includes('sandbox'))
          report(['tripay', 'base_url'], 'is the sandbox, where nobody pays', 'remove it');
      },
      connect,
    });
  },
};

function connect(host: Host): PaymentConnection {
  const { api_key, private_key, merchant_code, base_url } = host.section(section);
  if (!api_key || !private_key || !merchant_code) throw new Error('tripay lacks a key or its merchant code');
  const settings: Settings = { api_key, private_key, merchant_code, base_url };
  return {
    charge: (request, signal) => charge(settings, request, signal),
    status: (reference, signal) => status(settings, reference, signal),
    readNotification: (notification) => readNotification(settings, notification),
    acknowledgement: { status: 200, body: '{"success":true}', contentType: 'application/json' },
  };
}

async function charge(settings: Settings, request: ChargeRequest, signal: AbortSignal): Promise<Charge> {
  const { reference, amount, description, expiresAt, notificationUrl, buyer } = request;
  const body = {
    method: 'QRIS',
    merchant_ref: reference,
    amount,
    customer_name: buyer.name,
    customer_email: buyer.email ?? 'buyer@example.com',
    order_items: [{ name: description, price: amount, quantity: 1 }],
    callback_url: notificationUrl,
    expired_time: Math.floor(expiresAt.getTime() / 1000),
    signature: sign(settings, settings.merchant_code + reference + amount),
  };
  const data = await call(settings, { method: 'POST', url: '/transaction/create', body, signal });
  const { reference: providerReference, qr_string: qr, amount: total, expired_time: end } = data;
  if (typeof providerReference !== 'string' || typeof qr !== 'string' || data['merchant_ref'] !== reference)
    throw new PaymentError('unknown', `Tripay answered with a charge other than ${reference}`);
  return {
    providerReference,
    qr,
    ...(typeof end === 'number' && { expiresAt: new Date(end * 1000) }),
    // Tripay may add a fee that the buyer pays.
    total: { amount: readRupiah(total) ?? amount, currency: 'IDR' },
  };
}

async function status(settings: Settings, asked: ChargeReference, signal: AbortSignal): Promise<PaymentEvidence> {
  const { reference, providerReference } = asked;
  if (providerReference === undefined) return { reference, providerReference, state: 'unknown', raw: {} };
  const url = `/transaction/detail?reference=${encodeURIComponent(providerReference)}`;
  const data = await call(settings, { method: 'GET', url, signal });
  const isOurs = data['merchant_ref'] === reference && data['reference'] === providerReference;
  if (!isOurs) throw new PaymentError('rejected', `Tripay answered about a charge other than ${reference}`);
  return evidenceIn(data, data['amount']);
}

/** The signature covers the whole body, so a notification is evidence. */
function readNotification(settings: Settings, { headers, body }: RawNotification): PaymentNotification | undefined {
  if (headers['x-callback-event'] !== 'payment_status') return undefined;
  if (!isSameSecret(headers['x-callback-signature'] ?? '', sign(settings, body))) return undefined;
  const data = parse(body);
  if (data === undefined || typeof data['merchant_ref'] !== 'string') return undefined;
  const evidence = evidenceIn(data, data['total_amount']);
  const { reference, providerReference, state } = evidence;
  return { reference, providerReference, eventKey: `${providerReference}/${state}`, evidence };
}

const states: Readonly<Record<string, PaymentState>> = {
  UNPAID: 'pending',
  PAID: 'paid',
  EXPIRED: 'expired',
  FAILED: 'failed',
  REFUND: 'refunded',
};

function evidenceIn(data: JsonObject, total: unknown): PaymentEvidence {
  const { merchant_ref, reference: providerReference, status: text, paid_at: paidAt } = data;
  const state = states[String(text)] ?? 'disputed';
  const charged = { reference: String(merchant_ref), providerReference: String(providerReference), raw: data };
  if (state !== 'paid' && state !== 'refunded') return { ...charged, state };
  const amount = readRupiah(total);
  if (amount === undefined) return { ...charged, state: 'disputed' };
  const currency = typeof data['currency'] === 'string' ? data['currency'] : 'IDR';
  return {
    ...charged,
    state,
    paymentId: charged.providerReference,
    paid: { amount, currency },
    ...(typeof paidAt === 'number' && { paidAt: new Date(paidAt * 1000) }),
    issuer: 'QRIS',
  };
}

/** Answers are `{ success, message, data }`; only `success` reports the outcome. */
async function call(settings: Settings, { url, ...rest }: ProviderCall): Promise<JsonObject> {
  const headers = { authorization: `Bearer ${settings.api_key}` };
  const { status: code, body, retryAfter } = await callProvider({ ...rest, url: settings.base_url + url, headers });
  const { success, data, message } = body;
  if (success === true && typeof data === 'object' && data !== null && !Array.isArray(data)) return data;
  const isRefused = code >= 400 && code < 500;
  const kind = code === 429 ? 'temporary' : isRefused ? 'rejected' : failureOf(rest);
  const wait = retryAfter === undefined ? {} : { retryAfter };
  throw new PaymentError(kind, `Tripay answered ${code}: ${String(message).slice(0, 200)}`, wait);
}

function sign({ private_key }: Settings, content: string | Buffer): string {
  return createHmac('sha256', private_key).update(content).digest('hex');
}

function parse(body: Buffer): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(body.toString());
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}
