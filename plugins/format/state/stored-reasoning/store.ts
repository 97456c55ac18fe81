import { createHash } from 'node:crypto';
import type { Model } from '#core/config/catalog/catalog.ts';
import { principal } from '#core/gateway/facts.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import { bounds } from '#core/platform/bounds.ts';
import { isJsonObject, type JsonObject, parseObject } from '#core/platform/json.ts';
import type { GroupLimits } from '#core/platform/shared/shared.ts';
import { withDeadline } from '#core/platform/timing/deadline.ts';
import { Throttle } from '#core/platform/timing/throttle.ts';
import type { CompleteReply } from '../../canonical/reply.ts';
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
import type { ClientRequest } from '../../request/client-request.ts';
import { serializeFirstUserMessage } from '../../request/session.ts';
import { findReasoningToStore } from './reasoning-to-store.ts';

const deadlineMs = 50; // how long a request waits for the reasoning from earlier turns
const warnIntervalMs = 60_000; // time between warnings about a failing store
const secondsPerHour = 3_600;

/**
 * Stores the reasoning before tool calls for clients whose format cannot carry it. The calls that a client sends
 * back identify the reasoning to restore. Entries are kept per account. If reasoning is lost, the conversation continues without it.
 */
export class ReasoningStore {
  readonly #host: Host;
  readonly #limits: GroupLimits;
  readonly #warningThrottle = new Throttle(warnIntervalMs);

  /** @param retentionHours 0 to store no reasoning */
  constructor(host: Host, retentionHours: number) {
    this.#host = host;
    const { storedReasonings: entries, accountReasoning: bytes } = bounds;
    this.#limits = { seconds: retentionHours * secondsPerHour, entries, bytes };
  }

  /**
   * Attaches stored reasoning to a request, to restore that of earlier turns and to store the reply's. Only queries the store if the
   * history has calls whose reasoning a route of the model accepts and the client did not send back; otherwise synchronous.
   */
  attachReasoning(exchange: Exchange, request: ClientRequest, model: Model): ClientRequest | Promise<ClientRequest> {
    const { format, outline, purpose } = request;
    const accountId = exchange.find(principal)?.accountId;
    const { findHistoryCalls, hidesReasoning } = format.client.text ?? {};
    const clientReturnsReasoning = hidesReasoning?.(outline) === false;
    const isDisabled = this.#limits.seconds === 0 || accountId === undefined || purpose !== 'answer';
    if (isDisabled || clientReturnsReasoning || findHistoryCalls === undefined || !Array.isArray(outline['tools']))
      return request;
    const reasoningToStore = findReasoningToStore(model, request);
    if (!reasoningToStore.includesState && !reasoningToStore.includesText) return request;
    const { body } = request;
    const calls = findHistoryCalls(body, reasoningToStore.includesState);
    const reasoning = new ConversationReasoning(body, calls, (entries) => this.#saveEntries(accountId, entries));
    const entryNames = reasoning.listEntryNames();
    if (entryNames.length === 0) return request.with({ storedReasoning: reasoning });
    return this.#findEntries(accountId, entryNames).then((entries) =>
      request.with({ storedReasoning: reasoning.addEntries(entries) }),
    );
  }

  async #findEntries(accountId: string, names: readonly string[]): Promise<ReadonlyMap<string, Buffer>> {
    try {
      const finding = this.#host.shared.groups.get(groupOf(accountId), names);
      return await withDeadline(finding, deadlineMs, `shared state took more than ${deadlineMs} ms`);
    } catch (error) {
      this.#warn('restore the reasoning from earlier turns', error);
      return new Map();
    }
  }

  #saveEntries(accountId: string, entries: ReadonlyMap<string, Buffer>): void {
    this.#host.shared.groups
      .set(groupOf(accountId), entries, this.#limits)
      .catch((error) => this.#warn('store reasoning', error));
  }

  #warn(action: string, error: unknown): void {
    if (!this.#warningThrottle.tryPass()) return;
    const reason = error instanceof Error ? error.message : String(error);
    this.#host.log.warn(`could not ${action}: ${reason}`);
  }
}

/** The thoughts before one of several equal calls. */
type CallThoughts = readonly StoredThought[];

