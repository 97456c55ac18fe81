import { bounds } from '#core/platform/bounds.ts';
import type { Database } from '#core/platform/database/database.ts';
import { earlierClockSql, type Row } from '#core/platform/database/rows.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { yieldIfLong } from '#core/platform/timing/turn.ts';
import type { ResponseStore } from './entities.ts';

export interface StoredResponse {
  readonly id: string;
  /** All items that precede the output, including those of the responses it continues. */
  readonly input: readonly JsonValue[];
  /** The response object as sent to the client. */
  readonly response: JsonObject;
  readonly isRunning: boolean;
}

/** A response to store. Both texts are JSON. */
export interface NewRow {
  readonly accountId: string;
  readonly id: string;
  readonly input: string;
  readonly response: string;
  readonly itemIds: readonly string[];
  readonly createdAt: number; // epoch ms
  readonly expiresAt: number; // epoch ms
  /** Given for a response that is still running. */
  readonly leaseMs?: number;
}

type StoredRow = Row<typeof ResponseStore, 'id' | 'input' | 'response'> & { readonly is_running: boolean };

const batchSize = 1_000;
/** Number of rows deleted at a time to make room. Small, because the client's response waits, and each row may hold megabytes. */
const maxDeletedRows = 100;
/** End of a lease that starts now. Takes the lease's length in ms. Uses the database's clock, because instances' clocks may differ. */
export const leaseEndSql = `clock_timestamp() + ?::float8 * interval '1 ms'`;
/** Stores nothing if the account has been deleted. The row lock waits for an account deletion in progress. */
const insertResponse = `INSERT INTO response_store (account_id, id, input, response, item_ids, created_at, expires_at, running_until)
  SELECT id, ?, ?, ?, ARRAY(SELECT jsonb_array_elements_text(?::jsonb)), ?, ?, ${leaseEndSql}
  FROM account WHERE id = ? AND deleted_at IS NULL FOR KEY SHARE
  ON CONFLICT (account_id, id) DO UPDATE SET input = EXCLUDED.input, response = EXCLUDED.response,
    item_ids = EXCLUDED.item_ids, created_at = EXCLUDED.created_at, expires_at = EXCLUDED.expires_at,
    running_until = EXCLUDED.running_until`;

/** The table `response_store`. Every access names the account, so that ids of other accounts are not found. */
export class ResponseRows {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async save(row: NewRow): Promise<void> {
    await this.#database.query(insertResponse, toParameters(row));
  }

