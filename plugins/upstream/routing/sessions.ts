import { hash } from 'node:crypto';
import { bounds } from '#core/platform/bounds.ts';
import type { Model, Route } from '#core/config/catalog/catalog.ts';
import { adapter } from '#core/gateway/facts.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import { keyDigest } from '#core/gateway/model-call/key-digest.ts';
import { accountOf, accountSession } from './conversation.ts';
import { orderRoutes, pickBySession } from './route-order.ts';
import { sessionDigest, type SessionMove, type SessionMoves } from './session-moves.ts';

/** Idle time after which vendors document that a prompt is dropped; Anthropic's and OpenAI's shortest. */
const cachedForSeconds = { usual: 300, byVendor: new Map([['deepseek', 3_600]]) } as const;

interface SessionPlace {
  readonly routeId: string;
  readonly key: string;
}

/** The key is a digest, by which other instances name it. */
interface Moved extends SessionPlace {
  readonly until: number; // ms
  /** When other instances were told last, ms. */
  readonly sentAt: number;
}

interface SessionsParts {
  secret(): string | undefined;
  monotonic(): number; // ms
  /** Missing where no other instance is. */
  readonly moves?: Pick<SessionMoves, 'send' | 'onMove'>;
}

/**
 * The sessions of requests: turns of a conversation have one, by which they go to the same route and key, where the vendor has cached
 * their prompt. A client may name it; otherwise it is a keyed hash of account, model and first user message, the same on all instances.
 *
 * Order and key follow from the name alone. Kept is only what differs from that: in this process, sessions with a request in flight, whose
 * others are spread; on all instances, those that were served elsewhere, which stay there while their prompt is probably cached.
 */
export class CallSessions {
  readonly #parts: SessionsParts;
  readonly #running = new Map<string, SessionSeat>();
  /** By digests of sessions. */
  readonly #moved = new Map<string, Moved>();

  constructor(parts: SessionsParts) {
    this.#parts = parts;
    if (parts.moves !== undefined) parts.moves.onMove = (move) => this.#follow(move);
  }

  /** CallSessions that were served elsewhere than their name says. */
  get moved(): number {
    return this.#moved.size;
  }

  /** The seat of a request. Undefined where there is nothing to choose, or all of its sessions are running. */
  find(exchange: Exchange): SessionSeat | undefined {
    const { model, isConversation, isBound = false } = exchange.get(adapter);
    if (isConversation !== true || !hasChoice(model)) return undefined;
    return this.#seat(accountSession(exchange), model, isBound) ?? this.#seat(this.#derive(exchange, model), model);
  }

  /** Recent place of a session, if it differs from the one by its name. */
  placeOf(id: string, routes: readonly Route[]): SessionPlace | undefined {
    if (this.#moved.size === 0) return undefined;
    const session = sessionDigest(id);
    const moved = this.#moved.get(session);
    if (moved === undefined) return undefined;
    if (moved.until <= this.#parts.monotonic()) {
      this.#moved.delete(session);
      return undefined;
    }
    const route = routes.find((one) => one.id === moved.routeId);
    if (route === undefined) return undefined;
    const key = keysOf(route).find((one) => keyDigest(route.upstream, one) === moved.key);
    return { routeId: route.id, key: key ?? '' };
  }

  /** A session is served by a route with a key. */
  note(id: string, { session, order }: SessionSeat, route: Route, key: string): void {
    const isUsual = order[0]?.id === route.id && pickBySession(keysOf(route), (one) => one, session) === key;
    if (isUsual && this.#moved.size === 0) return;
    const digest = sessionDigest(id);
    const known = this.#moved.get(digest);
    this.#moved.delete(digest);
    const seconds = cachedForSeconds.byVendor.get(route.upstream.vendor ?? '') ?? cachedForSeconds.usual;
    if (isUsual) {
      if (known !== undefined) this.#parts.moves?.send({ session: digest, place: undefined, seconds });
      return;
    }
    const place = { routeId: route.id, key: keyDigest(route.upstream, key) };
    const now = this.#parts.monotonic();
    const isSame = known?.routeId === place.routeId && known.key === place.key;
    const isKnown = isSame && now - known.sentAt < (seconds * 1000) / 3;
    this.#keep(digest, { ...place, until: now + seconds * 1000, sentAt: isKnown ? known.sentAt : now });
    if (!isKnown) this.#parts.moves?.send({ session: digest, place, seconds });
  }

  /** Another instance has served a session. */
  #follow({ session, place, seconds }: SessionMove): void {
    this.#moved.delete(session);
    const now = this.#parts.monotonic();
    const longest = Math.max(cachedForSeconds.usual, ...cachedForSeconds.byVendor.values());
    if (place !== undefined)
      this.#keep(session, { ...place, until: now + Math.min(seconds, longest) * 1000, sentAt: now });
  }

  #keep(session: string, moved: Moved): void {
    this.#moved.set(session, moved);
    if (this.#moved.size > bounds.movedSessions) this.#moved.delete(this.#moved.keys().next().value as string);
  }

  take(id: string, seat: SessionSeat): void {
    this.#running.set(id, seat);
  }

  leave(id: string, seat: SessionSeat): void {
    if (this.#running.get(id) === seat) this.#running.delete(id);
  }

  /** @param isBound true if only the session's own place can serve the request */
  #seat(session: string | undefined, model: Model, isBound = false): SessionSeat | undefined {
    if (session === undefined) return undefined;
    const id = `${model.id}\n${session}`;
    const isRunning = this.#running.get(id)?.isTaken === true;
    return isRunning && !isBound ? undefined : new SessionSeat(this, id, session, model);
  }

  #derive(exchange: Exchange, { id }: Model): string | undefined {
    const secret = this.#parts.secret();
    if (secret === undefined) return undefined;
    const { opening } = exchange.get(adapter);
    // Nested as an HMAC, which takes ten times as long to set up as its two hashes do.
    const inner = hash('sha256', `${secret}\n${JSON.stringify([accountOf(exchange), id])}\n${opening}`);
    return hash('sha256', `${secret}\n${inner}`, 'base64url');
  }
}

/** The request of a session that is in flight. */
export class SessionSeat {
  readonly #sessions: CallSessions;
  readonly #id: string;
  /** By which order and key are drawn. */
  readonly session: string;
  /** The routes of the model by that. */
  readonly order: Route[];
  /** First place to try, if it differs from that. */
  readonly place: SessionPlace | undefined;
  #answer: { readonly isFinished: boolean } | undefined;

  constructor(sessions: CallSessions, id: string, session: string, model: Model) {
    this.#sessions = sessions;
    this.#id = id;
    this.session = session;
    this.order = orderRoutes(model.routes, session);
    this.place = sessions.placeOf(id, model.routes);
  }

  /** False once the answer is whole: its client may send the next turn before the upstream closes the stream. */
  get isTaken(): boolean {
    return this.#answer?.isFinished !== true;
  }

  /** The first content of the answer has come. */
  serve(route: Route, key: string, answer: { readonly isFinished: boolean }): void {
    this.#answer = answer;
    this.#sessions.note(this.#id, this, route, key);
  }

  /** The request is sent now: others of the session are spread until it has left. */
  take(): void {
    this.#sessions.take(this.#id, this);
  }

  leave(): void {
    this.#sessions.leave(this.#id, this);
  }
}

function hasChoice({ routes }: Model): boolean {
  return routes.length > 1 || (routes[0]?.upstream.apiKeys.length ?? 0) > 1;
}

function keysOf({ upstream: { apiKeys } }: Route): readonly string[] {
  return apiKeys.length > 0 ? apiKeys : [''];
}
