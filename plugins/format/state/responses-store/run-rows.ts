import type { Database } from '#core/platform/database/database.ts';
import { epoch, type Row } from '#core/platform/database/rows.ts';
import type { JsonObject } from '#core/platform/json.ts';
import type { ResponseEvent } from './entities.ts';
import { itemIdsOf, time } from './rows.ts';

/** A background response. */
export interface RunKey {
  readonly accountId: string;
  readonly id: string;
}

type RunState = 'running' | 'abandoned' | 'ended' | 'deleted';

/** Consecutive events of a stream. */
export type StoredEvents = Row<typeof ResponseEvent, 'events' | 'last_sequence'>;

/** Placeholder for the sequence number of the event that ends a response: only the database knows the last number. */
export const nextNumber = -1;
/** Placeholder for the sequence number after `nextNumber`. */
export const secondNumber = -2;

const member = `'"sequence_number":'`;
const numbered = (number: number): string => `'"sequence_number":${number}'`;

/** Rows read at once; each holds at most the events of one flush. */
const page = 32;
const ofRun = 'account_id = ? AND id = ? AND running_until IS NOT NULL';

/** Running responses of all instances, and the events of their streams. */
export class RunRows {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Extends the lease. Returns false if the response has ended meanwhile: it was cancelled, deleted or declared abandoned. */
  async renew({ accountId, id }: RunKey, until: number): Promise<boolean> {
    const sql = `UPDATE response_store SET running_until = ? WHERE ${ofRun} RETURNING 1`;
    return (await this.#database.query(sql, [time(until), accountId, id])).length > 0;
  }

  async update({ accountId, id }: RunKey, response: JsonObject): Promise<void> {
    const sql = `UPDATE response_store SET response = ? WHERE ${ofRun}`;
    await this.#database.query(sql, [JSON.stringify(response), accountId, id]);
  }

  /** Does nothing once the response has ended. */
  async append({ accountId, id }: RunKey, { events, last_sequence }: StoredEvents, now: number): Promise<void> {
    await this.#database.query(
      `INSERT INTO response_event (account_id, response_id, last_sequence, events, created_at)
       SELECT account_id, id, ?, ?, ? FROM response_store WHERE ${ofRun}`,
      [last_sequence, events, time(now), accountId, id],
    );
  }

  /**
   * Ends a running response with its final object.
   *
   * @param ending events that end its stream, numbered `nextNumber` and `secondNumber`; undefined if they were already appended
   * @returns false if it has already ended
   */
  async end({ accountId, id }: RunKey, response: JsonObject, now: number, ending?: string): Promise<boolean> {
    const update = `UPDATE response_store SET response = ?, running_until = NULL,
      item_ids = ARRAY(SELECT jsonb_array_elements_text(?::jsonb)) WHERE ${ofRun} RETURNING account_id, id`;
    const values = [JSON.stringify(response), JSON.stringify(itemIdsOf(response)), accountId, id];
    if (ending === undefined) return (await this.#database.query(update, values)).length > 0;
    const ended = await this.#database.query(
      `WITH ended AS (${update}), numbered AS (
         SELECT account_id, id, 1 + coalesce((SELECT max(last_sequence) FROM response_event
           WHERE response_event.account_id = ended.account_id AND response_id = ended.id), -1) AS number FROM ended
       )
       INSERT INTO response_event (account_id, response_id, last_sequence, events, created_at)
       SELECT account_id, id, number + ?, replace(replace(?, ${numbered(nextNumber)}, ${member} || number),
         ${numbered(secondNumber)}, ${member} || (number + 1)), ? FROM numbered RETURNING 1`,
      [...values, ending.includes(`"sequence_number":${secondNumber}`) ? 1 : 0, ending, time(now)],
    );
    return ended.length > 0;
  }

  async state({ accountId, id }: RunKey, now: number): Promise<RunState> {
    const [row] = await this.#database.query<{ readonly until: number | null }>(
      `SELECT ${epoch('running_until')} AS until FROM response_store WHERE account_id = ? AND id = ? AND expires_at > ?`,
      [accountId, id, time(now)],
    );
    if (row === undefined) return 'deleted';
    if (row.until === null) return 'ended';
    return row.until < now ? 'abandoned' : 'running';
  }

  /** The next events after a sequence number; empty if there are none yet or they have been deleted. */
  async eventsAfter({ accountId, id }: RunKey, sequence: number): Promise<readonly StoredEvents[]> {
    return this.#database.query<StoredEvents>(
      `SELECT events, last_sequence FROM response_event
       WHERE account_id = ? AND response_id = ? AND last_sequence > ? ORDER BY last_sequence LIMIT ?`,
      [accountId, id, sequence, page],
    );
  }

  /** Running responses whose lease has expired; those that have expired themselves are deleted, whatever their state. */
  async abandoned(now: number): Promise<readonly RunKey[]> {
    return this.#database.query<RunKey>(
      `SELECT account_id AS "accountId", id FROM response_store WHERE running_until < ? AND expires_at > ? LIMIT ?`,
      [time(now), time(now), page],
    );
  }

  /** Deletes events of ended responses that were created before this time. */
  async deleteEvents(before: number): Promise<void> {
    await this.#database.query(
      `DELETE FROM response_event USING response_store WHERE response_event.created_at < ?
       AND response_store.account_id = response_event.account_id AND response_store.id = response_id
       AND running_until IS NULL`,
      [time(before)],
    );
  }
}
