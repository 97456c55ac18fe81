import type { SectionValue } from '#core/config/section.ts';
import type { Host } from '#core/host.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import { withDeadline } from '#core/timing/deadline.ts';
import type { AccountRoom } from './account-room.ts';
import { isStorable, type NewRow, outputOf, ResponseRows, sizeOf } from './rows.ts';
import type { responsesSection } from './section.ts';

/** What a request has to do with the store, known before it is answered. */
export interface Draft {
  readonly accountId: string | undefined;
  /** Everything before the answer's output. */
  readonly items: readonly JsonValue[];
  /** The response that it continues. */
  readonly previousId: string | undefined;
  /** False when the client wants nothing to be kept. */
  readonly isWanted: boolean;
}

/** What client and record are told of an answer that was to be kept, and is not. */
export const tooLarge = 'not stored: the conversation is too large to be continued by its id';
const databaseFailed = 'not stored: the database failed';

/** Ms that an answer waits for the database before it goes out without being kept. */
const deadline = 2_000;
/** Ms for which no answer waits after one has waited in vain. */
const restAfterFailure = 5_000;
const hour = 3_600_000; // ms
/** Answers that can be continued. Failed ones cannot. */
const continuable = new Set<JsonValue | undefined>(['completed', 'incomplete']);
const previousIdName = '"previous_response_id"';
const noPreviousId = /("previous_response_id"\s*:\s*)null/g;
const responseName = /"object"\s*:\s*"response"/;
/** Between two events; a whole answer has no line that is empty. */
const eventEnd = /(?<=\n\r?\n)/;

/** What the answers of all requests know of the database together. */
export interface Shared {
  readonly rest: { until: number }; // ms, monotonic
  readonly room: AccountRoom;
}

/** Keeps the answer to one request. */
export class Recorder {
  /** Bytes beyond which nothing is kept. */
  readonly maxBytes: number;
  readonly #host: Host;
  readonly #draft: Draft;
  readonly #keepHours: number;
  readonly #maxAccountBytes: number;
  readonly #shared: Shared;

  constructor(host: Host, draft: Draft, options: SectionValue<typeof responsesSection>, shared: Shared) {
    this.maxBytes = Math.min(options.max_bytes, options.max_account_bytes);
    this.#host = host;
    this.#draft = draft;
    this.#keepHours = options.keep_hours;
    this.#maxAccountBytes = options.max_account_bytes;
    this.#shared = shared;
  }

  get hasWork(): boolean {
    return this.keeps || this.#draft.previousId !== undefined;
  }

  get keeps(): boolean {
    return this.#draft.isWanted && this.#draft.accountId !== undefined && this.#keepHours > 0;
  }

  /** The upstream does not know what was continued: its answers, whole or events, say null, or nothing. */
  readonly withPreviousId = (text: string): string => {
    const { previousId } = this.#draft;
    if (previousId === undefined) return text;
    const id = JSON.stringify(previousId);
    return text
      .split(eventEnd)
      .map((event) => namePrevious(event, id))
      .join('');
  };

  get isContinued(): boolean {
    return this.#draft.previousId !== undefined;
  }

  /**
   * Resolves when the response is kept, or is not going to be: with a note, if it was to be. Never rejects: the answer
   * counts for more.
   */
  async save(response: JsonObject): Promise<string | undefined> {
    const { log, database } = this.#host;
    const { rest, room } = this.#shared;
    const row = this.#rowOf(response);
    if (row === undefined) return undefined;
    const size = sizeOf(row);
    if (size > this.maxBytes) {
      log.info(`response ${row.id} is not stored: it has ${size} bytes with its conversation`);
      return tooLarge;
    }
    if (performance.now() < rest.until) {
      log.warn(`response ${row.id} is not stored: the database has just failed`);
      return databaseFailed;
    }
    try {
      const saved = room.save(new ResponseRows(database), row, this.#maxAccountBytes);
      await withDeadline(saved, deadline, `the database took more than ${deadline} ms`);
      return undefined;
    } catch (error) {
      rest.until = performance.now() + restAfterFailure;
      log.error(`response ${row.id} could not be stored; its client cannot continue it`, error);
      return databaseFailed;
    }
  }

  #rowOf(response: JsonObject): NewRow | undefined {
    const { accountId, items, previousId } = this.#draft;
    const { id, status } = response;
    if (!this.keeps || accountId === undefined || !continuable.has(status) || !isStorable(id)) return undefined;
    const now = this.#host.now();
    const kept = { ...response, previous_response_id: previousId ?? null, store: true };
    return {
      accountId,
      id,
      input: JSON.stringify(items),
      response: JSON.stringify(kept),
      itemIds: outputOf(response).flatMap((item) => (isJsonObject(item) && isStorable(item['id']) ? [item['id']] : [])),
      createdAt: now,
      expiresAt: now + this.#keepHours * hour,
    };
  }
}

/** Inside of strings quotes are escaped, and so not met. */
function namePrevious(text: string, id: string): string {
  if (text.includes(previousIdName)) return text.replaceAll(noPreviousId, (_, name: string) => name + id);
  return text.replace(responseName, (object) => `${object},${previousIdName}:${id}`);
}
