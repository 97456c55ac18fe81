import { createHash } from 'node:crypto';
import { bounds } from '#core/platform/bounds.ts';
import type { Model } from '#core/config/catalog/catalog.ts';
import { principal } from '#core/gateway/facts.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { JsonObject } from '#core/platform/json.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import type { GroupLimits } from '#core/platform/shared/shared.ts';
import { withDeadline } from '#core/platform/timing/deadline.ts';
import { Throttle } from '#core/platform/timing/throttle.ts';
import { type KeptReasoning, readThoughts, type Thought, thoughtsBeforeCalls } from '../../canonical/kept-reasoning.ts';
import type { CompleteReply } from '../../canonical/reply.ts';
import { isClientTextFormat } from '../../formats/contract/descriptor.ts';
import type { ClientRequest } from '../../request/client-request.ts';
import { firstQuestionOf } from '../../request/session.ts';
import { routesWith } from './restore.ts';

/** Ms that a request waits for the reasoning of its history. */
const deadline = 50;
/** Ms between warnings about a store that fails. */
const warnInterval = 60_000;
const hour = 3_600; // seconds

/**
 * Keeps the reasoning before tool calls for clients whose format has no place for it, and finds it by the ids of the
 * calls when the client sends them back. Each account reads only its own. If it is lost, the conversation continues without
 * it.
 */
export class ReasoningStore {
  readonly #host: Host;
  readonly #limits: GroupLimits;
  readonly #warning = new Throttle(warnInterval);

  /** @param hours that reasoning is kept; 0 keeps none */
  constructor(host: Host, hours: number) {
    this.#host = host;
    const { keptReasonings: entries, accountReasoning: bytes } = bounds;
    this.#limits = { seconds: hours * hour, entries, bytes };
  }

  /**
   * The request with what is kept for it. Asks the store only when there are calls in the history whose reasoning a
   * route of the model wants and the client has not returned.
   */
  open(exchange: Exchange, request: ClientRequest, model: Model): ClientRequest | Promise<ClientRequest> {
    const { format, outline, purpose } = request;
    const accountId = exchange.find(principal)?.accountId;
    const callsWithoutReasoning = isClientTextFormat(format) ? format.client.text.callsWithoutReasoning : undefined;
    const isOff = this.#limits.seconds === 0 || accountId === undefined || purpose !== 'answer';
    if (isOff || callsWithoutReasoning === undefined || !Array.isArray(outline['tools'])) return request;
    const routes = routesWith(model, request);
    if (!routes.withState && !routes.withText) return request;
    const { body } = request;
    const kept = new KeptCalls(body, (entries) => this.#keep(accountId, entries));
    const ids = callsWithoutReasoning(body, routes.withState).slice(-bounds.restoredCalls);
    if (ids.length === 0) return request.with({ kept });
    return this.#find(accountId, kept.names(ids)).then((found) => {
      kept.found = found;
      return request.with({ kept });
    });
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

/** The kept reasoning of one request. */
class KeptCalls implements KeptReasoning {
  found: ReadonlyMap<string, Buffer> = new Map();
  readonly #body: JsonObject;
  #conversation: string | undefined;
  readonly #store: (entries: ReadonlyMap<string, Buffer>) => void;

  constructor(body: JsonObject, store: (entries: ReadonlyMap<string, Buffer>) => void) {
    this.#body = body;
    this.#store = store;
  }

  names(callIds: readonly string[]): string[] {
    return callIds.map((id) => this.#nameOf(id));
  }

  before(callId: string): readonly Thought[] {
    const stored = this.found.size === 0 ? undefined : this.found.get(this.#nameOf(callId));
    return stored === undefined ? [] : readThoughts(stored);
  }

  keep(reply: CompleteReply): void {
    const entries = new Map<string, Buffer>();
    for (const [id, thoughts] of thoughtsBeforeCalls(reply)) {
      if (thoughts.length <= bounds.keptReasoning) entries.set(this.#nameOf(id), thoughts);
    }
    if (entries.size > 0) this.#store(entries);
  }

  /** Some vendors only number their calls, so that ids repeat in other conversations of the account. */
  #nameOf(callId: string): string {
    this.#conversation ??= digest(firstQuestionOf(this.#body));
    return digest(`${this.#conversation}\n${callId}`);
  }
}

/** 128 bits. */
function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}

function groupOf(accountId: string): string {
  return `reasoning:${accountId}`;
}
