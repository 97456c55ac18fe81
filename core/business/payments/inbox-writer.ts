import type { Database } from '#core/platform/database/database.ts';
import type { Row } from '#core/platform/database/rows.ts';
import type { PaymentNotification } from './entities.ts';

/** A notification to store, without NUL characters, which PostgreSQL text cannot hold. */
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

interface Waiting extends PromiseWithResolvers<string | undefined> {
  readonly notification: NewNotification;
}

/** Notifications per statement, and waiting at most; further ones are rejected, and the provider repeats them. */
const bounds = { batch: 50, waiting: 5_000 };
/** Seconds until a sweep processes a notification that its instance has not processed. */
const leaseSeconds = 10;

/**
 * Stores notifications in batches: a burst of a thousand takes twenty commits and one connection. That connection does not wait behind
 * settlements, which take all others in a burst.
 */
export class InboxWriter {
  readonly #database: Pick<Database, 'storeFirst'>;
  #waiting: Waiting[] = [];
  #isWriting = false;

  constructor(database: Pick<Database, 'storeFirst'>) {
    this.#database = database;
  }

  /**
   * Queues a notification for the next batch.
   *
   * @returns its id; undefined if the event has been stored before
   * @throws the database's error
   */
  store(notification: NewNotification): Promise<string | undefined> {
    if (this.#waiting.length >= bounds.waiting) return Promise.reject(new Error('too many notifications are waiting'));
    const waiting = { ...Promise.withResolvers<string | undefined>(), notification };
    this.#waiting.push(waiting);
    if (!this.#isWriting) this.#run().catch((error: unknown) => this.#fail(error));
    return waiting.promise;
  }

  async #run(): Promise<void> {
    this.#isWriting = true;
    try {
      while (this.#waiting.length > 0) {
        const batch = this.#waiting.slice(0, bounds.batch);
        this.#waiting = this.#waiting.slice(bounds.batch);
        await this.#write(batch);
      }
    } finally {
      this.#isWriting = false;
    }
  }

  #fail(error: unknown): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { reject } of waiting) reject(error);
  }

  async #write(batch: readonly Waiting[]): Promise<void> {
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
      const ids = new Map(rows.map(({ id, provider, event_key: key }) => [`${provider} ${key}`, id]));
      for (const { notification, resolve } of batch) {
        const name = `${notification.provider} ${notification.event_key}`;
        resolve(ids.get(name));
        ids.delete(name);
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
