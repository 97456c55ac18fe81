import type { Database } from '#core/platform/database/database.ts';
import { columns } from '#core/gateway/records/columns.ts';
import { addUnauthenticated, type UnauthenticatedCount } from '#core/gateway/records/unauthenticated.ts';
import { holdPartition, type Table } from './partitions.ts';

/** Stores records in the database. */
export interface RecordStore {
  /**
   * Inserts new records and adds the metered ones to the request counts of their accounts, in one transaction.
   *
   * @param records JSON objects with the names of the columns
   * @throws the error of the database; `isRefused` shows whether a record caused it
   */
  insert(instance: string, records: readonly string[]): Promise<void>;
  /**
   * Inserts new bodies.
   *
   * @param lines JSON objects with the names of the columns, the body in base64
   */
  insertContent(lines: readonly string[]): Promise<void>;
  /** Adds counts of requests of no account. */
  addUnauthenticated(counts: readonly UnauthenticatedCount[]): Promise<void>;
  /** Stores no records, and fails if `insert` would fail. */
  probe(): Promise<void>;
}

const startedAt = "timestamptz 'epoch' + started_at * interval '1 millisecond'";

const names = Object.keys(columns);
const input = Object.entries(columns).map(([name, { type }]) => `${name} ${type === 'timestamptz' ? 'bigint' : type}`);
const values = Object.entries(columns).map(([name, { type }]) => (type === 'timestamptz' ? startedAt : name));

/**
 * One statement, so that rows and counts are one transaction. Rows are inserted, and accounts locked, in the order of their
 * keys: two instances that ship at the same time would otherwise deadlock.
 */
const insertion = `
  WITH inserted AS (
    INSERT INTO request_log (instance, ${names.join(', ')})
    SELECT ?, ${values.join(', ')} FROM json_to_recordset(?::json) AS line (${input.join(', ')})
    ORDER BY started_at, id
    ON CONFLICT (started_at, id) DO NOTHING
    RETURNING account_id
  ), counted AS (
    SELECT account_id, count(*) AS requests FROM inserted WHERE account_id IS NOT NULL GROUP BY account_id
  ), locked AS (
    SELECT account.id, counted.requests FROM account JOIN counted ON counted.account_id = account.id
    ORDER BY account.id FOR NO KEY UPDATE OF account
  )
  UPDATE account SET request_count = account.request_count + locked.requests FROM locked WHERE account.id = locked.id`;

const contentInsertion = `
  INSERT INTO request_content (started_at, id, part, is_cut, body)
  SELECT ${startedAt}, id, part, is_cut, convert_from(decode(body, 'base64'), 'UTF8')
  FROM json_to_recordset(?::json) AS line (started_at bigint, id text, part text, is_cut boolean, body text)
  ORDER BY 1, 2, 3
  ON CONFLICT (started_at, id, part) DO NOTHING`;

const startedAtMember = /"started_at":(\d{12,13})[,}]/;
const millisecondsOfDay = 86_400_000;

export class PostgresRecordStore implements RecordStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async insert(instance: string, records: readonly string[]): Promise<void> {
    await this.#insert('request_log', insertion, records, [instance]);
  }

  async insertContent(lines: readonly string[]): Promise<void> {
    await this.#insert('request_content', contentInsertion, lines);
  }

  addUnauthenticated(counts: readonly UnauthenticatedCount[]): Promise<void> {
    return addUnauthenticated(this.#database, counts);
  }

  /** PostgreSQL checks permissions, locks and read-only transactions before it looks for rows. */
  async probe(): Promise<void> {
    await this.#database.query(insertion, ['', '[]']);
  }

  async #insert(table: Table, sql: string, lines: readonly string[], first: readonly string[] = []): Promise<void> {
    const json = () => `[${lines.join()}]`;
    try {
      // Sent as bytes: the driver scans a text twice, and V8 keeps such a long text until the next full garbage collection.
      await this.#database.query(sql, [...first, Buffer.from(json())]);
    } catch (error) {
      if (sqlState(error) !== '23514') throw error;
      // A partition is missing: the journal is old, or the job that creates partitions has not run. One transaction, because the job
      // may drop an old day again before its records are inserted.
      await this.#database.fork().transactional(async (transaction) => {
        for (const day of daysOf(lines)) await holdPartition(transaction, day, table);
        await transaction.execute(sql, [...first, json()]);
      });
    }
  }
}

function daysOf(records: readonly string[]): Set<number> {
  const times = records.map((record) => Number(startedAtMember.exec(record)?.[1]));
  return new Set(times.filter((time) => time > 0).map((time) => time - (time % millisecondsOfDay)));
}

/**
 * True if the database refuses the content of a record and would refuse it again (SQLSTATE classes 22 and 23, PostgreSQL
 * manual, appendix A).
 */
export function isRefused(error: unknown): boolean {
  return /^2[23]/.test(sqlState(error) ?? '');
}

/**
 * True if the database responds with a refusal, so that waiting does not help: it is read-only (class 25), a table is missing or
 * not writable (42), or its disk is full (53100).
 */
export function isPersistent(error: unknown): boolean {
  return /^(25|42|53100)/.test(sqlState(error) ?? '');
}

function sqlState(error: unknown): string | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ('code' in cause && typeof cause.code === 'string' && /^[0-9A-Z]{5}$/.test(cause.code)) return cause.code;
  }
  return undefined;
}

/** An id is hexadecimal, and quotes inside other members are escaped. */
const accountMember = /"account_id":"([\w-]+)"/;

/** A store that reports the accounts of committed records, to update their open pages. */
export class PublishingStore implements RecordStore {
  readonly #store: RecordStore;
  readonly #announce: (accountIds: ReadonlySet<string>) => void;

  constructor(store: RecordStore, announce: (accountIds: ReadonlySet<string>) => void) {
    this.#store = store;
    this.#announce = announce;
  }

  async insert(instance: string, records: readonly string[]): Promise<void> {
    await this.#store.insert(instance, records);
    this.#announce(new Set(records.flatMap((record) => accountMember.exec(record)?.[1] ?? [])));
  }

  addUnauthenticated(counts: readonly UnauthenticatedCount[]): Promise<void> {
    return this.#store.addUnauthenticated(counts);
  }

  probe(): Promise<void> {
    return this.#store.probe();
  }

  insertContent(lines: readonly string[]): Promise<void> {
    return this.#store.insertContent(lines);
  }
}