class ConversationReasoning implements StoredReasoning {
  #thoughtsByEntryName: ReadonlyMap<string, readonly CallThoughts[]> = new Map();
  readonly #conversationDigest: string;
  readonly #history: readonly HistoryCall[];
  #historyCounts: Map<string, number> | undefined;
  readonly #saveEntries: (entries: ReadonlyMap<string, Buffer>) => void;

  constructor(
    body: JsonObject,
    history: readonly HistoryCall[],
    saveEntries: (entries: ReadonlyMap<string, Buffer>) => void,
  ) {
    this.#conversationDigest = computeDigest(serializeFirstUserMessage(body));
    this.#history = history;
    this.#saveEntries = saveEntries;
  }

  get hasStored(): boolean {
    return this.#thoughtsByEntryName.size > 0;
  }

  listEntryNames(): string[] {
    const callsWithoutReasoning = this.#history
      .filter(({ lacksReasoning }) => lacksReasoning)
      .slice(-bounds.restoredCalls);
    return [...new Set(callsWithoutReasoning.map((call) => this.#createEntryName(call)))];
  }

  addEntries(entries: ReadonlyMap<string, Buffer>): this {
    this.#thoughtsByEntryName = new Map([...entries].map(([name, stored]) => [name, decodeThoughts(stored)]));
    return this;
  }

  findBefore(calls: readonly CallIdentity[]): (readonly Thought[])[] {
    if (!this.hasStored) return calls.map(() => []);
    const counts = new Map<string, number>();
    return calls
      .toReversed()
      .map((call) => {
        const name = this.#createEntryName(call);
        const positionFromEnd = (counts.get(name) ?? 0) + 1;
        counts.set(name, positionFromEnd);
        return readThoughts(this.#thoughtsByEntryName.get(name)?.at(-positionFromEnd) ?? []);
      })
      .toReversed();
  }

  store(reply: CompleteReply): void {
    const entries = new Map<string, readonly CallThoughts[]>();
    for (const [call, thoughts] of listThoughtsByCall(reply)) {
      const name = this.#createEntryName(call);
      const thoughtsPerCall = entries.get(name) ?? this.#findEarlierThoughts(name);
      if (thoughts.length > 0 || thoughtsPerCall.some(({ length }) => length > 0))
        entries.set(name, [...thoughtsPerCall, thoughts]);
    }
    const encodedEntries = [...entries].flatMap(([name, thoughtsPerCall]) => {
      const encodedEntry = encodeThoughts(thoughtsPerCall);
      return encodedEntry === undefined ? [] : [[name, encodedEntry] as const];
    });
    if (encodedEntries.length > 0) this.#saveEntries(new Map(encodedEntries));
  }

  /** The list has one element per equal call of the history, in order. */
  #findEarlierThoughts(name: string): readonly CallThoughts[] {
    this.#historyCounts ??= countNames(this.#history.map((call) => this.#createEntryName(call)));
    const count = this.#historyCounts.get(name) ?? 0;
    const storedThoughts = count === 0 ? [] : (this.#thoughtsByEntryName.get(name) ?? []).slice(-count);
    return [...Array.from({ length: count - storedThoughts.length }, (): CallThoughts => []), ...storedThoughts];
  }

  #createEntryName({ id, name, input }: CallIdentity): string {
    // Some vendors only number their calls, so ids repeat across conversations and turns.
    return computeDigest([this.#conversationDigest, id, name, normalizeInput(input)].join('\n'));
  }
}

function countNames(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

function decodeThoughts(stored: Buffer): CallThoughts[] {
  // Another gateway version may have written a different form.
  const turns = parseObject(stored.toString())?.['turns'];
  return (Array.isArray(turns) ? turns : []).map((turn) =>
    (Array.isArray(turn) ? turn : []).filter(isJsonObject).map((thought) => thought as unknown as StoredThought),
  );
}

/** Drops the oldest thoughts until the entry fits; undefined if the latest alone are too large. */
function encodeThoughts(thoughtsPerCall: readonly CallThoughts[]): Buffer | undefined {
  const keptThoughts = [...thoughtsPerCall];
  for (const index of thoughtsPerCall.keys()) {
    const encodedEntry = Buffer.from(JSON.stringify({ turns: keptThoughts }));
    if (encodedEntry.length <= bounds.storedReasoning) return encodedEntry;
    keptThoughts[index] = [];
  }
  return undefined;
}

function computeDigest(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22); // 132 bits
}

function groupOf(accountId: string): string {
  return `reasoning:${accountId}`;
}
