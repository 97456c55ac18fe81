import type { Database } from '#core/platform/database/database.ts';
import { earlierClockSql, type Row } from '#core/platform/database/rows.ts';
import type { JsonObject } from '#core/platform/json.ts';
import type { ResponseEvent } from './entities.ts';
import { leaseEndSql, listItemIds, toTimestamp } from './rows.ts';

export interface RunKey {
  readonly accountId: string;
  readonly id: string;
}

type RunState = 'running' | 'abandoned' | 'ended' | 'deleted';

/** Consecutive events of a stream. */
export type StoredEvents = Row<typeof ResponseEvent, 'events' | 'last_sequence'>;

/** Placeholder for the sequence number of the first event that ends a response, because only the database knows the last number. */
export const firstFinalSequence = -1;
/** Placeholder for the sequence number of the second event that ends a response. */
export const secondFinalSequence = -2;

/** Writes the member as JSON text. Quotes inside JSON strings are escaped, so replacing this text affects only the member itself. */
const writeSequence = (number: number | ''): string => `"sequence_number":${number}`;

/** Takes two parameters: the current time and the retention in ms. */
const retainedSinceSql = `${earlierClockSql} - ?::float8 * interval '1 ms'`;
const pageSize = 32; // rows; each holds at most one flush of events
const runningCondition = 'account_id = ? AND id = ? AND running_until IS NOT NULL';

/** Running responses of all instances, and the events of their streams. */
export class RunRows {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Returns false if the response has ended, been deleted or been declared abandoned. */
  async renew({ accountId, id }: RunKey, leaseMs: number): Promise<boolean> {
    const sql = `UPDATE response_store SET running_until = ${leaseEndSql} WHERE ${runningCondition} RETURNING 1`;
    return (await this.#database.query(sql, [leaseMs, accountId, id])).length > 0;
  }

  async update({ accountId, id }: RunKey, response: JsonObject): Promise<void> {
    const sql = `UPDATE response_store SET response = ? WHERE ${runningCondition}`;
    await this.#database.query(sql, [JSON.stringify(response), accountId, id]);
  }

  /** Has no effect if the response has ended. */
  async append({ accountId, id }: RunKey, { events, last_sequence }: StoredEvents, now: number): Promise<void> {
    await this.#database.query(
      `INSERT INTO response_event (account_id, response_id, last_sequence, events, created_at)
       SELECT account_id, id, ?, ?, ? FROM response_store WHERE ${runningCondition}`,
      [last_sequence, events, toTimestamp(now), accountId, id],
    );
  }

  /**
   * Ends a response with its final object, if it is running.
   *
   * @param finalEvents the events that end its stream, numbered with the placeholders; undefined if already appended
   */
  async end({ accountId, id }: RunKey, response: JsonObject, now: number, finalEvents?: string): Promise<void> {
    const update = `UPDATE response_store SET response = ?, running_until = NULL,
      item_ids = ARRAY(SELECT jsonb_array_elements_text(?::jsonb)) WHERE ${runningCondition} RETURNING account_id, id`;
    const values = [JSON.stringify(response), JSON.stringify(listItemIds(response)), accountId, id];
    if (finalEvents === undefined) {
      await this.#database.query(update, values);
      return;
    }
    await this.#database.query(
      `WITH ended AS (${update}), numbered AS (
         SELECT account_id, id, 1 + coalesce((SELECT max(last_sequence) FROM response_event
           WHERE response_event.account_id = ended.account_id AND response_id = ended.id), -1) AS number FROM ended
       )
       INSERT INTO response_event (account_id, response_id, last_sequence, events, created_at)
       SELECT account_id, id, number + ?, replace(replace(?, '${writeSequence(firstFinalSequence)}', '${writeSequence('')}' || number),
         '${writeSequence(secondFinalSequence)}', '${writeSequence('')}' || (number + 1)), ? FROM numbered`,
      [...values, finalEvents.includes(writeSequence(secondFinalSequence)) ? 1 : 0, finalEvents, toTimestamp(now)],
    );
  }

  async findState({ accountId, id }: RunKey, now: number): Promise<RunState> {
    const [row] = await this.#database.query<{ readonly is_abandoned: boolean | null }>(
      `SELECT running_until < clock_timestamp() AS is_abandoned FROM response_store WHERE account_id = ? AND id = ? AND expires_at > ?`,
      [accountId, id, toTimestamp(now)],
    );
    if (row === undefined) return 'deleted';
    if (row.is_abandoned === null) return 'ended';
    return row.is_abandoned ? 'abandoned' : 'running';
  }

  /** Lists the next events after a sequence number; empty if there are none yet or they have been deleted. */
  async listEventsAfter({ accountId, id }: RunKey, sequence: number): Promise<readonly StoredEvents[]> {
    return this.#database.query<StoredEvents>(
      `SELECT events, last_sequence FROM response_event
       WHERE account_id = ? AND response_id = ? AND last_sequence > ? ORDER BY last_sequence LIMIT ?`,
      [accountId, id, sequence, pageSize],
    );
  }

  /** Up to `pageSize`. Skips responses past `expires_at`, which are deleted in any state. */
  async listAbandoned(now: number): Promise<readonly RunKey[]> {
    return this.#database.query<RunKey>(
      `SELECT account_id AS "accountId", id FROM response_store WHERE running_until < clock_timestamp() AND expires_at > ? LIMIT ?`,
      [toTimestamp(now), pageSize],
    );
  }

  /**
   * Deletes the events of ended responses whose last event is older than `retentionMs` by both clocks, ours (`now`) and the database's. All
   * events are deleted together, because a stream without its first events is useless.
   *
   * @param now epoch ms
   */
  async deleteEvents(now: number, retentionMs: number): Promise<void> {
    const retainedSince = [toTimestamp(now), retentionMs];
    await this.#database.query(
      `DELETE FROM response_event USING response_store WHERE response_event.created_at < ${retainedSinceSql}
       AND response_store.account_id = response_event.account_id AND response_store.id = response_id
       AND running_until IS NULL AND NOT EXISTS (SELECT FROM response_event AS later
         WHERE later.account_id = response_store.account_id AND later.response_id = response_store.id
           AND later.created_at >= ${retainedSinceSql})`,
      [...retainedSince, ...retainedSince],
    );
  }
}
