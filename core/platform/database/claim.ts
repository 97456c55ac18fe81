import pg from 'pg';
import type { Logger } from '../logger.ts';
import { Backoff } from '../timing/backoff.ts';
import { Throttle } from '../timing/throttle.ts';
import { applySettings, waitingSettings } from './session.ts';
import { withClient } from './with-client.ts';

const lockKey = '29099049505154425'; // of the advisory lock: "gateway" in ASCII

const retryRange = { min: 50, max: 5_000 };

const reminderIntervalMs = 60_000;

type ClaimMode = 'exclusive' | 'shared';

/**
 * Claims a database for this gateway. A gateway without Redis keeps limits and cache in memory, so a second one would double every limit;
 * its claim is exclusive. Gateways with Redis may share an embedded server; their claims keep it from being stopped.
 *
 * The claim is a lock that ends with its connection, and is reacquired if the connection breaks. If another gateway has taken the lock in
 * the meantime, this gateway keeps serving, and logs the conflict until the other one releases it.
 */
export class DatabaseClaim implements AsyncDisposable {
  readonly #url: string;
  readonly #mode: ClaimMode;
  readonly #log: Logger;
  readonly #closing = new AbortController();
  #client: pg.Client | undefined;
  readonly #lockLoop: Promise<void>;

  private constructor(url: string, mode: ClaimMode, log: Logger, connection: LockConnection) {
    this.#url = url;
    this.#mode = mode;
    this.#log = log;
    this.#client = connection.client;
    this.#lockLoop = this.#holdLock(connection);
  }

  /** @returns undefined if another gateway's claim excludes this one */
  static async acquire(url: string, mode: ClaimMode, log: Logger): Promise<DatabaseClaim | undefined> {
    const connection = await connect(url, 10_000);
    let isLocked = false;
    try {
      isLocked = await tryToLock(connection.client, mode);
    } finally {
      if (!isLocked) await connection.client.end().catch(() => undefined);
    }
    return isLocked ? new DatabaseClaim(url, mode, log, connection) : undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await this.#client?.end().catch(() => undefined);
    await this.#lockLoop;
  }

  async #holdLock(initial: LockConnection): Promise<void> {
    const { signal } = this.#closing;
    for (
      let connection: LockConnection | undefined = initial;
      connection !== undefined;
      connection = await this.#reacquire()
    ) {
      await connection.closed;
      if (signal.aborted) return;
      await connection.client.end().catch(() => undefined);
      this.#log.warn('lost the connection that holds the lock on this database; reacquiring it');
    }
  }

  async #reacquire(): Promise<LockConnection | undefined> {
    const { signal } = this.#closing;
    const backoff = new Backoff(retryRange);
    const reminder = new Throttle(reminderIntervalMs);
    for (;;) {
      await backoff.wait(signal);
      if (signal.aborted) return undefined;
      // Short, because a stopping gateway waits for the attempt.
      const connection = await connect(this.#url, 2_000).catch(() => undefined);
      if (connection === undefined) continue;
      this.#client = connection.client;
      // Undefined if the attempt failed; another gateway may or may not hold the lock.
      const isLocked = !signal.aborted && (await tryToLock(connection.client, this.#mode).catch(() => undefined));
      if (isLocked === true) {
        this.#log.info('reacquired the lock on this database');
        return connection;
      }
      await connection.client.end().catch(() => undefined);
      if (isLocked === undefined || signal.aborted || !reminder.tryPass()) continue;
      this.#log.error(
        'another gateway took the lock on this database while the connection was lost, so limits apply twice; stop one of the two, or set REDIS_URL for both',
      );
    }
  }
}

interface LockConnection {
  readonly client: pg.Client;
  readonly closed: Promise<void>;
}

async function connect(url: string, timeoutMs: number): Promise<LockConnection> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: timeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    application_name: 'daypass-instance',
  });
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  client.on('error', () => resolve());
  client.on('end', () => resolve());
  await client.connect();
  await applySettings(client, waitingSettings);
  return { client, closed };
}

async function tryToLock(client: pg.Client, mode: ClaimMode): Promise<boolean> {
  const lockFunction = mode === 'shared' ? 'pg_advisory_lock_shared' : 'pg_advisory_lock';
  // The connection of a gateway that was just killed may still be open.
  await client.query('SET lock_timeout = 2000');
  try {
    await client.query(`SELECT ${lockFunction}(${lockKey})`);
    return true;
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === '55P03') return false; // lock_not_available
    throw error;
  }
}

export function isClaimed(url: string): Promise<boolean> {
  return withClient({ connectionString: url, connectionTimeoutMillis: 10_000 }, async (client) => {
    const { rows } = await client.query<{ free: boolean }>(`SELECT pg_try_advisory_lock(${lockKey}) AS free`);
    return rows[0]?.free !== true;
  });
}
