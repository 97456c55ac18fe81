import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { bounds } from '#core/platform/bounds.ts';
import type { Model, Route } from '#core/config/catalog/catalog.ts';
import { adapter } from '#core/gateway/facts.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import { keyDigest } from '#core/gateway/model-call/key-digest.ts';
import { accountOf, accountSession } from './conversation.ts';
import { orderRoutes, pickBySession } from './route-order.ts';
import type { SessionMove, SessionMoves } from './session-moves.ts';

/** Documented idle time after which vendors drop a cached prompt; `usual` is the shortest of Anthropic and OpenAI. */
const cachedForSeconds = { usual: 300, byVendor: new Map([['deepseek', 3_600]]) } as const;

interface SessionPlace {
  readonly routeId: string;
  readonly key: string;
}

/** `key` is a digest, as sent to other instances. */
interface MovedPlace extends SessionPlace {
  readonly until: number; // ms
  /** When other instances were last notified, ms. */
  readonly sentAt: number;
}

interface SessionsParts {
  secret(): string | undefined;
  monotonic(): number; // ms
  /** Missing if there are no other instances. */
  readonly moves?: Pick<SessionMoves, 'send' | 'onMove'>;
}

/**
 * Sessions of requests: all turns of a conversation share one, and go to the same route and key, where the vendor cached their prompt. A
 * client may name the session; otherwise it is a checksum of the first user message, the same on all instances.
 *
 * Order and key are derived from the name. Only deviations are stored: in this process, sessions with a request in flight, whose further
 * requests are spread; on all instances, sessions that were served elsewhere, which stay there while their prompt is probably cached.
 */
export class CallSessions {
  readonly #parts: SessionsParts;
  readonly #running = new Map<string, SessionSeat>();
  /** Session digest -> where it was served. */
  readonly #moved = new Map<string, MovedPlace>();

  constructor(parts: SessionsParts) {
    this.#parts = parts;
    if (parts.moves !== undefined) parts.moves.onMove = (move) => this.#follow(move);
  }

  /** Number of sessions served elsewhere than their derived place. */
  get moved(): number {
    return this.#moved.size;
  }

  /** The seat of a request. Undefined if there is no choice, or all of its sessions are in use. */
  find(exchange: Exchange): SessionSeat | undefined {
    const { model, isConversation, isBound = false } = exchange.get(adapter);
    if (isConversation !== true || !hasChoice(model)) return undefined;
    return this.#seat(accountSession(exchange), model, isBound) ?? this.#seat(this.#derive(exchange), model);
  }

  /** Recent place of a session, if it differs from the derived one. */
  placeOf(seat: SessionSeat, routes: readonly Route[]): SessionPlace | undefined {
    if (this.#moved.size === 0) return undefined;
    const moved = this.#moved.get(seat.digest);
    if (moved === undefined) return undefined;
    if (moved.until <= this.#parts.monotonic()) {
      this.#moved.delete(seat.digest);
      return undefined;
    }
    const route = routes.find((candidate) => candidate.id === moved.routeId);
    if (route === undefined) return undefined;
    const key = keysOf(route).find((candidate) => keyDigest(route.upstream, candidate) === moved.key);
    return { routeId: route.id, key: key ?? '' };
  }

  /** Records which route and key served a session. */
  note(seat: SessionSeat, route: Route, key: string): void {
    const isUsual =
      seat.order[0]?.id === route.id && pickBySession(keysOf(route), (candidate) => candidate, seat.session) === key;
    if (isUsual && this.#moved.size === 0) return;
    const { digest } = seat;
    const previous = this.#moved.get(digest);
    this.#moved.delete(digest);
    const seconds = cachedForSeconds.byVendor.get(route.upstream.vendor ?? '') ?? cachedForSeconds.usual;
    if (isUsual) {
      if (previous !== undefined) this.#parts.moves?.send({ session: digest, place: undefined, seconds });
      return;
    }
    const place = { routeId: route.id, key: keyDigest(route.upstream, key) };
    const now = this.#parts.monotonic();
    const isSame = previous?.routeId === place.routeId && previous.key === place.key;
    const wasSentRecently = isSame && now - previous.sentAt < (seconds * 1000) / 3;
    this.#keep(digest, { ...place, until: now + seconds * 1000, sentAt: wasSentRecently ? previous.sentAt : now });
    if (!wasSentRecently) this.#parts.moves?.send({ session: digest, place, seconds });
  }

  /** Another instance served a session elsewhere. */
  #follow({ session, place, seconds }: SessionMove): void {
    this.#moved.delete(session);
    const now = this.#parts.monotonic();
    const longest = Math.max(cachedForSeconds.usual, ...cachedForSeconds.byVendor.values());
    if (place !== undefined)
      this.#keep(session, { ...place, until: now + Math.min(seconds, longest) * 1000, sentAt: now });
  }

  #keep(session: string, moved: MovedPlace): void {
    this.#moved.set(session, moved);
    if (this.#moved.size > bounds.movedSessions) this.#moved.delete(this.#moved.keys().next().value as string);
  }

  take(id: string, seat: SessionSeat): void {
    this.#running.set(id, seat);
  }

  leave(id: string, seat: SessionSeat): void {
    if (this.#running.get(id) === seat) this.#running.delete(id);
  }

  /** @param isBound true if only the session's current place can serve the request */
  #seat(session: string | undefined, model: Model, isBound = false): SessionSeat | undefined {
    if (session === undefined) return undefined;
    const id = `${model.id}\n${session}`;
    const isRunning = this.#running.get(id)?.isTaken === true;
    return isRunning && !isBound ? undefined : new SessionSeat(this, id, session, model);
  }

  /** A checksum is enough: two openings with the same one only share their place. */
  #derive(exchange: Exchange): string | undefined {
    if (this.#parts.secret() === undefined) return undefined;
    const { opening } = exchange.get(adapter);
    return `${accountOf(exchange)}/${opening.length}-${crc32(opening)}`;
  }

  /** Identifies a session in messages and memory. */
  digestOf(id: string): string {
    return hash('sha256', `${this.#parts.secret() ?? ''}\n${id}`, 'base64url').slice(0, 22);
  }
}

/** A request of a session, from when it is sent until its answer ends. */
export class SessionSeat {
  readonly #sessions: CallSessions;
  readonly #id: string;
  #digest: string | undefined;
  /** Determines order and key. */
  readonly session: string;
  /** Routes of the model in the order of the session. */
  readonly order: Route[];
  /** First place to try, if the session moved. */
  readonly place: SessionPlace | undefined;
  #answer: { readonly isFinished: boolean } | undefined;

  constructor(sessions: CallSessions, id: string, session: string, model: Model) {
    this.#sessions = sessions;
    this.#id = id;
    this.session = session;
    this.order = orderRoutes(model.routes, session);
    this.place = sessions.placeOf(this, model.routes);
  }

  /** Computed on first use, because most sessions never move. */
  get digest(): string {
    return (this.#digest ??= this.#sessions.digestOf(this.#id));
  }

  /** False once the answer is complete: its client may send the next turn before the upstream closes the stream. */
  get isTaken(): boolean {
    return this.#answer?.isFinished !== true;
  }

  /** The first content of the answer arrived. */
  serve(route: Route, key: string, answer: { readonly isFinished: boolean }): void {
    this.#answer = answer;
    this.#sessions.note(this, route, key);
  }

  /** The request is being sent: others of the session are spread until `leave`. */
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
