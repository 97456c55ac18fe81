import { createHash } from 'node:crypto';
import type { PaymentNotification, RawNotification } from '#core/business/payments/payment-provider.ts';
import { type JsonObject, parseObject, listObjects } from '#core/platform/json.ts';
import { isSameSecret } from '#core/platform/same-secret.ts';
import { readText } from './api.ts';
import { type MidtransSettings, requireKey } from './section.ts';

/**
 * Reads a notification. The signature covers order, code and amount, but neither state nor transaction: settlement, refund and cancel all
 * have the same one. A notification is therefore only a hint, never evidence.
 */
export function readMidtransNotification(
  { body }: RawNotification,
  settings: MidtransSettings,
): PaymentNotification | undefined {
  const content = parseObject(body.toString('utf8'));
  if (content === undefined || !isSigned(content, requireKey(settings))) return undefined;
  const merchant = readText(content, 'merchant_id');
  if (settings.merchant_id !== undefined && merchant !== settings.merchant_id) return undefined;
  const refundKey = readRefundKey(content);
  return {
    reference: readText(content, 'order_id') as string,
    providerReference: readText(content, 'transaction_id'),
    // The key covers the whole body, because the same signature fits bodies of any state, and a forged one must not suppress a genuine one.
    eventKey: createHash('sha256').update(body).digest('hex'),
    ...(refundKey !== undefined && { refundKey }),
  };
}

function isSigned(content: JsonObject, serverKey: string): boolean {
  const [order, code, amount, signature] = ['order_id', 'status_code', 'gross_amount', 'signature_key'].map((name) =>
    readText(content, name),
  );
  if (order === undefined || code === undefined || amount === undefined || signature === undefined) return false;
  const expected = createHash('sha512')
    .update(order + code + amount + serverKey)
    .digest('hex');
  return isSameSecret(signature, expected);
}

function readRefundKey(content: JsonObject): string | undefined {
  return readText(listObjects(content['refunds']).at(-1) ?? content, 'refund_key');
}
