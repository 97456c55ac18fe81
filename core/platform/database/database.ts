import type { EntityManager } from '@mikro-orm/postgresql';

/** The form of ids. PostgreSQL rejects a query that compares one with any other text. */
export const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/**
 * The PostgreSQL of the gateway: embedded under the data folder, or the one of DATABASE_URL. Migrated before anything uses
 * it.
 */
export interface Database extends AsyncDisposable {
  /** `embedded`: runs under the data folder and stops with the gateway. */
  readonly kind: 'embedded' | 'external';
  /** Connection string without a pooler, password included: for sessions of one's own, such as the job queue's. Never logged. */
  readonly url: string;
  /** A fresh entity manager: one for each exchange, job or command. */
  fork(): EntityManager;
  /**
   * Runs one statement outside of any transaction. `?` is a parameter, or several for a list, as in `IN (?)`, which matches
   * nothing for an empty list. Values are sent apart from the statement, which determines their types. Times are returned
   * as text.
   *
   * @throws Error when the statement fails or takes too long
   */
  query<Row>(sql: string, parameters?: readonly unknown[]): Promise<Row[]>;
  /**
   * The same on connections of their own, for queries that requests of the API and payment providers wait for: hundreds of pages that
   * open at once, or payments that are settled, take all others.
   */
  queryFirst<Row>(sql: string, parameters?: readonly unknown[]): Promise<Row[]>;
  /**
   * The same in its own transaction, for changes that are acknowledged to others: it is on the disk when this resolves, even behind a pooler that
   * leaves single statements in a transaction, and for a role with `synchronous_commit = off`.
   */
  storeFirst<Row>(sql: string, parameters?: readonly unknown[]): Promise<Row[]>;
  /**
   * Reads lists, exports and counts of requests, and nothing else: from a replica, which may be seconds behind and whose role may have no
   * right to other tables. Money, keys and periods are always read from the primary.
   */
  readonly records: RecordReads;
  readonly notifications: Notifications;
  /** Resolves when the database responds. */
  ping(): Promise<void>;
}

export interface RecordReads extends Pick<Database, 'query'> {
  /** Of DATABASE_READ_URL; undefined without it. */
  readonly replica?: ReplicaState | undefined;
}

export interface ReplicaState {
  /** Ms by which it is behind the primary; undefined while that is unknown. */
  readonly lag: number | undefined;
  /** Reason for reading the primary instead; undefined while the replica is read. */
  readonly fault: string | undefined;
  /** Epoch ms since when the replica is read, or not. */
  readonly since: number;
}

/**
 * LISTEN and NOTIFY: every process on this database, including commands, is notified of changed rows when the change commits.
 */
export interface Notifications {
  /**
   * Calls `listener` with each payload on the channel. A broken connection is reopened; `onGap` is called then, because
   * notifications may have been lost.
   */
  listen(channel: string, listener: (payload: string) => void, onGap: () => void): Promise<() => void>;
  /** False while the connection is down: earlier knowledge may be stale. */
  readonly isConnected: boolean;
}
