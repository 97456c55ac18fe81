import { createHash } from 'node:crypto';
import { bounds } from '#core/platform/bounds.ts';
import type { Model } from '#core/config/catalog/catalog.ts';
import { principal } from '#core/gateway/facts.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { isJsonObject, type JsonObject, parseObject } from '#core/platform/json.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import type { GroupLimits } from '#core/platform/shared/shared.ts';
import { withDeadline } from '#core/platform/timing/deadline.ts';
import { Throttle } from '#core/platform/timing/throttle.ts';
import {
  normalizeInput,
  type HistoryCall,
  type CallIdentity,
  type StoredReasoning,
  readThoughts,
  type StoredThought,
  type Thought,
  listThoughtsByCall,
} from '../../canonical/stored-reasoning.ts';
import type { CompleteReply } from '../../canonical/reply.ts';
import type { ClientRequest } from '../../request/client-request.ts';
import { writeFirstQuestion } from '../../request/session.ts';
import { routesWith } from './restore.ts';

const deadline = 50; // ms that a request waits for the reasoning of its history
const warnInterval = 60_000; // ms between warnings about a failing store
const hour = 3_600; // seconds

/**
 * Stores the reasoning before tool calls for clients whose format cannot carry it, and finds it by the calls when the client
 * sends them back. Entries are separate for each account. If reasoning is lost, the conversation continues without it.
 */
export class ReasoningStore {
  readonly #host: Host;
  readonly #limits: GroupLimits;
  readonly #warning = new Throttle(warnInterval);

  /** @param hours retention of reasoning; 0 to store none */
  constructor(host: Host, hours: number) {
    this.#host = host;
    const { keptReasonings: entries, accountReasoning: bytes } = bounds;
    this.#limits = { seconds: hours * hour, entries, bytes };
  }

  /**
   * Adds the stored reasoning to a request. Queries the store only if the history has calls whose reasoning a route of the
   * model accepts and the client did not send back.
   */
  open(exchange: Exchange, request: ClientRequest, model: Model): ClientRequest | Promise<ClientRequest> {
    const { format, outline, purpose } = request;
    const accountId = exchange.find(principal)?.accountId;
    const { findHistoryCalls: callsOf, hidesReasoning } = format.client.text ?? {};
    const isReturned = hidesReasoning?.(outline) === false;
    const isOff = this.#limits.seconds === 0 || accountId === undefined || purpose !== 'answer';
    if (isOff || isReturned || callsOf === undefined || !Array.isArray(outline['tools'])) return request;
    const routes = routesWith(model, request);
    if (!routes.withState && !routes.withText) return request;
    const { body } = request;
    const calls = callsOf(body, routes.withState);
    const kept = new KeptCalls(body, calls, (entries) => this.#keep(accountId, entries));
    const names = kept.names();
    if (names.length === 0) return request.with({ kept });
    return this.#find(accountId, names).then((found) => request.with({ kept: kept.take(found) }));
  }

  async #find(accountId: string, names: readonly string[]): Promise<ReadonlyMap<string, Buffer>> {
    try {
      const found = this.#host.shared.groups.get(groupOf(accountId), names);
      return await withDeadline(found, deadline, `shared state took more than ${deadline} ms`);
    } catch (error) {
      this.#warn(error);
      return new Map();
    }
  }

  #keep(accountId: string, entries: ReadonlyMap<string, Buffer>): void {
    this.#host.shared.groups.set(groupOf(accountId), entries, this.#limits).catch((error) => this.#warn(error));
  }

  #warn(error: unknown): void {
    if (!this.#warning.pass()) return;
    const reason = error instanceof Error ? error.message : String(error);
    this.#host.log.warn(`reasoning of earlier turns is not restored: ${reason}`);
  }
}

class KeptCalls implements StoredReasoning {
  #found: ReadonlyMap<string, readonly Turn[]> = new Map();
  readonly #conversation: string;
  readonly #history: readonly HistoryCall[];
  #counts: Map<string, number> | undefined;
  readonly #store: (entries: ReadonlyMap<string, Buffer>) => void;

