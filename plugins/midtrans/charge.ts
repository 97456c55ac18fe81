import { readRupiah } from '#core/business/payments/amount.ts';
import { type Charge, type ChargeRequest, PaymentError } from '#core/business/payments/payment-provider.ts';
import { type JsonObject, listObjects } from '#core/platform/json.ts';
import { callMidtrans, createIdempotencyHeader, readText } from './api.ts';
import { parseLocalTime, formatLocalTime } from './local-time.ts';
import type { MidtransSettings } from './section.ts';

const minWindowSeconds = 900;
const maxItemNameLength = 50;

/** @throws PaymentError if Midtrans rejects the charge, or if the outcome is unknown */
export async function chargeMidtrans(
  settings: MidtransSettings,
  request: ChargeRequest,
  now: number,
  signal: AbortSignal,
): Promise<Charge> {
  const headers = { ...createIdempotencyHeader(request.reference), ...createOverrideHeader(request, settings) };
  const body = createBody(request, settings, now);
  return parseCharge(
    await callMidtrans(settings, { method: 'POST', path: '/v2/charge', body, headers, signal }),
    request,
  );
}

function createBody(
  { reference, amount, description, expiresAt }: ChargeRequest,
  { acquirer }: MidtransSettings,
  now: number,
) {
  return {
    payment_type: 'qris',
    transaction_details: { order_id: reference, gross_amount: amount },
    item_details: [{ id: reference, price: amount, quantity: 1, name: description.slice(0, maxItemNameLength) }],
    qris: { acquirer },
    custom_expiry: createExpiry(expiresAt, now), // without it, Midtrans chooses its own payment window
  };
}

/** The start is counted back from `expiresAt`, so the payment window ends there regardless of this machine's clock. */
function createExpiry(expiresAt: Date, now: number) {
  const seconds = Math.max(minWindowSeconds, Math.ceil((expiresAt.getTime() - now) / 1_000));
  const start = new Date(expiresAt.getTime() - seconds * 1_000);
  return { order_time: formatLocalTime(start), expiry_duration: seconds, unit: 'second' };
}

/** Sends the charge's notifications here instead of to the URL in the dashboard. Midtrans requires public HTTPS. */
function createOverrideHeader(
  { notificationUrl }: ChargeRequest,
  { base_url }: MidtransSettings,
): Record<string, string> {
  const isReachable = notificationUrl.startsWith('https:') || base_url !== undefined;
  return isReachable ? { 'x-override-notification': notificationUrl } : {};
}

function parseCharge(body: JsonObject, { reference, amount }: ChargeRequest): Charge {
  const [order, providerReference, qr] = ['order_id', 'transaction_id', 'qr_string'].map((name) =>
    readText(body, name),
  );
  const paymentUrl = findImageUrl(body);
  if (/^(deny|failure)$/i.test(readText(body, 'transaction_status') ?? ''))
    throw new PaymentError('rejected', `Midtrans denied the charge ${reference}`);
  if (providerReference === undefined || order !== reference || readRupiah(body['gross_amount']) !== amount)
    throw new PaymentError('unknown', `Midtrans returned a charge other than ${reference}`);
  if (qr === undefined && paymentUrl === undefined)
    throw new PaymentError('unknown', `Midtrans returned no QR code for ${reference}`);
  const expiresAt = parseLocalTime(body['expiry_time']);
  return {
    providerReference,
    ...(qr !== undefined && { qr }),
    ...(paymentUrl !== undefined && { paymentUrl }),
    ...(expiresAt !== undefined && { expiresAt }),
  };
}

/** Prefers version 2, which has the frame that Indonesian payers know. */
function findImageUrl(body: JsonObject): string | undefined {
  const actions = listObjects(body['actions']);
  const url = ['generate-qr-code-v2', 'generate-qr-code']
    .map((name) => actions.find((action) => action['name'] === name)?.['url'])
    .find((candidate) => typeof candidate === 'string' && candidate.startsWith('https://'));
  return url as string | undefined;
}
