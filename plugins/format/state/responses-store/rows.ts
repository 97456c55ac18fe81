import { bounds } from '#core/platform/bounds.ts';
import type { Database } from '#core/platform/database/database.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { turnFor } from '#core/platform/timing/turn.ts';
import type { Row } from '#core/platform/database/rows.ts';
import type { ResponseStore } from './entities.ts';

/** A stored response. */
export interface StoredResponse {
  readonly id: string;
  /** All items before the output, those of the continued responses included. */
  readonly input: readonly JsonValue[];
  /** The response object that was sent to the client. */
  readonly response: JsonObject;
  readonly isRunning: boolean;
}

/** A response to be stored. Both texts are JSON. */
export interface NewRow {
  readonly accountId: string;
  readonly id: string;
  readonly input: string;
  readonly response: string;
  readonly itemIds: readonly string[];
  readonly createdAt: number; // epoch ms
  readonly expiresAt: number; // epoch ms
  /** Expiry of the lease of a response that has only begun. */
  readonly runningUntil?: number; // epoch ms
}

type Stored = Row<typeof ResponseStore, 'id' | 'input' | 'response'> & { readonly is_running: boolean };

const batch = 1_000;
/** Rows deleted at once to make room: an answer waits for it, and each row may have megabytes. */
const maxDeleted = 100;
const insert = `INSERT INTO response_store (account_id, id, input, response, item_ids, created_at, expires_at, running_until)
  VALUES (?, ?, ?, ?, ARRAY(SELECT jsonb_array_elements_text(?::jsonb)), ?, ?, ?)
  ON CONFLICT (account_id, id) DO UPDATE SET input = EXCLUDED.input, response = EXCLUDED.response,
    item_ids = EXCLUDED.item_ids, created_at = EXCLUDED.created_at, expires_at = EXCLUDED.expires_at,
    running_until = EXCLUDED.running_until`;

/** The table `response_store`. Every access names the account: ids of other accounts are not found. */
export class ResponseRows {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async save(row: NewRow): Promise<void> {
    await this.#database.query(insert, valuesOf(row));
  }

