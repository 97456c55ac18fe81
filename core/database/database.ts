import type { EntityManager } from '@mikro-orm/postgresql';

/**
 * The PostgreSQL of the gateway: its own under the data folder, or the one that DATABASE_URL names. Migrated before
 * anybody gets to see it.
 */
export interface Database extends AsyncDisposable {
  /** `embedded`: runs under the data folder and stops with the gateway. */
  readonly kind: 'embedded' | 'external';
  /** Connection string, password included: for the job queue's own connections. Never logged. */
  readonly url: string;
  /** A fresh entity manager: one for each exchange, job or command. */
  fork(): EntityManager;
  /**
   * Runs one statement outside of any transaction. `?` stands for a parameter, and for several when that is a list, as
   * in `IN (?)`; of an empty list that is true of nothing. Values travel beside the statement, whose types tell what they
   * are. Times come back as text.
   *
   * @throws when it takes too long
   */
  query<Row>(sql: string, parameters?: readonly unknown[]): Promise<Row[]>;
  readonly notifications: Notifications;
  /** Resolves when the database answers. */
  ping(): Promise<void>;
}

/**
 * LISTEN and NOTIFY: how every process on this database, the command line included, learns that rows have changed, at
 * the moment the change is committed.
 */
export interface Notifications {
  /**
   * Calls `listener` with each payload on the channel. The connection is rebuilt when it breaks; `onGap` is called then,
   * because notifications may have been missed.
   */
  listen(channel: string, listener: (payload: string) => void, onGap: () => void): Promise<() => void>;
  /** False while the connection is down: what was learned before may be stale. */
  readonly isConnected: boolean;
}
