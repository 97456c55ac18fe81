import { logFailure } from '#core/platform/errors/connection-error.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { JsonObject, JsonValue } from '#core/platform/json.ts';
import { withDeadline } from '#core/platform/timing/deadline.ts';
import { LineThrottle } from '#core/platform/timing/throttle.ts';
import { turnFor } from '#core/platform/timing/turn.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import { unavailable } from './continuation.ts';
import { isContinuable, isStorable, itemIdsOf, type NewRow, ResponseRows, sizeOf } from './rows.ts';
import { responsesSection } from './register.ts';
import { scalarText } from '../../wire/members.ts';

/** Data stored along with the answer to a request. */
export interface Draft {
  readonly accountId: string;
  /** All items before the answer's output. */
  readonly items: readonly JsonValue[];
  /** The response that the request continues. */
  readonly previousId: string | undefined;
}

/** Notes on an answer that could not be stored. */
const tooLarge = 'not stored: the conversation is too large';
const databaseFailed = 'not stored: the database failed';

const deadline = 2_000; // ms that an answer waits for the database before it is sent unstored
const cooldown = 5_000; // ms without another attempt after the database has failed
const remindEvery = 60_000; // ms between log lines about a failing database
const hour = 3_600_000; // ms

export class Recorder {
  readonly #host: Host;
  readonly #quota = new AccountQuota();
  readonly #lines = new LineThrottle(remindEvery);
  #coolingUntil = 0; // ms, monotonic

  constructor(host: Host) {
    this.#host = host;
  }

  get isEnabled(): boolean {
    return this.#host.section(responsesSection).keep_hours > 0;
  }

  /**
   * Stores a response. Resolves to undefined, or to a note on the reason if it could not be stored. Never rejects: the client
   * gets its answer in any case.
   */
  async save(draft: Draft, response: JsonObject): Promise<string | undefined> {
    const { log, database } = this.#host;
    const { max_bytes, max_account_bytes } = this.#host.section(responsesSection);
    const row = await this.#rowOf(draft, response);
    if (row === undefined) return undefined;
    const size = sizeOf(row);
    await turnFor(size);
    if (size > Math.min(max_bytes, max_account_bytes)) {
      log.info(`response ${row.id} is not stored: its conversation has ${size} bytes`);
      return tooLarge;
    }
    if (performance.now() < this.#coolingUntil)
      return this.#reportFailure(row, new Error('the database failed recently'));
    try {
      const saving = this.#quota.save(new ResponseRows(database), row, max_account_bytes);
      await withDeadline(saving, deadline, `the database took more than ${deadline} ms`);
      return undefined;
    } catch (error) {
      this.#coolingUntil = performance.now() + cooldown;
      return this.#reportFailure(row, error);
    }
  }

  /**
   * Stores a background response before it begins.
   *
   * @throws GatewayError `request_too_large`, `unavailable`
   */
  async begin(draft: Draft, response: JsonObject, runningUntil: number): Promise<void> {
    const { max_bytes, max_account_bytes } = this.#host.section(responsesSection);
    const row = await this.#write(draft, response);
    const maxBytes = Math.min(max_bytes, max_account_bytes);
    if (sizeOf(row) > maxBytes)
      throw new GatewayError(
        'request_too_large',
        `The conversation of a background response exceeds ${maxBytes} bytes.`,
      );
    const rows = new ResponseRows(this.#host.database);
    const saving = this.#quota.save(rows, { ...row, runningUntil }, max_account_bytes);
    await withDeadline(saving, deadline, `the database took more than ${deadline} ms`).catch(unavailable);
  }

  /** @returns the note on the response */
  #reportFailure({ id }: NewRow, error: unknown): string {
    const more = this.#lines.pass('storing');
    if (more !== undefined)
      logFailure(this.#host.log, `response ${id} could not be stored; its client cannot continue it${more}`, error);
    return databaseFailed;
  }

  async #rowOf(draft: Draft, response: JsonObject): Promise<NewRow | undefined> {
    return isContinuable(response) && isStorable(response['id']) ? this.#write(draft, response) : undefined;
  }

  /** Serializes long texts in separate turns of the event loop: 31 MB take 50 ms. */
  async #write({ accountId, items, previousId }: Draft, response: JsonObject): Promise<NewRow> {
    const now = this.#host.now();
    const input = JSON.stringify(items);
    await turnFor(input.length);
    const stored = JSON.stringify({ ...response, previous_response_id: previousId ?? null, store: true });
    await turnFor(stored.length);
    return {
      accountId,
      id: scalarText(response['id']),
      input,
      response: stored,
      itemIds: itemIdsOf(response),
      createdAt: now,
      expiresAt: now + this.#host.section(responsesSection).keep_hours * hour,
    };
  }
}

/** Share of its limit that an account may add between two measurements. */
const step = 1 / 64;
/** Accounts whose additions are remembered. */
const maxAccounts = 10_000;

/**
 * Keeps the stored responses of an account within its limit. Measuring reads the size of every row of the account, so it is
 * done only once per added 64th of the limit, and frees that much space in advance. Each process may add its own 64th.
 */
export class AccountQuota {
  /** Bytes saved since the last measurement, by account. An account without an entry must be measured. */
  readonly #added = new Map<string, number>();

  /** @param bound maximum bytes of all rows of the account together */
  async save(rows: ResponseRows, row: NewRow, bound: number): Promise<void> {
    const { accountId } = row;
    const size = sizeOf(row);
    const spare = Math.floor(bound * step);
    const added = (this.#added.get(accountId) ?? Infinity) + size;
    if (added <= spare) {
      this.#added.set(accountId, added);
      return rows.save(row);
    }
    this.#added.delete(accountId);
    const isWithin = await rows.saveWithin(row, Math.max(0, bound - spare - size));
    if (!isWithin) return;
    if (this.#added.size >= maxAccounts) this.#added.clear();
    this.#added.set(accountId, 0);
  }
}
