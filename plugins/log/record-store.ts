import type { Database } from '#core/database/database.ts';
import { ensurePartition, type Table } from './partitions.ts';

/** Where records end up. */
export interface RecordStore {
  /**
   * Inserts the records that are not there yet, and counts the new metered ones for their accounts, in one transaction.
   *
   * @param records JSON objects with the names of the columns
   * @throws what the database says; `isRefused` tells whether a record is at fault
   */
  insert(instance: string, records: readonly string[]): Promise<void>;
  /**
   * Inserts the bodies that are not there yet.
   *
   * @param lines JSON objects with the names of the columns; the body in base64
   */
  insertContent(lines: readonly string[]): Promise<void>;
}

/** Columns as a journal line gives them; `attempts` and the times are converted in the statement. */
const columns = {
  id: 'text',
  account_id: 'uuid',
  key_hint: 'text',
  method: 'text',
  path: 'text',
  endpoint: 'text',
  format: 'text',
  model: 'text',
  route: 'text',
  is_stream: 'boolean',
  outcome: 'text',
  status: 'smallint',
  error_code: 'text',
  error_message: 'text',
  cache: 'text',
  duration_ms: 'bigint',
  first_byte_ms: 'bigint',
  first_content_ms: 'bigint',
  bytes_in: 'bigint',
  bytes_out: 'bigint',
  input_tokens: 'integer',
  output_tokens: 'integer',
  cache_read_tokens: 'integer',
  cache_write_tokens: 'integer',
  reasoning_tokens: 'integer',
  usage_estimated: 'boolean',
  notes: 'text[]',
  attempts: 'jsonb',
  remote_address: 'text',
  user_agent: 'text',
} as const;

const names = Object.keys(columns).join(', ');
const typed = Object.entries(columns).map(([name, type]) => `${name} ${type}`);

/**
 * One statement, so that rows and counts are one transaction. Rows go in, and accounts are locked, in the order of their
 * keys: two instances that ship the same at the same time would otherwise wait for each other.
 */
const insertion = `
  WITH input AS (
    SELECT * FROM json_to_recordset(?::json) AS line (started_at bigint, is_metered boolean, ${typed.join(', ')})
  ), inserted AS (
    INSERT INTO request_log (started_at, instance, ${names})
    SELECT timestamptz 'epoch' + started_at * interval '1 millisecond', ?, ${names} FROM input
    ORDER BY 1, id
    ON CONFLICT (started_at, id) DO NOTHING
    RETURNING id, account_id, outcome
  ), counted AS (
    SELECT account_id, count(*) AS requests FROM inserted
    WHERE outcome <> 'refused' AND id IN (SELECT id FROM input WHERE is_metered)
    GROUP BY account_id
  ), locked AS (
    SELECT account.id, counted.requests FROM account JOIN counted ON counted.account_id = account.id
    ORDER BY account.id FOR NO KEY UPDATE OF account
  )
  UPDATE account SET request_count = account.request_count + locked.requests FROM locked WHERE account.id = locked.id`;

const contentInsertion = `
  INSERT INTO request_content (started_at, id, part, is_cut, body)
  SELECT timestamptz 'epoch' + started_at * interval '1 millisecond', id, part, is_cut, convert_from(decode(body, 'base64'), 'UTF8')
  FROM json_to_recordset(?::json) AS line (started_at bigint, id text, part text, is_cut boolean, body text)
  ORDER BY 1, 2, 3
  ON CONFLICT (started_at, id, part) DO NOTHING`;

const startedAt = /"started_at":(\d{12,13})[,}]/;
const millisecondsOfDay = 86_400_000;

export class PostgresRecordStore implements RecordStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async insert(instance: string, records: readonly string[]): Promise<void> {
    await this.#insert('request_log', insertion, records, instance);
  }

  async insertContent(lines: readonly string[]): Promise<void> {
    await this.#insert('request_content', contentInsertion, lines);
  }

  async #insert(table: Table, sql: string, lines: readonly string[], ...rest: string[]): Promise<void> {
    const parameters = [`[${lines.join()}]`, ...rest];
    try {
      await this.#database.query(sql, parameters);
    } catch (error) {
      if (sqlState(error) !== '23514') throw error;
      // No row fits a partition that is not there: an old journal, or the job that makes them has not run.
      for (const day of daysOf(lines)) await ensurePartition(this.#database, day, table);
      await this.#database.query(sql, parameters);
    }
  }
}

function daysOf(records: readonly string[]): Set<number> {
  const times = records.map((record) => Number(startedAt.exec(record)?.[1]));
  return new Set(times.filter((time) => time > 0).map((time) => time - (time % millisecondsOfDay)));
}

/**
 * True when the database has refused the content of a record (SQLSTATE classes 22 and 23, PostgreSQL manual, appendix
 * A): the same record is refused again, however often it is tried.
 */
export function isRefused(error: unknown): boolean {
  return /^2[23]/.test(sqlState(error) ?? '');
}

function sqlState(error: unknown): string | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ('code' in cause && typeof cause.code === 'string' && /^[0-9A-Z]{5}$/.test(cause.code)) return cause.code;
  }
  return undefined;
}
