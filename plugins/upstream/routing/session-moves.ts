import type { Host } from '#core/gateway/host/host.ts';
import { isJsonObject, parseObject } from '#core/platform/json.ts';
import { retryUntilDone } from '#core/platform/timing/backoff.ts';

/** Reports that a session moved away from its derived place, or back to it. Contains no name of a session, account or key. */
export interface SessionMove {
  /** Digest of the session. */
  readonly session: string;
  /** Route and digest of the key; undefined for the derived place. */
  readonly place: { readonly routeId: string; readonly key: string } | undefined;
  /** How many seconds the session's prompt probably stays cached in this place. */
  readonly seconds: number;
}

const channel = 'upstream/sessions';

type SessionMovesHost = Pick<Host, 'instance' | 'shared' | 'log'>;

/**
 * Sends moves to the other instances, so that a conversation served by several instances moves only once. Requests do not wait for the
 * messages. A lost message costs one turn without a cached prompt.
 */
export class SessionMoves implements AsyncDisposable {
  onMove: (move: SessionMove) => void = () => undefined;
  readonly #host: SessionMovesHost;
  readonly #closing = new AbortController();
  readonly #subscription: Promise<(() => void) | undefined> | undefined;

  constructor(host: SessionMovesHost) {
    this.#host = host;
    if (host.shared.kind === 'redis') this.#subscription = this.#subscribe();
  }

  send(move: SessionMove): void {
    const { shared, instance } = this.#host;
    if (this.#subscription === undefined) return;
    shared.events.publish(channel, JSON.stringify({ instance, ...move })).catch(() => undefined);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    (await this.#subscription)?.();
  }

  #subscribe(): Promise<(() => void) | undefined> {
    const subscribe = () => this.#host.shared.events.subscribe(channel, (message) => this.#receive(message));
    return retryUntilDone(subscribe, { signal: this.#closing.signal, onFailure: () => undefined });
  }

  #receive(message: string): void {
    const { instance, session, place, seconds } = parseObject(message) ?? {};
    if (instance === this.#host.instance || typeof session !== 'string' || typeof seconds !== 'number') return;
    const { routeId, key } = isJsonObject(place) ? place : {};
    const isPlace = typeof routeId === 'string' && typeof key === 'string';
    this.onMove({ session, place: isPlace ? { routeId, key } : undefined, seconds });
  }
}
