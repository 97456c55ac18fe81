import { columns } from '#core/gateway/records/columns.ts';
import { addUnauthenticated, type UnauthenticatedCount } from '#core/gateway/records/unauthenticated.ts';
import type { Database } from '#core/platform/database/database.ts';
import { protectPartition, type RecordTable } from './partitions.ts';

export interface RecordStore {
  /**
   * Inserts new records and updates the request counts of their accounts, in one transaction.
   *
   * @param records JSON objects whose members are columns
   * @throws the database's error; `isRecordRefused` says whether a record caused it
   */
  insert(instance: string, records: readonly string[]): Promise<void>;
  /** @param lines JSON objects whose members are columns, with the body in base64 */
  insertContent(lines: readonly string[]): Promise<void>;
  addUnauthenticated(counts: readonly UnauthenticatedCount[]): Promise<void>;
  /** Stores nothing, but fails if `insert` would fail. */
  probe(): Promise<void>;
}

const startedAtTimestamp = "timestamptz 'epoch' + started_at * interval '1 millisecond'";

const columnNames = Object.keys(columns);
const inputColumns = Object.entries(columns).map(
  ([name, { type }]) => `${name} ${type === 'timestamptz' ? 'bigint' : type}`,
);
const selectedValues = Object.entries(columns).map(([name, { type }]) =>
  type === 'timestamptz' ? startedAtTimestamp : name,
);

/**
 * Inserts rows and updates counts in one statement, so in one transaction. It inserts rows and locks accounts in the order of their keys;
 * otherwise, two instances that ship at the same time could deadlock.
 */
const insertRecordsSql = `
  WITH inserted AS (
    INSERT INTO request_log (instance, ${columnNames.join(', ')})
    SELECT ?, ${selectedValues.join(', ')} FROM json_to_recordset(?::json) AS line (${inputColumns.join(', ')})
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

const insertBodiesSql = `
  INSERT INTO request_content (started_at, id, part, is_cut, body)
  SELECT ${startedAtTimestamp}, id, part, is_cut, convert_from(decode(body, 'base64'), 'UTF8')
  FROM json_to_recordset(?::json) AS line (started_at bigint, id text, part text, is_cut boolean, body text)
  ORDER BY 1, 2, 3
  ON CONFLICT (started_at, id, part) DO NOTHING`;

const startedAtPattern = /"started_at":(\d{12,13})[,}]/;
const dayMs = 86_400_000;

export class PostgresRecordStore implements RecordStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async insert(instance: string, records: readonly string[]): Promise<void> {
    await this.#insertLines('request_log', insertRecordsSql, records, [instance]);
  }

  async insertContent(lines: readonly string[]): Promise<void> {
    await this.#insertLines('request_content', insertBodiesSql, lines);
  }

  addUnauthenticated(counts: readonly UnauthenticatedCount[]): Promise<void> {
    return addUnauthenticated(this.#database, counts);
  }

  /** Inserts an empty list, for which PostgreSQL still checks permissions, locks and read-only transactions. */
  async probe(): Promise<void> {
    await this.#database.query(insertRecordsSql, ['', '[]']);
  }

  async #insertLines(
    table: RecordTable,
    sql: string,
    lines: readonly string[],
    parameters: readonly string[] = [],
  ): Promise<void> {
    const json = () => `[${lines.join()}]`;
    try {
      // Sent as bytes: the driver scans a text twice, and V8 keeps such a long one until the next full garbage collection.
      await this.#database.query(sql, [...parameters, Buffer.from(json())]);
    } catch (error) {
      if (readSqlState(error) !== '23514') throw error;
      // A partition is missing because the journal is old, or because the job that creates partitions has not run. One transaction, because
      // the job could drop an old day again before its records are inserted.
      await this.#database.fork().transactional(async (transaction) => {
        for (const day of listDays(lines)) await protectPartition(transaction, day, table);
        await transaction.execute(sql, [...parameters, json()]);
      });
    }
  }
}

function listDays(records: readonly string[]): Set<number> {
  const times = records.map((record) => Number(startedAtPattern.exec(record)?.[1]));
  return new Set(times.filter((time) => time > 0).map((time) => time - (time % dayMs)));
}

/** Returns true if the database would refuse the record again (SQLSTATE classes 22 and 23; PostgreSQL manual, appendix A). */
export function isRecordRefused(error: unknown): boolean {
  return /^2[23]/.test(readSqlState(error) ?? '');
}

/**
 * Returns true if the database responds but cannot store records, so that waiting does not help: it is read-only (class 25), a table is
 * missing or not writable (42), or its disk is full (53100).
 */
export function isPersistentFailure(error: unknown): boolean {
  return /^(25|42|53100)/.test(readSqlState(error) ?? '');
}

function readSqlState(error: unknown): string | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ('code' in cause && typeof cause.code === 'string' && /^[0-9A-Z]{5}$/.test(cause.code)) return cause.code;
  }
  return undefined;
}

const accountIdPattern = /"account_id":"([\w-]+)"/; // matches no other member, because quotes inside others are escaped

/** A store that announces the accounts of committed records, so that pages which show them are updated. */
export class PublishingStore implements RecordStore {
  readonly #store: RecordStore;
  readonly #publish: (accountIds: ReadonlySet<string>) => void;

  constructor(store: RecordStore, publish: (accountIds: ReadonlySet<string>) => void) {
    this.#store = store;
    this.#publish = publish;
  }

  async insert(instance: string, records: readonly string[]): Promise<void> {
    await this.#store.insert(instance, records);
    this.#publish(new Set(records.flatMap((record) => accountIdPattern.exec(record)?.[1] ?? [])));
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
