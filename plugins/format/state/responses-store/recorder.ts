import type { Host } from '#core/gateway/host/host.ts';
import { logFailure } from '#core/platform/errors/connection-error.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import type { JsonObject, JsonValue } from '#core/platform/json.ts';
import { withDeadline } from '#core/platform/timing/deadline.ts';
import { LineThrottle } from '#core/platform/timing/throttle.ts';
import { yieldIfLong } from '#core/platform/timing/turn.ts';
import { scalarToText } from '../../wire/members.ts';
import { throwUnavailable } from './continuation.ts';
import { responsesSection } from './register.ts';
import { isContinuable, isStorable, listItemIds, type NewRow, ResponseRows, countRowBytes } from './rows.ts';

export interface ResponseDraft {
  readonly accountId: string;
  /** All items before the answer's output. */
  readonly items: readonly JsonValue[];
  readonly previousId: string | undefined;
}

const tooLargeNote = 'not stored: the conversation is too large';
const databaseFailedNote = 'not stored: the database failed';

const deadlineMs = 2_000; // how long an answer waits for the database before it is sent without being stored
const cooldownMs = 5_000; // how long to skip storing after a database failure
const reminderIntervalMs = 60_000; // how often a failing database is logged
const hourMs = 3_600_000;

/** Stores responses. If the database fails, answers are sent without being stored. */
export class Recorder {
  readonly #host: Host;
  readonly #quota = new AccountQuota();
  readonly #logThrottle = new LineThrottle(reminderIntervalMs);
  #cooldownUntil = 0; // ms, monotonic

  constructor(host: Host) {
    this.#host = host;
  }

  get isEnabled(): boolean {
    return this.#host.section(responsesSection).keep_hours > 0;
  }

  /**
   * Never rejects, so that the client always gets its answer. Returns a note if the response could not be stored; undefined if it was
   * stored or need not be.
   */
  async save(draft: ResponseDraft, response: JsonObject): Promise<string | undefined> {
    const { log, database } = this.#host;
    const { max_bytes, max_account_bytes } = this.#host.section(responsesSection);
    if (!isContinuable(response) || !isStorable(response['id'])) return undefined;
    const row = await this.#createRow(draft, response);
    const size = countRowBytes(row);
    await yieldIfLong(size);
    if (size > Math.min(max_bytes, max_account_bytes)) {
      log.info(`response ${row.id} is not stored: its conversation has ${size} bytes`);
      return tooLargeNote;
    }
    if (performance.now() < this.#cooldownUntil)
      return this.#reportFailure(row, new Error('the database failed recently'));
    try {
      const saving = this.#quota.save(new ResponseRows(database), row, max_account_bytes);
      await withDeadline(saving, deadlineMs, `the database took more than ${deadlineMs} ms`);
      return undefined;
    } catch (error) {
      this.#cooldownUntil = performance.now() + cooldownMs;
      return this.#reportFailure(row, error);
    }
  }

  /**
   * Stores a background response before it runs.
   *
   * @throws GatewayError `request_too_large`, `unavailable`
   */
  async saveQueued(draft: ResponseDraft, response: JsonObject, leaseMs: number): Promise<void> {
    const { max_bytes, max_account_bytes } = this.#host.section(responsesSection);
    const row = await this.#createRow(draft, response);
    const maxBytes = Math.min(max_bytes, max_account_bytes);
    if (countRowBytes(row) > maxBytes)
      throw new GatewayError(
        'request_too_large',
        `The conversation of a background response exceeds ${maxBytes} bytes.`,
      );
    const rows = new ResponseRows(this.#host.database);
    const saving = this.#quota.save(rows, { ...row, leaseMs }, max_account_bytes);
    await withDeadline(saving, deadlineMs, `the database took more than ${deadlineMs} ms`).catch(throwUnavailable);
  }

  #reportFailure({ id }: NewRow, error: unknown): string {
    const suffix = this.#logThrottle.admit('storing');
    if (suffix !== undefined)
      logFailure(this.#host.log, `response ${id} could not be stored; its client cannot continue it${suffix}`, error);
    return databaseFailedNote;
  }

  /** Yields to the event loop between long serializations, because 31 MB takes 50 ms. */
  async #createRow({ accountId, items, previousId }: ResponseDraft, response: JsonObject): Promise<NewRow> {
    const now = this.#host.now();
    const inputJson = JSON.stringify(items);
    await yieldIfLong(inputJson.length);
    const responseJson = JSON.stringify({ ...response, previous_response_id: previousId ?? null, store: true });
    await yieldIfLong(responseJson.length);
    return {
      accountId,
      id: scalarToText(response['id']),
      input: inputJson,
      response: responseJson,
      itemIds: listItemIds(response),
      createdAt: now,
      expiresAt: now + this.#host.section(responsesSection).keep_hours * hourMs,
    };
  }
}

const measuringShare = 1 / 64;
const maxAccounts = 10_000;

/**
 * Keeps an account's stored responses within its limit. Measuring reads the size of every row of the account. An account is therefore
 * measured only after it has added 1/64 of its limit, and each measurement frees that much space ahead of time. Every process counts
 * separately, so the limit can be exceeded by 1/64 per additional process.
 */
export class AccountQuota {
  /** Bytes added since the last measurement, by account. An account without an entry must be measured. */
  readonly #addedBytes = new Map<string, number>();

  /** @param maxBytes the maximum total size of the account's rows */
  async save(rows: ResponseRows, row: NewRow, maxBytes: number): Promise<void> {
    const { accountId } = row;
    const size = countRowBytes(row);
    const maxUnmeasuredBytes = Math.floor(maxBytes * measuringShare);
    const addedBytes = (this.#addedBytes.get(accountId) ?? Infinity) + size;
    if (addedBytes <= maxUnmeasuredBytes) {
      this.#addedBytes.set(accountId, addedBytes);
      return rows.save(row);
    }
    this.#addedBytes.delete(accountId);
    const isWithinLimit = await rows.saveWithin(row, Math.max(0, maxBytes - maxUnmeasuredBytes - size));
    // The row is saved, but older ones may still exceed the limit. The next save measures again.
    if (!isWithinLimit) return;
    if (this.#addedBytes.size >= maxAccounts) this.#addedBytes.clear();
    this.#addedBytes.set(accountId, 0);
  }
}
