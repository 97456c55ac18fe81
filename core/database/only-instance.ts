import pg from 'pg';
import type { Logger } from '../logger.ts';
import { Backoff } from '../timing/backoff.ts';
import { Throttle } from '../timing/throttle.ts';

/** "gateway" in ASCII: the lock of a gateway that must be the only one on its database. */
const lockKey = '29099049505154425';

/** Ms between attempts to claim the database again. */
const retries = { first: 50, longest: 5_000 };

/** Ms between two log lines about another gateway. */
const remindEvery = 60_000;

/**
 * Ensures that no other gateway uses this database. A gateway without Redis keeps its limits and its cache in memory: with
 * a second one every limit would count twice.
 *
 * The claim is a lock that ends with its connection and is claimed again when that breaks. If another gateway has taken it
 * in between, this one logs that until the other is gone, and continues to serve its callers.
 */
export class OnlyInstance implements AsyncDisposable {
  readonly #url: string;
  readonly #log: Logger;
  readonly #closing = new AbortController();
  #client: pg.Client | undefined;
  readonly #watching: Promise<void>;

  private constructor(url: string, log: Logger, held: Held) {
    this.#url = url;
    this.#log = log;
    this.#client = held.client;
    this.#watching = this.#keep(held);
  }

  /** Undefined when another gateway holds the lock. The lock ends with the process that holds it. */
  static async claim(url: string, log: Logger): Promise<OnlyInstance | undefined> {
    const held = await connect(url, 10_000);
    let isOurs = false;
    try {
      isOurs = await lock(held.client);
    } finally {
      if (!isOurs) await held.client.end().catch(() => undefined);
    }
    return isOurs ? new OnlyInstance(url, log, held) : undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await this.#client?.end().catch(() => undefined);
    await this.#watching;
  }

  async #keep(first: Held): Promise<void> {
    const { signal } = this.#closing;
    for (let held: Held | undefined = first; held !== undefined; held = await this.#claimAgain()) {
      await held.lost;
      if (signal.aborted) return;
      await held.client.end().catch(() => undefined);
      this.#log.warn('lost the connection that holds the lock on this database; reacquiring it');
    }
  }

  /** Undefined when this gateway stops. */
  async #claimAgain(): Promise<Held | undefined> {
    const { signal } = this.#closing;
    const backoff = new Backoff(retries);
    const reminder = new Throttle(remindEvery);
    for (;;) {
      await backoff.wait(signal);
      if (signal.aborted) return undefined;
      const held = await connect(this.#url, 2_000).catch(() => undefined);
      if (held === undefined) continue;
      this.#client = held.client;
      const isOurs = !signal.aborted && (await lock(held.client).catch(() => undefined));
      if (isOurs === true) {
        this.#log.info('reacquired the lock on this database');
        return held;
      }
      await held.client.end().catch(() => undefined);
      if (isOurs === undefined || signal.aborted || !reminder.pass()) continue;
      this.#log.error(
        'another gateway took the lock on this database while the connection was lost, so limits apply twice; stop one of the two, or set REDIS_URL for both',
      );
    }
  }
}

interface Held {
  readonly client: pg.Client;
  readonly lost: Promise<void>;
}

/** @param timeout ms; a stopping gateway waits as long for an attempt in flight */
async function connect(url: string, timeout: number): Promise<Held> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: timeout,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    application_name: 'daypass-instance',
  });
  const { promise: lost, resolve } = Promise.withResolvers<void>();
  client.on('error', () => resolve());
  client.on('end', () => resolve());
  await client.connect();
  return { client, lost };
}

/** False when another gateway holds the lock. @throws when the database cannot be asked */
async function lock(client: pg.Client): Promise<boolean> {
  // A gateway that was killed a moment ago may still hold its connection.
  await client.query('SET lock_timeout = 2000');
  try {
    await client.query(`SELECT pg_advisory_lock(${lockKey})`);
    return true;
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === '55P03') return false;
    throw error;
  }
}

/** True when a gateway holds the lock on this database. */
export async function isClaimed(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ free: boolean }>(`SELECT pg_try_advisory_lock(${lockKey}) AS free`);
    return rows[0]?.free !== true;
  } finally {
    await client.end().catch(() => undefined);
  }
}
