import { readRupiah } from '#core/business/payments/amount.ts';
import { type Charge, type ChargeRequest, PaymentError } from '#core/business/payments/payment-provider.ts';
import { type JsonObject, listObjects } from '#core/platform/json.ts';
import { callXendit, readText } from './api.ts';
import type { XenditSettings } from './section.ts';

/**
 * Xendit's QRIS has no expiry option: a request is valid for 48 hours unless it is cancelled, and core cancels it at `expiresAt`. There is
 * no idempotency key either, so a lost response leaves an unused request behind.
 *
 * @throws PaymentError
 */
export async function chargeXendit(
  settings: XenditSettings,
  request: ChargeRequest,
  signal: AbortSignal,
): Promise<Charge> {
  const body = await callXendit(settings, {
    method: 'POST',
    path: '/v3/payment_requests',
    body: createBody(request),
    signal,
  });
  return parseCharge(body ?? {}, request);
}

function createBody({ reference, amount, currency, description }: ChargeRequest) {
  return {
    reference_id: reference,
    type: 'PAY',
    country: 'ID',
    currency,
    request_amount: amount,
    capture_method: 'AUTOMATIC',
    channel_code: 'QRIS',
    channel_properties: {},
    description,
  };
}

function parseCharge(body: JsonObject, { reference, amount, currency }: ChargeRequest): Charge {
  const providerReference = readText(body, 'payment_request_id');
  if (readText(body, 'status') === 'FAILED')
    throw new PaymentError('rejected', `Xendit refused the charge ${reference}`);
  const isOurs =
    body['reference_id'] === reference &&
    readRupiah(body['request_amount']) === amount &&
    (readText(body, 'currency') ?? currency) === currency;
  if (providerReference === undefined || !isOurs)
    throw new PaymentError('unknown', `Xendit returned a charge other than ${reference}`);
  const qr = findQr(body);
  if (qr === undefined) throw new PaymentError('unknown', `Xendit returned no QR code for ${reference}`);
  return { providerReference, qr };
}

function findQr(body: JsonObject): string | undefined {
  const action = listObjects(body['actions']).find(({ descriptor }) => descriptor === 'QR_STRING');
  return readText(action, 'value');
}