  constructor(
    body: JsonObject,
    history: readonly HistoryCall[],
    store: (entries: ReadonlyMap<string, Buffer>) => void,
  ) {
    this.#conversation = digest(writeFirstQuestion(body));
    this.#history = history;
    this.#store = store;
  }

  get hasFound(): boolean {
    return this.#found.size > 0;
  }

  /** Names of the entries for calls whose reasoning the client did not send back. */
  names(): string[] {
    const bare = this.#history.filter(({ lacksReasoning }) => lacksReasoning).slice(-bounds.restoredCalls);
    return [...new Set(bare.map((call) => this.#nameOf(call)))];
  }

  take(entries: ReadonlyMap<string, Buffer>): this {
    this.#found = new Map([...entries].map(([name, stored]) => [name, readTurns(stored)]));
    return this;
  }

  findBefore(calls: readonly CallIdentity[]): (readonly Thought[])[] {
    if (!this.hasFound) return calls.map(() => []);
    const counts = new Map<string, number>();
    return calls
      .toReversed()
      .map((call) => {
        const name = this.#nameOf(call);
        const fromEnd = (counts.get(name) ?? 0) + 1;
        counts.set(name, fromEnd);
        return readThoughts(this.#found.get(name)?.at(-fromEnd) ?? []);
      })
      .toReversed();
  }

  store(reply: CompleteReply): void {
    const entries = new Map<string, readonly Turn[]>();
    for (const [call, thoughts] of listThoughtsByCall(reply)) {
      const name = this.#nameOf(call);
      const turns = entries.get(name) ?? this.#earlier(name);
      if (thoughts.length > 0 || turns.some(({ length }) => length > 0)) entries.set(name, [...turns, thoughts]);
    }
    const written = [...entries].flatMap(([name, turns]) => {
      const bytes = writeTurns(turns);
      return bytes === undefined ? [] : [[name, bytes] as const];
    });
    if (written.length > 0) this.#store(new Map(written));
  }

  /** Stored thoughts of equal calls in the history: one element for each call, in order. */
  #earlier(name: string): readonly Turn[] {
    this.#counts ??= countEqual(this.#history.map((call) => this.#nameOf(call)));
    const count = this.#counts.get(name) ?? 0;
    const turns = count === 0 ? [] : (this.#found.get(name) ?? []).slice(-count);
    return [...Array.from({ length: count - turns.length }, (): Turn => []), ...turns];
  }

  /** Some vendors only number their calls: ids repeat in other conversations of the account and in other turns. */
  #nameOf({ id, name, input }: CallIdentity): string {
    return digest([this.#conversation, id, name, normalizeInput(input)].join('\n'));
  }
}

function countEqual(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

/** The thoughts before one of several equal calls. */
type Turn = readonly StoredThought[];

/** Empty for an entry that another version of the gateway wrote in a different form. */
function readTurns(stored: Buffer): Turn[] {
  const turns = parseObject(stored.toString())?.['turns'];
  return (Array.isArray(turns) ? turns : []).map((turn) =>
    (Array.isArray(turn) ? turn : []).filter(isJsonObject).map((thought) => thought as unknown as StoredThought),
  );
}

/** Drops the oldest turns that do not fit; undefined if the last turn alone is too large. */
function writeTurns(turns: readonly Turn[]): Buffer | undefined {
  for (let kept = turns; ;) {
    const bytes = Buffer.from(JSON.stringify({ turns: kept }));
    if (bytes.length <= bounds.keptReasoning) return bytes;
    const oldest = kept.findIndex(({ length }) => length > 0);
    if (oldest === -1 || oldest === kept.length - 1) return undefined;
    kept = kept.with(oldest, []);
  }
}

/** More than 128 bits. */
function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}

function groupOf(accountId: string): string {
  return `reasoning:${accountId}`;
}
