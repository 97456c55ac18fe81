import { createHmac } from 'node:crypto';
import { bounds } from '#core/platform/bounds.ts';
import type { Model, Route } from '#core/config/catalog/catalog.ts';
import { adapter } from '#core/gateway/facts.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import { accountOf, accountSession } from './conversation.ts';
import { orderRoutes, pickBySession } from './route-order.ts';

/** Idle time after which vendors document that a prompt is dropped; Anthropic's and OpenAI's shortest. */
const cachedForSeconds = { usual: 300, byVendor: new Map([['deepseek', 3_600]]) } as const;

interface SessionPlace {
  readonly routeId: string;
  readonly key: string;
}

interface Moved extends SessionPlace {
  readonly until: number; // ms
}

interface SessionsParts {
  secret(): string | undefined;
  monotonic(): number; // ms
}

/**
 * The sessions of requests: turns of a conversation have one, by which they go to the same route and key, where the vendor has cached
 * their prompt. A client may name it; otherwise it is a keyed hash of account, model and first user message, the same on all instances.
 *
 * Order and key follow from the name alone. Kept is only what differs from that, in this process: sessions with a request in flight,
 * whose others are spread, and those that were served elsewhere, which stay there while their prompt is probably cached.
 */
export class CallSessions {
  readonly #parts: SessionsParts;
  readonly #running = new Map<string, SessionSeat>();
  readonly #moved = new Map<string, Moved>();

  constructor(parts: SessionsParts) {
    this.#parts = parts;
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
  placeOf(id: string): SessionPlace | undefined {
    if (this.#moved.size === 0) return undefined;
    const moved = this.#moved.get(id);
    if (moved === undefined || moved.until > this.#parts.monotonic()) return moved;
    this.#moved.delete(id);
    return undefined;
  }

  /** A session is served by a route with a key. */
  note(id: string, { session, order }: SessionSeat, route: Route, key: string): void {
    const isUsual = order[0]?.id === route.id && pickBySession(keysOf(route), (one) => one, session) === key;
    if (this.#moved.size > 0) this.#moved.delete(id);
    if (isUsual) return;
    const seconds = cachedForSeconds.byVendor.get(route.upstream.vendor ?? '') ?? cachedForSeconds.usual;
    this.#moved.set(id, { routeId: route.id, key, until: this.#parts.monotonic() + seconds * 1000 });
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
    return createHmac('sha256', secret)
      .update(JSON.stringify([accountOf(exchange), id]))
      .update(opening)
      .digest('base64url');
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
    this.place = sessions.placeOf(id);
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
