import { isJsonObject, type JsonObject } from '#core/platform/json.ts';
import { readRupiah } from '#core/business/payments/amount.ts';
import type { Refund, RefundRequest, StatedRefund } from '#core/business/payments/payment-provider.ts';
import { callMidtrans, idempotent, textOf } from './api.ts';
import { readLocalTime } from './local-time.ts';
import type { MidtransSettings } from './section.ts';

/** Ms after which a refund that Midtrans keeps listing is done, although the confirmation of the bank is missing. */
const longestUnconfirmed = 7 * 86_400_000;

/** Asks for a refund; the buyer's bank confirms it later. @throws PaymentError */
export async function refundMidtrans(
  settings: MidtransSettings,
  { reference, key, amount, reason }: RefundRequest,
  now: number,
  signal: AbortSignal,
): Promise<Refund> {
  const path = `/v2/${encodeURIComponent(reference)}/refund`;
  const body = { refund_key: key, amount, reason: reason.slice(0, 255) };
  const headers = idempotent(`R-${key}`);
  const answer = await callMidtrans(settings, { method: 'POST', path, body, headers, signal });
  return readRefund(answer, key, now, 'pending');
}

/** Reads it from the status of its charge. @throws PaymentError */
export async function readMidtransRefund(
  settings: MidtransSettings,
  { reference, key }: RefundRequest,
  now: number,
  signal: AbortSignal,
): Promise<Refund> {
  const path = `/v2/${encodeURIComponent(reference)}/status`;
  return readRefund(await callMidtrans(settings, { method: 'GET', path, signal }), key, now, 'unknown');
}

/** @param unlisted the state of one that is not listed, which may be on its way */
function readRefund(body: JsonObject, key: string, now: number, unlisted: Refund['state']): Refund {
  const refund = refundsIn(body, now)?.find((one) => one.key === key);
  return { state: refund?.state ?? unlisted, raw: body };
}

/**
 * The refunds of a charge; undefined when its status does not list them. One is done when the bank has confirmed it. The
 * confirmation may be lost: after a week, a refund that Midtrans lists has been paid.
 */
export function refundsIn(body: JsonObject, now: number): StatedRefund[] | undefined {
  if (!Array.isArray(body['refunds'])) return undefined;
  return body['refunds'].filter(isJsonObject).flatMap((refund) => {
    const [key, amount] = [textOf(refund, 'refund_key'), readRupiah(refund['refund_amount'])];
    if (key === undefined || amount === undefined) return [];
    const confirmedAt = readLocalTime(refund['bank_confirmed_at']);
    const createdAt = readLocalTime(refund['created_at']);
    const isOld = createdAt !== undefined && now - createdAt.getTime() > longestUnconfirmed;
    const isDone = isOld || textOf(refund, 'bank_confirmed_at') !== undefined;
    // A key is unique in its charge only.
    const id = `${textOf(body, 'transaction_id') ?? ''}/${key}`;
    return [{ id, key, amount, state: isDone ? 'done' : 'pending', at: confirmedAt ?? createdAt }];
  });
}