  /**
   * Saves the row and deletes the account's oldest ended rows until the other rows fit into `remainingBytes`. Reads the sizes of all rows
   * of the account. Skips rows that another process has locked, to avoid deadlocks.
   *
   * @param remainingBytes maximum total size of the other rows
   * @returns false if more rows may have to be deleted
   */
  async saveWithin(row: NewRow, remainingBytes: number): Promise<boolean> {
    // `bytes` is the running total from the newest row, so the rows over the limit are the oldest. `running_until` is checked again, because
    // it may change before the row is locked.
    const deleted = await this.#database.query(
      `WITH saved AS (${insertResponse})
       DELETE FROM response_store WHERE account_id = ? AND id IN (
         SELECT id FROM response_store WHERE account_id = ? AND id IN (
           SELECT id FROM (
             SELECT id, running_until IS NULL AS has_ended,
               sum(octet_length(input) + octet_length(response)) OVER (ORDER BY created_at DESC, id) AS bytes
             FROM response_store WHERE account_id = ? AND id <> ?
           ) AS others WHERE bytes > ? AND has_ended ORDER BY bytes DESC LIMIT ?
         ) AND running_until IS NULL FOR UPDATE SKIP LOCKED
       ) RETURNING 1`,
      [...toParameters(row), row.accountId, row.accountId, row.accountId, row.id, remainingBytes, maxDeletedRows],
    );
    return deleted.length < maxDeletedRows;
  }

  async find(accountId: string, id: string, now: number): Promise<StoredResponse | undefined> {
    if (!isStorable(id)) return undefined;
    const [row] = await this.#database.query<StoredRow>(
      `SELECT id, input, response, running_until IS NOT NULL AS is_running
       FROM response_store WHERE account_id = ? AND id = ? AND expires_at > ?`,
      [accountId, id, toTimestamp(now)],
    );
    if (row === undefined) return undefined;
    await yieldIfLong(row.input.length);
    const input = JSON.parse(row.input) as readonly JsonValue[];
    await yieldIfLong(row.response.length);
    return { id: row.id, input, response: JSON.parse(row.response) as JsonObject, isRunning: row.is_running };
  }

  /**
   * Finds output items of stored responses by their ids. Searches the newest responses that have such items, up to `bounds.storedResponse`
   * bytes in total. Unknown ids, and items that only older responses contain, are absent from the map.
   */
  async findItems(accountId: string, ids: readonly string[], now: number): Promise<Map<string, JsonObject>> {
    const storableIds = ids.filter(isStorable);
    const itemsById = new Map<string, JsonObject>();
    if (storableIds.length === 0) return itemsById;
    const rows = await this.#database.query<Pick<StoredRow, 'response'>>(
      `SELECT response FROM (
         SELECT response, sum(octet_length(response)) OVER (ORDER BY created_at DESC, id) AS bytes FROM response_store
         WHERE account_id = ? AND item_ids && ARRAY(SELECT jsonb_array_elements_text(?::jsonb)) AND expires_at > ?
       ) AS newest WHERE bytes <= ?`,
      [accountId, JSON.stringify(storableIds), toTimestamp(now), bounds.storedResponse],
    );
    for (const { response } of rows) {
      await yieldIfLong(response.length);
      collectItems(outputOf(JSON.parse(response) as JsonObject), new Set(storableIds), itemsById);
    }
    return itemsById;
  }

  async delete(accountId: string, id: string, now: number): Promise<boolean> {
    if (!isStorable(id)) return false;
    const rows = await this.#database.query(
      'DELETE FROM response_store WHERE account_id = ? AND id = ? AND expires_at > ? RETURNING id',
      [accountId, id, toTimestamp(now)],
    );
    return rows.length > 0;
  }

  /** Deletes responses that have expired by both clocks, in batches to keep locks short. */
  async deleteExpired(now: number): Promise<number> {
    let total = 0;
    for (;;) {
      const rows = await this.#database.query(
        `DELETE FROM response_store WHERE (account_id, id) IN (
           SELECT account_id, id FROM response_store WHERE expires_at <= ${earlierClockSql} LIMIT ? FOR UPDATE SKIP LOCKED
         ) RETURNING 1`,
        [toTimestamp(now), batchSize],
      );
      total += rows.length;
      if (rows.length < batchSize) return total;
    }
  }
}

export function countRowBytes({ input, response }: NewRow): number {
  return Buffer.byteLength(input) + Buffer.byteLength(response);
}

/** Returns true if an id looks like a vendor's. Other ids might change when they are stored in the database. */
export function isStorable(id: unknown): id is string {
  return typeof id === 'string' && /^[\x21-\x7e]{1,200}$/.test(id);
}

const continuableStatuses = new Set<JsonValue | undefined>(['completed', 'incomplete']);

export function isContinuable(response: JsonObject): boolean {
  return continuableStatuses.has(response['status']);
}

export function outputOf(response: JsonObject): readonly JsonValue[] {
  return Array.isArray(response['output']) ? response['output'] : [];
}

export function collectItems(
  items: readonly JsonValue[],
  ids: ReadonlySet<string>,
  itemsById: Map<string, JsonObject>,
): void {
  for (const item of items) {
    if (isJsonObject(item) && typeof item['id'] === 'string' && ids.has(item['id'])) itemsById.set(item['id'], item);
  }
}

function toParameters(row: NewRow): readonly unknown[] {
  const { accountId, id, input, response, itemIds, createdAt, expiresAt, leaseMs = null } = row;
  return [
    id,
    input,
    response,
    JSON.stringify(itemIds),
    toTimestamp(createdAt),
    toTimestamp(expiresAt),
    leaseMs,
    accountId,
  ];
}

export function listItemIds(response: JsonObject): string[] {
  return outputOf(response).flatMap((item) => (isJsonObject(item) && isStorable(item['id']) ? [item['id']] : []));
}

export function toTimestamp(epochMs: number): string {
  return new Date(epochMs).toISOString();
}
