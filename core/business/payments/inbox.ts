import type { Host } from '#core/gateway/host/host.ts';
import type { Queries } from '#core/platform/database/database.ts';
import { withDeadline } from '#core/platform/timing/deadline.ts';
import { LineThrottle } from '#core/platform/timing/throttle.ts';
import { getPaymentConnection, getPaymentProviders } from './connections.ts';
import { InboxWriter } from './inbox-writer.ts';
import type { PaymentConnection, PaymentNotification, RawNotification } from './payment-provider.ts';
import { processNotification } from './process-notification.ts';
import { toStoredJson } from './stored-json.ts';
import { getInboxQueue } from './work-queue.ts';

interface NotificationResponse {
  readonly status: number;
  readonly body: string;
  readonly contentType: string;
}

const storeDeadlineMs = 2_000;
const maxKeyLength = 300;
const removalBatchSize = 1_000;
const logIntervalMs = 60_000; // minimum interval for each kind of log line, because anyone can call these paths

const emptyResponse = (status: number): NotificationResponse => ({ status, body: '', contentType: 'text/plain' });

/**
 * Stores an authentic notification and responds before it is processed. Status 404: unknown provider; 403: not authentic; 503: not stored,
 * so that the provider sends it again.
 */
export async function receiveNotification(
  host: Host,
  providerName: string,
  raw: RawNotification,
): Promise<NotificationResponse> {
  if (!getPaymentProviders(host).has(providerName)) return emptyResponse(404);
  const connection = connect(host, providerName);
  if (connection === undefined) return emptyResponse(503);
  const notification = readNotification(host, connection, providerName, raw);
  if (notification === undefined) return emptyResponse(403);
  try {
    const id = await withDeadline(
      storeNotification(host, providerName, notification, raw.body),
      storeDeadlineMs,
      `the database did not store it within ${storeDeadlineMs} ms`,
    );
    if (id !== undefined) getInboxQueue(host).add(() => processNotification(host, id));
  } catch (error) {
    host.log.error(`a notification from ${providerName} could not be stored; the provider will retry it`, error);
    return emptyResponse(503);
  }
  return connection.acknowledgement ?? emptyResponse(200);
}

function logRejected(host: Host, message: string, error?: unknown): void {
  const lines = host.keep('payments/inbox-lines', () => new LineThrottle(logIntervalMs));
  const suffix = lines.admit(message, error);
  if (suffix !== undefined) host.log.error(`${message}${suffix}`, error);
}

function connect(host: Host, providerName: string): PaymentConnection | undefined {
  try {
    return getPaymentConnection(host, providerName);
  } catch (error) {
    const reason = (error as Error).message;
    logRejected(host, `rejected a notification from ${providerName}: the provider is not configured: ${reason}`);
    return undefined;
  }
}

function readNotification(
  host: Host,
  connection: PaymentConnection,
  providerName: string,
  raw: RawNotification,
): PaymentNotification | undefined {
  try {
    return connection.readNotification(raw);
  } catch (error) {
    logRejected(host, `a notification from ${providerName} could not be read`, error);
    return undefined;
  }
}

async function storeNotification(
  host: Host,
  provider: string,
  { eventKey, reference, providerReference, refundKey, paymentId, evidence }: PaymentNotification,
  body: Buffer,
): Promise<string | undefined> {
  const writer = host.keep('payment-inbox-writer', () => new InboxWriter(host.database));
  return writer.store({
    provider,
    event_key: toColumnText(eventKey),
    reference: toColumnText(reference),
    provider_reference: providerReference === undefined ? undefined : toColumnText(providerReference),
    refund_key: refundKey === undefined ? undefined : toColumnText(refundKey),
    payment_id: paymentId === undefined ? undefined : toColumnText(paymentId),
    body: body.toString('utf8').replaceAll('\0', ''),
    evidence: evidence === undefined ? undefined : toStoredJson(evidence),
  });
}

function toColumnText(text: string): string {
  // PostgreSQL rejects NUL and lone surrogates in text.
  return text.replaceAll('\0', '').slice(0, maxKeyLength).toWellFormed();
}

/**
 * Removes processed notifications that are older than this many days, in batches. Keeps those about an order with an unresolved flag. Their
 * effects are in `payment` and `refund`, which are kept permanently.
 *
 * @returns how many notifications were removed
 */
export async function removeOldNotifications(database: Queries, days: number): Promise<number> {
  let removedCount = 0;
  for (;;) {
    const batch = await database.query<unknown>(
      `delete from payment_notification where id = any(array(
         select n.id from payment_notification n
         where n.next_try_at is null and n.received_at < clock_timestamp() - make_interval(days => ?)
           and not exists (
             select 1 from payment_attempt a join order_flag f on f.order_id = a.order_id and f.resolved_at is null
             where a.reference = n.reference or (a.provider = n.provider and a.provider_reference = n.provider_reference))
         order by n.received_at limit ${removalBatchSize}
       )) returning 1`,
      [days],
    );
    removedCount += batch.length;
    if (batch.length < removalBatchSize) return removedCount;
  }
}
