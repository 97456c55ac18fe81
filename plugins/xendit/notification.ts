import { createHash } from 'node:crypto';
import type { PaymentNotification, RawNotification } from '#core/business/payments/payment-provider.ts';
import { isJsonObject, type JsonObject, parseObject } from '#core/platform/json.ts';
import { isSameSecret } from '#core/platform/same-secret.ts';
import { readText } from './api.ts';
import { requireSecret, type XenditSettings } from './section.ts';

/**
 * Reads a notification. A header with a token authenticates the sender, but the body has neither a signature nor a time, so a notification
 * is only a hint, never evidence.
 */
export function readXenditNotification(
  { headers, body }: RawNotification,
  settings: XenditSettings,
): PaymentNotification | undefined {
  const token = headers['x-callback-token'] ?? '';
  if (!isSameSecret(token, requireSecret(settings, 'webhook_token'))) return undefined;
  const content = parseObject(body.toString('utf8'));
  const data = findData(content);
  if (content === undefined || data === undefined) return undefined;
  const business = readText(content, 'business_id');
  if (settings.business_id !== undefined && business !== settings.business_id) return undefined;
  // The id in the header identifies the event. If there is none, the body does.
  const eventKey = headers['webhook-id'] ?? createHash('sha256').update(body).digest('hex');
  const isRefund = readText(content, 'event')?.startsWith('refund.') === true;
  return { eventKey: eventKey.slice(0, 200), ...(isRefund ? parseRefund(data) : parsePayment(data)) };
}

/** In the documented examples of refunds, the object is one level deeper. */
function findData(content: JsonObject | undefined): JsonObject | undefined {
  const data = content?.['data'];
  if (!isJsonObject(data)) return undefined;
  return isJsonObject(data['data']) ? data['data'] : data;
}

function parsePayment(data: JsonObject) {
  return {
    reference: readText(data, 'reference_id') ?? '',
    providerReference: readText(data, 'payment_request_id'),
    paymentId: readText(data, 'payment_id'),
  };
}

/** The reference of a refund is our refund key; the charge's reference is in our metadata. */
function parseRefund(data: JsonObject) {
  const metadata = isJsonObject(data['metadata']) ? data['metadata'] : undefined;
  const refundKey = readText(data, 'reference_id');
  return {
    reference: readText(metadata, 'reference') ?? '',
    providerReference: readText(data, 'payment_request_id'),
    paymentId: readText(data, 'payment_id'),
    ...(refundKey !== undefined && { refundKey }),
  };
}
