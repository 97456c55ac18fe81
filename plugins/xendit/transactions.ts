import { readRupiah } from '#core/business/payments/amount.ts';
import {
  type MovementPage,
  PaymentError,
  type StatedMovement,
  type TimeSpan,
} from '#core/business/payments/payment-provider.ts';
import { isJsonObject, type JsonObject, listObjects } from '#core/platform/json.ts';
import { callXendit, parseTime, readText } from './api.ts';
import type { XenditSettings } from './section.ts';

const pageSize = 50;
const ownKeyPattern = /-R\d+$/;
const kinds: Readonly<Record<string, StatedMovement['kind']>> = { PAYMENT: 'payment', REFUND: 'refund' };

/**
 * Includes Xendit's fees. The secret key must be allowed to read transactions: https://docs.xendit.co/apidocs/list-transactions
 *
 * @throws PaymentError
 */
export async function listXenditMovements(
  settings: XenditSettings,
  { since, until }: TimeSpan,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<MovementPage> {
  const query = new URLSearchParams([
    ...Object.keys(kinds).map((type): [string, string] => ['types', type]),
    ['statuses', 'SUCCESS'],
    ['created[gte]', since.toISOString()],
    ['created[lte]', new Date(until.getTime() - 1).toISOString()],
    ['limit', String(pageSize)],
  ]);
  if (cursor !== undefined) query.set('after_id', cursor);
  const body = await callXendit(settings, { method: 'GET', path: `/transactions?${query.toString()}`, signal });
  if (!Array.isArray(body?.['data'])) throw new PaymentError('temporary', 'Xendit returned no list of transactions');
  const rows = listObjects(body['data']);
  const last = rows.at(-1);
  const movements = rows.map(toMovement);
  return {
    movements: await Promise.all(movements.map((movement) => addCharge(settings, movement, signal))),
    next: body?.['has_more'] === true && last !== undefined ? readText(last, 'id') : undefined,
  };
}

/** The key of our own refund contains the charge's reference. A refund from the dashboard has no such key, so it is fetched by its id. */
async function addCharge(
  settings: XenditSettings,
  movement: StatedMovement,
  signal: AbortSignal,
): Promise<StatedMovement> {
  if (movement.kind === 'payment' || ownKeyPattern.test(movement.key ?? '')) return movement;
  const path = `/refunds/${encodeURIComponent(movement.id)}`;
  const refund = await callXendit(settings, { method: 'GET', path, signal });
  return { ...movement, providerReference: readText(refund, 'payment_request_id') };
}

function toMovement(row: JsonObject): StatedMovement {
  const [type = '', currency] = [readText(row, 'type'), readText(row, 'currency')];
  const [id, reference] = [readText(row, 'product_id') ?? readText(row, 'id'), readText(row, 'reference_id')];
  const [kind, amount, at] = [kinds[type], readRupiah(row['amount']), parseTime(row['created'])];
  if (kind === undefined || amount === undefined || at === undefined || id === undefined || currency === undefined)
    throw new PaymentError('temporary', `Xendit lists a transaction without type, amount or time: ${id ?? '–'}`);
  const fee = readFee(row);
  const common = { kind, id, amount, currency, at, ...(fee !== undefined && { fee }) };
  // The reference of a refund is its key.
  return kind === 'refund' ? { ...common, key: reference } : { ...common, reference };
}

function readFee(row: JsonObject): number | undefined {
  const fee = isJsonObject(row['fee']) ? row['fee'] : undefined;
  const parts = [fee?.['xendit_fee'], fee?.['value_added_tax']].map((part) => readRupiah(part ?? 0));
  if (fee === undefined || parts.some((part) => part === undefined)) return undefined;
  return parts.reduce((sum: number, part) => sum + (part ?? 0), 0);
}
