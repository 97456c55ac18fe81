import type { Host } from '#core/gateway/host/host.ts';
import { withDeadline } from '#core/platform/timing/deadline.ts';
import { LineThrottle } from '#core/platform/timing/throttle.ts';
import { paymentConnection, paymentProviders } from './connections.ts';
import { inboxQueue } from './work-queue.ts';
import { InboxWriter } from './inbox-writer.ts';
import type { PaymentConnection, PaymentNotification, RawNotification } from './payment-provider.ts';
import { processNotification } from './process-notification.ts';
import { toStoredJson } from './stored-json.ts';
import type { Database } from '#core/platform/database/database.ts';

interface NotificationReply {
  readonly status: number;
  readonly body: string;
  readonly contentType: string;
}

const storeDeadlineMs = 2_000;
const maxKeyLength = 300;

const empty = (status: number): NotificationReply => ({ status, body: '', contentType: 'text/plain' });

/**
 * Stores an authentic notification, and answers before it is processed. Status 404: no such provider; 403: not authentic; 503: not stored,
 * so that the provider repeats it.
 */
export async function receiveNotification(
  host: Host,
  providerName: string,
  raw: RawNotification,
): Promise<NotificationReply> {
  if (!paymentProviders(host).has(providerName)) return empty(404);
  const connection = connect(host, providerName);
  if (connection === undefined) return empty(503);
  const notification = read(host, connection, providerName, raw);
  if (notification === undefined) return empty(403);
  try {
    const id = await withDeadline(
      store(host, providerName, notification, raw.body),
      storeDeadlineMs,
      `the database did not take it within ${storeDeadlineMs} ms`,
    );
    if (id !== undefined) inboxQueue(host).add(() => processNotification(host, id));
  } catch (error) {
    host.log.error(`a notification from ${providerName} could not be stored; the provider will retry it`, error);
    return empty(503);
  }
  return connection.acknowledgement ?? empty(200);
}

const logIntervalMs = 60_000; // per kind of message: anyone can call these paths

function logRejected(host: Host, message: string, error?: unknown): void {
  const lines = host.keep('payments/inbox-lines', () => new LineThrottle(logIntervalMs));
  const more = lines.pass(message, error);
  if (more !== undefined) host.log.error(`${message}${more}`, error);
}

function connect(host: Host, providerName: string): PaymentConnection | undefined {
  try {
    return paymentConnection(host, providerName);
  } catch (error) {
    const reason = (error as Error).message;
    logRejected(host, `rejected a notification from ${providerName}: the provider is not configured: ${reason}`);
    return undefined;
  }
}

function read(
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

async function store(
  host: Host,
  provider: string,
  { eventKey, reference, providerReference, refundKey, paymentId, evidence }: PaymentNotification,
  body: Buffer,
): Promise<string | undefined> {
  const writer = host.keep('payment-inbox-writer', () => new InboxWriter(host.database));
  return writer.store({
    provider,
    event_key: toText(eventKey),
    reference: toText(reference),
    provider_reference: providerReference === undefined ? undefined : toText(providerReference),
    refund_key: refundKey === undefined ? undefined : toText(refundKey),
    payment_id: paymentId === undefined ? undefined : toText(paymentId),
    body: body.toString('utf8').replaceAll('\0', ''),
    evidence: evidence === undefined ? undefined : toStoredJson(evidence),
  });
}

/** PostgreSQL rejects NUL and lone surrogates in text. */
function toText(text: string): string {
  return text.replaceAll('\0', '').slice(0, maxKeyLength).toWellFormed();
}

const batchSize = 1_000;

/**
 * Removes processed notifications older than this many days, in batches, except those of an order with an unresolved flag. Their effects
 * are in `payment` and `refund`, which are kept permanently.
 *
 * @returns the number removed
 */
export async function removeOldNotifications(database: Pick<Database, 'query'>, days: number): Promise<number> {
  let removed = 0;
  for (;;) {
    const batch = await database.query<unknown>(
      `delete from payment_notification where id = any(array(
         select n.id from payment_notification n
         where n.next_try_at is null and n.received_at < clock_timestamp() - make_interval(days => ?)
           and not exists (
             select 1 from payment_attempt a join order_flag f on f.order_id = a.order_id and f.resolved_at is null
             where a.reference = n.reference or (a.provider = n.provider and a.provider_reference = n.provider_reference))
         order by n.received_at limit ${batchSize}
       )) returning 1`,
      [days],
    );
    removed += batch.length;
    if (batch.length < batchSize) return removed;
  }
}