  /**
   * Saves the row and deletes the oldest rows of its account until the other rows fit into `left` bytes. Reads the sizes of all
   * rows of the account. Rows locked by another process are skipped, to avoid deadlocks.
   *
   * @param left bytes allowed for the other rows
   * @returns false if there were more rows to delete than an answer should wait for
   */
  async saveWithin(row: NewRow, left: number): Promise<boolean> {
    const deleted = await this.#database.query(
      `WITH saved AS (${insert})
       DELETE FROM response_store WHERE account_id = ? AND id IN (
         SELECT id FROM response_store WHERE account_id = ? AND id IN (
           SELECT id FROM (
             SELECT id, running_until IS NULL AS has_ended,
               sum(octet_length(input) + octet_length(response)) OVER (ORDER BY created_at DESC, id) AS bytes
             FROM response_store WHERE account_id = ? AND id <> ?
           ) AS others WHERE bytes > ? AND has_ended ORDER BY bytes DESC LIMIT ?
         ) AND running_until IS NULL FOR UPDATE SKIP LOCKED
       ) RETURNING 1`,
      [...valuesOf(row), row.accountId, row.accountId, row.accountId, row.id, left, maxDeleted],
    );
    return deleted.length < maxDeleted;
  }

  /** @param now epoch ms; expired responses are not found */
  async find(accountId: string, id: string, now: number): Promise<StoredResponse | undefined> {
    if (!isStorable(id)) return undefined;
    const [row] = await this.#database.query<Stored>(
      `SELECT id, input, response, running_until IS NOT NULL AS is_running
       FROM response_store WHERE account_id = ? AND id = ? AND expires_at > ?`,
      [accountId, id, time(now)],
    );
    if (row === undefined) return undefined;
    await turnFor(row.input.length);
    const input = JSON.parse(row.input) as readonly JsonValue[];
    await turnFor(row.response.length);
    return { id: row.id, input, response: JSON.parse(row.response) as JsonObject, isRunning: row.is_running };
  }

  /** Output items of stored responses, by their ids. Unknown ids are missing in the map. */
  async findItems(accountId: string, ids: readonly string[], now: number): Promise<Map<string, JsonObject>> {
    const wanted = ids.filter(isStorable);
    const found = new Map<string, JsonObject>();
    if (wanted.length === 0) return found;
    const rows = await this.#database.query<Pick<Stored, 'response'>>(
      `SELECT response FROM (
         SELECT response, sum(octet_length(response)) OVER (ORDER BY created_at DESC, id) AS bytes FROM response_store
         WHERE account_id = ? AND item_ids && ARRAY(SELECT jsonb_array_elements_text(?::jsonb)) AND expires_at > ?
       ) AS newest WHERE bytes <= ?`,
      [accountId, JSON.stringify(wanted), time(now), bounds.storedResponse],
    );
    for (const { response } of rows) {
      await turnFor(response.length);
      collectItems(outputOf(JSON.parse(response) as JsonObject), new Set(wanted), found);
    }
    return found;
  }

  /** @returns false if there was no such response */
  async delete(accountId: string, id: string, now: number): Promise<boolean> {
    if (!isStorable(id)) return false;
    const rows = await this.#database.query(
      'DELETE FROM response_store WHERE account_id = ? AND id = ? AND expires_at > ? RETURNING id',
      [accountId, id, time(now)],
    );
    return rows.length > 0;
  }

  /** Deletes expired responses in batches, so that locks stay short. Returns their number. */
  async deleteExpired(now: number): Promise<number> {
    let total = 0;
    for (;;) {
      const rows = await this.#database.query(
        `DELETE FROM response_store WHERE (account_id, id) IN (
           SELECT account_id, id FROM response_store WHERE expires_at <= ? LIMIT ? FOR UPDATE SKIP LOCKED
         ) RETURNING 1`,
        [time(now), batch],
      );
      total += rows.length;
      if (rows.length < batch) return total;
    }
  }
}

/** Bytes. */
export function sizeOf({ input, response }: NewRow): number {
  return Buffer.byteLength(input) + Buffer.byteLength(response);
}

/** Whether an id looks like those of vendors. Other ids may change when stored in the database. */
export function isStorable(id: unknown): id is string {
  return typeof id === 'string' && /^[\x21-\x7e]{1,200}$/.test(id);
}

const continuable = new Set<JsonValue | undefined>(['completed', 'incomplete']);

/** Whether the response can be continued. */
export function isContinuable(response: JsonObject): boolean {
  return continuable.has(response['status']);
}

/** Output items of a response; none for a failed response. */
export function outputOf(response: JsonObject): readonly JsonValue[] {
  return Array.isArray(response['output']) ? response['output'] : [];
}

/** Adds the wanted items to `found`. */
export function collectItems(
  items: readonly JsonValue[],
  wanted: ReadonlySet<string>,
  found: Map<string, JsonObject>,
): void {
  for (const item of items) {
    if (isJsonObject(item) && typeof item['id'] === 'string' && wanted.has(item['id'])) found.set(item['id'], item);
  }
}

function valuesOf(row: NewRow): readonly unknown[] {
  const { accountId, id, input, response, itemIds, createdAt, expiresAt, runningUntil } = row;
  const times = [time(createdAt), time(expiresAt), runningUntil === undefined ? null : time(runningUntil)];
  return [accountId, id, input, response, JSON.stringify(itemIds), ...times];
}

/** Ids by which requests can refer to the output items. */
export function itemIdsOf(response: JsonObject): string[] {
  return outputOf(response).flatMap((item) => (isJsonObject(item) && isStorable(item['id']) ? [item['id']] : []));
}

export function time(epoch: number): string {
  return new Date(epoch).toISOString();
}
