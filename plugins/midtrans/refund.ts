import { readRupiah } from '#core/business/payments/amount.ts';
import type { Refund, RefundRequest, StatedRefund } from '#core/business/payments/payment-provider.ts';
import { type JsonObject, listObjects } from '#core/platform/json.ts';
import { callMidtrans, createIdempotencyHeader, readText } from './api.ts';
import { parseLocalTime } from './local-time.ts';
import type { MidtransSettings } from './section.ts';

/** The buyer's bank confirms the refund later. */
export async function refundMidtrans(
  settings: MidtransSettings,
  { reference, key, amount, reason }: RefundRequest,
  signal: AbortSignal,
): Promise<Refund> {
  const path = `/v2/${encodeURIComponent(reference)}/refund`;
  const body = { refund_key: key, amount, reason: reason.slice(0, 255) };
  const headers = createIdempotencyHeader(`R-${key}`);
  const response = await callMidtrans(settings, { method: 'POST', path, body, headers, signal });
  return parseRefund(response, key, 'pending');
}

/** A refund is part of its charge's status. */
export async function fetchMidtransRefund(
  settings: MidtransSettings,
  { reference, key }: RefundRequest,
  signal: AbortSignal,
): Promise<Refund> {
  const path = `/v2/${encodeURIComponent(reference)}/status`;
  return parseRefund(await callMidtrans(settings, { method: 'GET', path, signal }), key, 'unknown');
}

/** `unlistedState` is assumed if Midtrans does not list the refund. */
function parseRefund(body: JsonObject, key: string, unlistedState: Refund['state']): Refund {
  const refund = parseRefunds(body)?.find((candidate) => candidate.key === key);
  return { state: refund?.state ?? unlistedState, at: refund?.at, raw: body };
}

/** Returns a charge's refunds, or undefined if its status does not list them. A refund is done once the bank has confirmed it. */
export function parseRefunds(body: JsonObject): StatedRefund[] | undefined {
  if (!Array.isArray(body['refunds'])) return undefined;
  return listObjects(body['refunds']).flatMap((refund) => {
    const [key, amount] = [readText(refund, 'refund_key'), readRupiah(refund['refund_amount'])];
    if (key === undefined || amount === undefined) return [];
    const confirmedAt = parseLocalTime(refund['bank_confirmed_at']);
    const createdAt = parseLocalTime(refund['created_at']);
    // True even if the time cannot be parsed.
    const isConfirmed = readText(refund, 'bank_confirmed_at') !== undefined;
    // A refund key is unique only within its charge.
    const id = `${readText(body, 'transaction_id') ?? ''}/${key}`;
    return [{ id, key, amount, state: isConfirmed ? 'done' : 'pending', at: confirmedAt ?? createdAt }];
  });
}
