import { createHash } from 'node:crypto';
import { isJsonObject, type JsonObject, parseObject } from '#core/platform/json.ts';
import type { PaymentNotification, RawNotification } from '#core/business/payments/payment-provider.ts';
import { isSameSecret } from '#core/platform/same-secret.ts';
import { textOf } from './api.ts';
import { requireSecret, type XenditSettings } from './section.ts';

/**
 * Reads a notification. A token in a header authenticates the sender, but the body has neither signature nor time: a
 * notification is a hint, never evidence.
 */
export function readXenditNotification(
  { headers, body }: RawNotification,
  settings: XenditSettings,
): PaymentNotification | undefined {
  const token = headers['x-callback-token'] ?? '';
  if (!isSameSecret(token, requireSecret(settings, 'webhook_token'))) return undefined;
  const content = parseObject(body.toString('utf8'));
  const data = dataOf(content);
  if (content === undefined || data === undefined) return undefined;
  const business = textOf(content, 'business_id');
  if (settings.business_id !== undefined && business !== settings.business_id) return undefined;
  // An id in the header names the event; without one, the body does.
  const eventKey = headers['webhook-id'] ?? createHash('sha256').update(body).digest('hex');
  const isRefund = textOf(content, 'event')?.startsWith('refund.') === true;
  return { eventKey: eventKey.slice(0, 200), ...(isRefund ? refundIn(data) : paymentIn(data)) };
}

/** The event's object. In documented examples of refunds it is one level deeper. */
function dataOf(content: JsonObject | undefined): JsonObject | undefined {
  const data = content?.['data'];
  if (!isJsonObject(data)) return undefined;
  return isJsonObject(data['data']) ? data['data'] : data;
}

function paymentIn(data: JsonObject) {
  return {
    reference: textOf(data, 'reference_id') ?? '',
    providerReference: textOf(data, 'payment_request_id'),
    paymentId: textOf(data, 'payment_id'),
  };
}

/** The reference is the refund's key; the charge's reference is in our metadata. */
function refundIn(data: JsonObject) {
  const metadata = isJsonObject(data['metadata']) ? data['metadata'] : undefined;
  const refundKey = textOf(data, 'reference_id');
  return {
    reference: textOf(metadata, 'reference') ?? '',
    providerReference: textOf(data, 'payment_request_id'),
    paymentId: textOf(data, 'payment_id'),
    ...(refundKey !== undefined && { refundKey }),
  };
}
