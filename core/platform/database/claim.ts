import pg from 'pg';
import type { Logger } from '../logger.ts';
import { Backoff } from '../timing/backoff.ts';
import { Throttle } from '../timing/throttle.ts';
import { applySettings, waitingSettings } from './session.ts';

/** Lock of a gateway that must be the only one on its database; "gateway" in ASCII. */
const lockKey = '29099049505154425';

const retriesMs = { min: 50, max: 5_000 };

const reminderIntervalMs = 60_000;

/** `exclusive`: no other gateway may use the database. `shared`: other gateways may, if their claims are `shared` too. */
type ClaimKind = 'exclusive' | 'shared';

/**
 * Claims a database for this gateway. A gateway without Redis keeps limits and cache in memory, and a second one would double every limit,
 * so its claim is exclusive. Gateways with Redis may share an embedded server; their claims keep it from being stopped while in use.
 *
 * The claim is a lock that ends with its connection, and is reacquired if that breaks. If another gateway took it meanwhile, this one logs
 * that until the other is gone, and continues to serve.
 */
export class DatabaseClaim implements AsyncDisposable {
  readonly #url: string;
  readonly #kind: ClaimKind;
  readonly #log: Logger;
  readonly #closing = new AbortController();
  #client: pg.Client | undefined;
  readonly #watching: Promise<void>;

  private constructor(url: string, kind: ClaimKind, log: Logger, held: Held) {
    this.#url = url;
    this.#kind = kind;
    this.#log = log;
    this.#client = held.client;
    this.#watching = this.#keep(held);
  }

  /** Undefined if another gateway's claim excludes this one. A claim ends with the process that holds it. */
  static async make(url: string, kind: ClaimKind, log: Logger): Promise<DatabaseClaim | undefined> {
    const held = await connect(url, 10_000);
    let isOurs = false;
    try {
      isOurs = await lock(held.client, kind);
    } finally {
      if (!isOurs) await held.client.end().catch(() => undefined);
    }
    return isOurs ? new DatabaseClaim(url, kind, log, held) : undefined;
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

  async #claimAgain(): Promise<Held | undefined> {
    const { signal } = this.#closing;
    const backoff = new Backoff(retriesMs);
    const reminder = new Throttle(reminderIntervalMs);
    for (;;) {
      await backoff.wait(signal);
      if (signal.aborted) return undefined;
      const held = await connect(this.#url, 2_000).catch(() => undefined);
      if (held === undefined) continue;
      this.#client = held.client;
      const isOurs = !signal.aborted && (await lock(held.client, this.#kind).catch(() => undefined));
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

/** @param timeout ms; a stopping gateway waits that long for an attempt in flight */
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
  await applySettings(client, waitingSettings);
  return { client, lost };
}

/**
 * @returns false if another gateway holds the lock
 * @throws if the database does not answer
 */
async function lock(client: pg.Client, kind: ClaimKind): Promise<boolean> {
  const acquire = kind === 'shared' ? 'pg_advisory_lock_shared' : 'pg_advisory_lock';
  // A gateway that was just killed may still hold its connection.
  await client.query('SET lock_timeout = 2000');
  try {
    await client.query(`SELECT ${acquire}(${lockKey})`);
    return true;
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === '55P03') return false;
    throw error;
  }
}

/** Returns true if any gateway has claimed this database. */
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
