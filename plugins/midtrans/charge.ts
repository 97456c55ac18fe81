import { isJsonObject, type JsonObject } from '#core/platform/json.ts';
import { readRupiah } from '#core/business/payments/amount.ts';
import { type Charge, type ChargeRequest, PaymentError } from '#core/business/payments/payment-provider.ts';
import { callMidtrans, idempotent, textOf } from './api.ts';
import { readLocalTime, writeLocalTime } from './local-time.ts';
import type { MidtransSettings } from './section.ts';

const minWindow = 900; // seconds
const maxItemName = 50; // characters

/** Creates a QRIS charge. @throws PaymentError */
export async function chargeMidtrans(
  settings: MidtransSettings,
  request: ChargeRequest,
  now: number,
  signal: AbortSignal,
): Promise<Charge> {
  const headers = { ...idempotent(request.reference), ...overridden(request, settings) };
  const body = bodyOf(request, settings, now);
  return readCharge(
    await callMidtrans(settings, { method: 'POST', path: '/v2/charge', body, headers, signal }),
    request,
  );
}

function bodyOf(
  { reference, amount, description, expiresAt }: ChargeRequest,
  { acquirer }: MidtransSettings,
  now: number,
) {
  return {
    payment_type: 'qris',
    transaction_details: { order_id: reference, gross_amount: amount },
    item_details: [{ id: reference, price: amount, quantity: 1, name: description.slice(0, maxItemName) }],
    qris: { acquirer },
    custom_expiry: expiryOf(expiresAt, now),
  };
}

/**
 * The window ends at `expiresAt`, independently of this machine's clock: the start is counted back from there. Without a
 * window, Midtrans chooses one.
 */
function expiryOf(expiresAt: Date, now: number) {
  const seconds = Math.max(minWindow, Math.ceil((expiresAt.getTime() - now) / 1_000));
  const start = new Date(expiresAt.getTime() - seconds * 1_000);
  return { order_time: writeLocalTime(start), expiry_duration: seconds, unit: 'second' };
}

/** Directs this charge's notifications here, whatever is set in the dashboard. Midtrans reaches public HTTPS only. */
function overridden({ notificationUrl }: ChargeRequest, { base_url }: MidtransSettings): Record<string, string> {
  const isReachable = notificationUrl.startsWith('https:') || base_url !== undefined;
  return isReachable ? { 'x-override-notification': notificationUrl } : {};
}

function readCharge(body: JsonObject, { reference, amount }: ChargeRequest): Charge {
  const [order, providerReference, qr] = ['order_id', 'transaction_id', 'qr_string'].map((name) => textOf(body, name));
  const paymentUrl = imageOf(body);
  if (/^(deny|failure)$/i.test(textOf(body, 'transaction_status') ?? ''))
    throw new PaymentError('rejected', `Midtrans denied the charge ${reference}`);
  if (providerReference === undefined || order !== reference || readRupiah(body['gross_amount']) !== amount)
    throw new PaymentError('unknown', `Midtrans returned another charge than ${reference}`);
  if (qr === undefined && paymentUrl === undefined)
    throw new PaymentError('unknown', `Midtrans returned no QR code for ${reference}`);
  const expiresAt = readLocalTime(body['expiry_time']);
  return {
    providerReference,
    ...(qr !== undefined && { qr }),
    ...(paymentUrl !== undefined && { paymentUrl }),
    ...(expiresAt !== undefined && { expiresAt }),
  };
}

/** The code's image if there is no payload; v2 has the frame that Indonesian payers know. */
function imageOf(body: JsonObject): string | undefined {
  const actions = Array.isArray(body['actions']) ? body['actions'].filter(isJsonObject) : [];
  const url = ['generate-qr-code-v2', 'generate-qr-code']
    .map((name) => actions.find((action) => action['name'] === name)?.['url'])
    .find((one) => typeof one === 'string' && one.startsWith('https://'));
  return url as string | undefined;
}
