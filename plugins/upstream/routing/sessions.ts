import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Model, Route } from '#core/config/catalog/catalog.ts';
import { adapter } from '#core/gateway/facts.ts';
import { digestKey } from '#core/gateway/model-call/key-digest.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import { bounds } from '#core/platform/bounds.ts';
import { getAccountId, readAccountSession } from './conversation.ts';
import { orderRoutes, pickBySession } from './route-order.ts';
import type { SessionMove, SessionMoves } from './session-moves.ts';

/** How long vendors document that they keep an idle prompt cached; `default` is the shortest time of Anthropic and OpenAI. */
const promptCacheSeconds = { default: 300, byVendor: new Map([['deepseek', 3_600]]) } as const;

interface SessionPlace {
  readonly routeId: string;
  readonly key: string;
}

/** Place to which a session moved. `key` is a digest, as sent to other instances. */
interface MovedPlace extends SessionPlace {
  readonly until: number; // ms
  readonly sentAt: number; // ms; when the other instances were last notified
}

interface SessionsParts {
  secret(): string | undefined;
  monotonic(): number; // ms
  readonly moves?: Pick<SessionMoves, 'send' | 'onMove'>; // missing if there are no other instances
}

/**
 * Sessions of requests. All turns of a conversation share a session, and go to the same route and key, where the vendor has cached their
 * prompt. The client may name the session; if it does not, the name is a checksum of the first user message, which is the same on all
 * instances.
 *
 * The order of routes and the key are derived from the name, so only deviations are stored. Sessions with a request in flight are stored in
 * this process, and their other requests are spread over the routes. Sessions that moved to another place are stored on all instances, and
 * stay there while their prompt is probably cached.
 */
export class CallSessions {
  readonly #parts: SessionsParts;
  readonly #activeLeases = new Map<string, SessionLease>();
  /** Places that differ from the derived place, by session digest. */
  readonly #movedPlaces = new Map<string, MovedPlace>();

  constructor(parts: SessionsParts) {
    this.#parts = parts;
    if (parts.moves !== undefined) parts.moves.onMove = (move) => this.#applyMove(move);
  }

  get movedCount(): number {
    return this.#movedPlaces.size;
  }

  /**
   * Creates the session lease of a request. Undefined if there is only one place to choose, or if all sessions of the request are in use.
   */
  createLease(exchange: Exchange): SessionLease | undefined {
    const { model, isConversation, isBound = false } = exchange.get(adapter);
    if (isConversation !== true || !hasChoice(model)) return undefined;
    return (
      this.#tryCreateLease(readAccountSession(exchange), model, isBound) ??
      this.#tryCreateLease(this.#deriveSession(exchange), model)
    );
  }

