import type { EntityManager } from '@mikro-orm/postgresql';

/** Format of ids. PostgreSQL rejects queries that compare an id with text of any other format. */
export const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** The gateway's PostgreSQL: embedded in the data folder, or external (DATABASE_URL). Migrated before first use. */
export interface Database extends AsyncDisposable {
  /** `embedded`: runs in the data folder, and stops with the gateway. */
  readonly kind: 'embedded' | 'external';
  /** Connection string with the password, which bypasses any pooler. For separate sessions, such as the job queue's. Never logged. */
  readonly url: string;
  /** Creates an entity manager. Each exchange, job or command uses its own. */
  fork(): EntityManager;
  /**
   * Runs one statement outside a transaction. Each `?` is a parameter. A list becomes several parameters, as in `IN (?)`, which matches
   * nothing if the list is empty. Values are sent separately from the statement, which determines their types. Times are returned as text.
   *
   * @throws Error if the statement fails or takes too long
   */
  query<Row>(sql: string, parameters?: readonly unknown[]): Promise<Row[]>;
  /**
   * Like `query`, on reserved connections, for queries that API requests and payment providers wait for. All other connections may be busy,
   * for example if hundreds of pages are opened at once or payments are being settled.
   */
  queryFirst<Row>(sql: string, parameters?: readonly unknown[]): Promise<Row[]>;
  /**
   * Like `queryFirst`, in its own transaction, for changes that are acknowledged to others. When it resolves, the change is on disk, even
   * behind a pooler that leaves single statements in a transaction, and for a role with `synchronous_commit = off`.
   */
  storeFirst<Row>(sql: string, parameters?: readonly unknown[]): Promise<Row[]>;
  /**
   * Reads lists, exports and counts of requests, possibly from a replica, which can be seconds behind and whose role may lack access to
   * other tables. Money, keys and periods are always read from the primary.
   */
  readonly records: RecordReads;
  readonly notifications: Notifications;
  /** Resolves when the database responds. */
  ping(): Promise<void>;
}

export type Queries = Pick<Database, 'query'>;
/** The part of a database that begins transactions, with `fork().transactional(…)`. */
export type Transactions = Pick<Database, 'fork'>;

export interface RecordReads extends Queries {
  /** The replica of DATABASE_READ_URL, if set. */
  readonly replica?: ReplicaState | undefined;
}

export interface ReplicaState {
  /** Lag behind the primary, in ms; undefined while unknown. */
  readonly lag: number | undefined;
  /** Why the primary is read instead; undefined while the replica is used. */
  readonly fault: string | undefined;
  /** When the replica was last put into or out of use, in epoch ms. */
  readonly since: number;
}

/** LISTEN and NOTIFY. Every process on this database, including commands, is notified of committed changes. */
export interface Notifications {
  /**
   * Calls `listener` with each payload on the channel. Calls `onGap` after a broken connection was reopened, because notifications may have
   * been lost.
   *
   * @returns a function that removes the listener
   */
  listen(channel: string, listener: (payload: string) => void, onGap: () => void): Promise<() => void>;
  /** False while the connection is down, so that cached values may be stale. */
  readonly isConnected: boolean;
}
