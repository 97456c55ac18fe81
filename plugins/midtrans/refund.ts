import { isJsonObject, type JsonObject } from '#core/platform/json.ts';
import type { Refund, RefundRequest } from '#core/business/payments/payment-provider.ts';
import { callMidtrans, idempotent } from './api.ts';
import { textOf } from './evidence.ts';
import type { MidtransSettings } from './section.ts';

/** Asks for a refund; the buyer's bank confirms it later. @throws PaymentError */
export async function refundMidtrans(
  settings: MidtransSettings,
  { reference, key, amount, reason }: RefundRequest,
  signal: AbortSignal,
): Promise<Refund> {
  const path = `/v2/${encodeURIComponent(reference)}/refund`;
  const body = { refund_key: key, amount, reason: reason.slice(0, 255) };
  const headers = idempotent(`R-${key}`);
  return readRefund(await callMidtrans(settings, { method: 'POST', path, body, headers, signal }), key, 'pending');
}

/** Reads it from the status of its charge. @throws PaymentError */
export async function readMidtransRefund(
  settings: MidtransSettings,
  { reference, key }: RefundRequest,
  signal: AbortSignal,
): Promise<Refund> {
  const path = `/v2/${encodeURIComponent(reference)}/status`;
  return readRefund(await callMidtrans(settings, { method: 'GET', path, signal }), key, 'unknown');
}

/** Done when the bank has confirmed it. @param unlisted the state of one that is not listed, which may be on its way */
function readRefund(body: JsonObject, key: string, unlisted: Refund['state']): Refund {
  const refunds = Array.isArray(body['refunds']) ? body['refunds'].filter(isJsonObject) : [];
  const refund = refunds.find((one) => one['refund_key'] === key);
  if (refund === undefined) return { state: unlisted, raw: body };
  return { state: textOf(refund, 'bank_confirmed_at') === undefined ? 'pending' : 'done', raw: body };
}