  /** Returns the recent place of a session if it differs from the derived place. */
  findPlace(lease: SessionLease, routes: readonly Route[]): SessionPlace | undefined {
    if (this.#movedPlaces.size === 0) return undefined;
    const movedPlace = this.#movedPlaces.get(lease.digest);
    if (movedPlace === undefined) return undefined;
    if (movedPlace.until <= this.#parts.monotonic()) {
      this.#movedPlaces.delete(lease.digest);
      return undefined;
    }
    const route = routes.find((candidate) => candidate.id === movedPlace.routeId);
    if (route === undefined) return undefined;
    const key = listKeys(route).find((candidate) => digestKey(route.upstream, candidate) === movedPlace.key);
    return { routeId: route.id, key: key ?? '' };
  }

  recordPlace(lease: SessionLease, route: Route, key: string): void {
    const isDerivedPlace =
      lease.order[0]?.id === route.id &&
      pickBySession(listKeys(route), (candidate) => candidate, lease.session) === key;
    if (isDerivedPlace && this.#movedPlaces.size === 0) return;
    const { digest } = lease;
    const previous = this.#movedPlaces.get(digest);
    this.#movedPlaces.delete(digest);
    const seconds = promptCacheSeconds.byVendor.get(route.upstream.vendor ?? '') ?? promptCacheSeconds.default;
    if (isDerivedPlace) {
      if (previous !== undefined) this.#parts.moves?.send({ session: digest, place: undefined, seconds });
      return;
    }
    const place = { routeId: route.id, key: digestKey(route.upstream, key) };
    const now = this.#parts.monotonic();
    const isSame = previous?.routeId === place.routeId && previous.key === place.key;
    const wasSentRecently = isSame && now - previous.sentAt < (seconds * 1000) / 3;
    this.#storeMove(digest, { ...place, until: now + seconds * 1000, sentAt: wasSentRecently ? previous.sentAt : now });
    if (!wasSentRecently) this.#parts.moves?.send({ session: digest, place, seconds });
  }

  #applyMove({ session, place, seconds }: SessionMove): void {
    this.#movedPlaces.delete(session);
    const now = this.#parts.monotonic();
    const maxSeconds = Math.max(promptCacheSeconds.default, ...promptCacheSeconds.byVendor.values());
    if (place !== undefined)
      this.#storeMove(session, { ...place, until: now + Math.min(seconds, maxSeconds) * 1000, sentAt: now });
  }

  #storeMove(session: string, moved: MovedPlace): void {
    this.#movedPlaces.set(session, moved);
    if (this.#movedPlaces.size > bounds.movedSessions)
      this.#movedPlaces.delete(this.#movedPlaces.keys().next().value as string);
  }

  acquire(id: string, lease: SessionLease): void {
    this.#activeLeases.set(id, lease);
  }

  /** Ends the use of a session, unless another lease has acquired it since. */
  release(id: string, lease: SessionLease): void {
    if (this.#activeLeases.get(id) === lease) this.#activeLeases.delete(id);
  }

  /** @param isBound true if only the session's current place can serve the request */
  #tryCreateLease(session: string | undefined, model: Model, isBound = false): SessionLease | undefined {
    if (session === undefined) return undefined;
    const id = `${model.id}\n${session}`;
    const isRunning = this.#activeLeases.get(id)?.isInUse === true;
    return isRunning && !isBound ? undefined : new SessionLease(this, id, session, model);
  }

  #deriveSession(exchange: Exchange): string | undefined {
    if (this.#parts.secret() === undefined) return undefined;
    const { opening } = exchange.get(adapter);
    // Two openings with the same checksum merely share a place.
    return `${getAccountId(exchange)}/${opening.length}-${crc32(opening)}`;
  }

  computeDigest(id: string): string {
    return hash('sha256', `${this.#parts.secret() ?? ''}\n${id}`, 'base64url').slice(0, 22);
  }
}

/** A request's use of a session, from sending the request until its response ends. */
export class SessionLease {
  readonly #sessions: CallSessions;
  readonly #id: string;
  #digest: string | undefined;
  /** Name of the session, from which order and key are derived. */
  readonly session: string;
  readonly order: Route[];
  /** The place to try first, if the session has moved. */
  readonly place: SessionPlace | undefined;
  #reply: { readonly isFinished: boolean } | undefined;

  constructor(sessions: CallSessions, id: string, session: string, model: Model) {
    this.#sessions = sessions;
    this.#id = id;
    this.session = session;
    this.order = orderRoutes(model.routes, session);
    this.place = sessions.findPlace(this, model.routes);
  }

  /** Computed on first use, because most sessions never move. */
  get digest(): string {
    return (this.#digest ??= this.#sessions.computeDigest(this.#id));
  }

  /** False once the reply is complete, because the client may send its next turn before the upstream closes the stream. */
  get isInUse(): boolean {
    return this.#reply?.isFinished !== true;
  }

  recordPlace(route: Route, key: string, reply: { readonly isFinished: boolean }): void {
    this.#reply = reply;
    this.#sessions.recordPlace(this, route, key);
  }

  /** Until `release`, the session's other requests are spread over the routes. */
  acquire(): void {
    this.#sessions.acquire(this.#id, this);
  }

  release(): void {
    this.#sessions.release(this.#id, this);
  }
}

function hasChoice({ routes }: Model): boolean {
  return routes.length > 1 || (routes[0]?.upstream.apiKeys.length ?? 0) > 1;
}

function listKeys({ upstream: { apiKeys } }: Route): readonly string[] {
  return apiKeys.length > 0 ? apiKeys : [''];
}
