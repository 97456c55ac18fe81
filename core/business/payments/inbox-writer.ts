import type { Database } from '#core/platform/database/database.ts';
import type { Row } from '#core/platform/database/rows.ts';
import type { PaymentNotification } from './entities.ts';

/** A notification to store. NUL characters are removed, because PostgreSQL text cannot contain them. */
export interface NewNotification {
  readonly provider: string;
  readonly event_key: string;
  readonly reference: string;
  readonly provider_reference: string | undefined;
  readonly refund_key: string | undefined;
  readonly payment_id: string | undefined;
  readonly body: string;
  readonly evidence: string | undefined; // JSON
}

interface QueuedNotification extends PromiseWithResolvers<string | undefined> {
  readonly notification: NewNotification;
}

const limits = { batch: 50, queue: 5_000 }; // notifications; if the queue is full, the provider sends them again
const leaseSeconds = 10; // after that, a sweep processes the notification

/**
 * Stores notifications in batches, so that a burst of a thousand takes twenty commits and one connection. `storeFirst` uses a dedicated
 * connection, because settlements use all the others during a burst.
 */
export class InboxWriter {
  readonly #database: Pick<Database, 'storeFirst'>;
  #queue: QueuedNotification[] = [];
  #isWriting = false;

  constructor(database: Pick<Database, 'storeFirst'>) {
    this.#database = database;
  }

  /** @returns its id; undefined if the event is already stored */
  store(notification: NewNotification): Promise<string | undefined> {
    if (this.#queue.length >= limits.queue) return Promise.reject(new Error('too many notifications are waiting'));
    const queued = { ...Promise.withResolvers<string | undefined>(), notification };
    this.#queue.push(queued);
    if (!this.#isWriting) this.#writeBatches().catch((error: unknown) => this.#rejectAll(error));
    return queued.promise;
  }

  async #writeBatches(): Promise<void> {
    this.#isWriting = true;
    try {
      while (this.#queue.length > 0) {
        const batch = this.#queue.slice(0, limits.batch);
        this.#queue = this.#queue.slice(limits.batch);
        await this.#writeBatch(batch);
      }
    } finally {
      this.#isWriting = false;
    }
  }

  #rejectAll(error: unknown): void {
    const queue = this.#queue;
    this.#queue = [];
    for (const { reject } of queue) reject(error);
  }

  async #writeBatch(batch: readonly QueuedNotification[]): Promise<void> {
    try {
      const rows = await this.#database.storeFirst<Row<typeof PaymentNotification, 'id' | 'provider' | 'event_key'>>(
        `insert into payment_notification
           (provider, event_key, reference, provider_reference, refund_key, payment_id, body, evidence, next_try_at)
         select provider, event_key, reference, provider_reference, refund_key, payment_id, body, evidence::json,
           clock_timestamp() + interval '${leaseSeconds} s'
         from json_to_recordset(?::json) as n(provider text, event_key text, reference text, provider_reference text,
           refund_key text, payment_id text, body text, evidence text)
         on conflict (provider, event_key) do nothing returning id::text, provider, event_key`,
        [JSON.stringify(batch.map(({ notification }) => notification))],
      );
      const ids = new Map(rows.map((row) => [keyOf(row), row.id]));
      for (const { notification, resolve } of batch) {
        const key = keyOf(notification);
        resolve(ids.get(key));
        ids.delete(key);
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}

function keyOf({ provider, event_key: eventKey }: Pick<NewNotification, 'provider' | 'event_key'>): string {
  return `${provider} ${eventKey}`;
}
