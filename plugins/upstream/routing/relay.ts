import type { Adapter, RouteCalls, UpstreamRequest } from '#core/model-call/adapter.ts';
import type { Route } from '#core/catalog/catalog.ts';
import { GatewayError } from '#core/errors/table.ts';
import { adapter, type Delivery, delivery } from '#core/facts.ts';
import { formatNotes } from '#core/model-call/notes-header.ts';
import type { Exchange } from '#core/pipeline/exchange.ts';
import type { Reply } from '#core/pipeline/reply.ts';
import { throttled } from '#core/model-call/upstream-error.ts';
import { type Asked, AttemptReport } from '../attempt/report.ts';
import { Attempt } from '../attempt/attempt.ts';
import type { AttemptRequest } from '../attempt/request.ts';
import { authHeaders } from '../keys/auth-headers.ts';
import { orderRoutes, readyFirst, widerThan } from './route-order.ts';
import { targetOf } from '../attempt/connections.ts';
import { accountSession } from './conversation.ts';
import { Fault, faultEffects, goneFault, lostFault, summarize } from '../attempt/fault.ts';
import { HedgeTimer } from './hedge-timer.ts';
import type { RelayParts } from './relay-parts.ts';
import { resumedReply, type Served } from './resume.ts';
import { secretsOf } from '../keys/secrets.ts';

interface Tried {
  readonly route: Route;
  /** Tries that the request had had before this route was asked. */
  readonly order: number;
  readonly result: Served | Fault;
}

type Failed = Tried & { readonly result: Fault };

/** What client and record are told of an answer that more than one route has written. */
const resumedNote = 'continued by another route after the first broke off';

/**
 * Gets an exchange its answer: tries the routes of the model, until one serves or the request itself turns out to be at
 * fault. Every attempt starts from the client's untouched request. Where the model says so, a backup is asked as well
 * when the first route lets wait, and the first to have content serves; and a route that breaks off within a text is
 * followed by one that goes on with it.
 */
export class Relay {
  readonly #parts: RelayParts;
  readonly #exchange: Exchange;
  readonly #adapter: Adapter;
  readonly #session: string | undefined;
  readonly #delivery: Delivery = {
    attempts: [],
    servedBy: undefined,
    usage: undefined,
    notes: [],
    firstContentAfter: undefined,
  };
  #candidates: Route[];
  readonly #running = new Map<Route, Promise<Tried>>();
  readonly #attempts = new Map<Route, Attempt>();
  readonly #skipped: Route[] = [];
  /** Of routes that were not asked, because they said before to wait. */
  readonly #throttlings: Fault[] = [];
  readonly #hedgeTimer: HedgeTimer;
  /** What routes are asked for: an answer, or the rest of one. */
  #calls: RouteCalls;
  #tries = 0;
  #isOver = false;
  #servedAt = 0; // ms since the exchange began
  #serving = 0; // ms for which answers came that have broken off

  constructor(parts: RelayParts, exchange: Exchange) {
    this.#parts = parts;
    this.#exchange = exchange;
    this.#adapter = exchange.get(adapter);
    this.#calls = this.#adapter;
    const { model } = this.#adapter;
    this.#hedgeTimer = new HedgeTimer(model.hedgeAfter);
    this.#session = accountSession(exchange);
    this.#candidates = readyFirst(
      orderRoutes(model.routes, this.#session),
      (route) => parts.keys(route).isReady(parts.now(), route.model) && parts.health.isAvailable(route),
    );
    exchange.set(delivery, this.#delivery);
  }

  /** @throws GatewayError when no route served */
  async run(): Promise<Reply> {
    const { signal } = this.#exchange;
    this.#parts.budget.earn();
    const onAbort = () => this.#cancel(goneFault(signal.reason));
    signal.addEventListener('abort', onAbort, { once: true });
    const served = await this.#ask();
    if (!this.#isResumable) return served.reply;
    const trailers = { names: [this.#parts.notesHeader], read: () => this.#trailers() };
    return { ...resumedReply(served, (broken) => this.#resume(broken)), trailers };
  }

  get #isResumable(): boolean {
    return this.#adapter.isStream && this.#adapter.model.resume === true;
  }

  /**
   * Lets the next route go on with an answer that has broken off. What the tries may be and take all together stays as
   * it was; the time that the answer took does not count. Undefined when no route goes on.
   */
  async #resume({ reader, ending: { fault } }: Served): Promise<Served | undefined> {
    this.#serving += this.#exchange.elapsed - this.#servedAt;
    if (fault === undefined || isRefusal(fault)) return undefined;
    const calls = this.#adapter.resume?.(reader);
    if (calls === undefined) return undefined;
    this.#calls = calls;
    this.#isOver = false;
    try {
      return await this.#ask();
    } catch (error) {
      if (error instanceof GatewayError && !this.#exchange.signal.aborted) return undefined;
      throw error;
    }
  }

  /** @throws GatewayError when no route served */
  async #ask(): Promise<Served> {
    const failed: Failed[] = [];
    // By the words of a route the request itself is at fault. Those that run already may see it otherwise: a backup may
    // lack what only this request needs.
    let isRefused = false;
    await this.#startNext();
    while (this.#running.size > 0) {
      const tried = await this.#nextResult();
      if (tried === 'late') {
        if (!isRefused) await this.#startNext();
        continue;
      }
      this.#running.delete(tried.route);
      const { result } = tried;
      if (!(result instanceof Fault)) {
        this.#delivery.servedBy = tried.route.id;
        this.#settle();
        return result;
      }
      if (result.kind === 'gone') throw this.#stopped(result);
      failed.push({ ...tried, result });
      const { next } = faultEffects[result.kind];
      if (next === 'stop') isRefused = true;
      if (next === 'wider') this.#candidates = widerThan(tried.route, this.#candidates);
      if (this.#running.size === 0 && !isRefused) await this.#startNext();
    }
    const refusal = isRefused ? firstRefusal(failed) : undefined;
    if (refusal !== undefined) throw this.#stopped(refusal);
    throw summarize(
      [...this.#throttlings, ...failed.map(({ result }) => result)],
      this.#skipped.length > 0 ? this.#parts.health.waitFor(this.#skipped) : undefined,
    );
  }

  /** Starts with the next route that may be tried. Does nothing when there is none, or trying is over. */
  async #startNext(): Promise<void> {
    while (this.#hasTries) {
      const route = this.#candidates.shift();
      if (route === undefined) return;
      // Asked only now: most requests need one route, and finding out may mean translating.
      if (!this.#calls.canServe(route)) continue;
      const throttling = this.#throttlingOf(route);
      if (throttling !== undefined) {
        this.#throttlings.push(throttling);
        continue;
      }
      const isHealthy = this.#isHealthy(route);
      const pass = await this.#parts.health.admit(route);
      if (pass === undefined) {
        this.#skipped.push(route);
        continue;
      }
      if (!isHealthy && !this.#mayRetry()) {
        this.#parts.health.released(route, pass);
        continue;
      }
      this.#hedgeTimer.begin();
      const order = this.#tries;
      this.#running.set(
        route,
        this.#serve({ route, pass, keys: this.#parts.keys(route) }).then((result) => ({ route, order, result })),
      );
      return;
    }
  }

  /** The next attempt to end; `late` when it is time to ask another route beside. */
  #nextResult(): Promise<Tried | 'late'> {
    const running = [...this.#running.values()];
    const isRest = this.#calls !== this.#adapter;
    // Two routes cannot go on with one answer.
    return isRest || running.length > 1 ? Promise.race(running) : this.#hedgeTimer.race(running);
  }

  /** Ends the trying, and the attempts that have lost. */
  #settle(): void {
    this.#isOver = true;
    this.#servedAt = this.#exchange.elapsed;
    for (const route of this.#running.keys()) this.#attempts.get(route)?.end(lostFault());
    this.#running.clear();
  }

  #stopped(fault: Fault): unknown {
    this.#settle();
    return fault.kind === 'gone' ? this.#exchange.signal.reason : fault.error;
  }

  #cancel(fault: Fault): void {
    this.#isOver = true;
    for (const attempt of this.#attempts.values()) attempt.end(fault);
  }

  /** False when tries or time are used up, or it is over. */
  get #hasTries(): boolean {
    return !this.#isOver && this.#tries < this.#parts.options.maxAttempts && this.#timeLeft > 0;
  }

  /**
   * False when the retries that all requests share are used up. What goes to a route that works is no retry in that
   * sense: hundreds of requests may be on a route when it dies, and none of them is lost.
   */
  #mayRetry(): boolean {
    return this.#tries === 0 || this.#parts.budget.spend();
  }

  /** True when another key of the same route may be tried. The last try is left to another route, where there is one. */
  #mayTryKey(): boolean {
    const isLast = this.#tries === this.#parts.options.maxAttempts - 1;
    return this.#hasTries && !(isLast && this.#candidates.length > 0) && this.#mayRetry();
  }

  #isHealthy(route: Route): boolean {
    const { health, keys, now } = this.#parts;
    return health.isHealthy(route) && keys(route).isReady(now(), route.model);
  }

  /** Seconds. */
  get #timeLeft(): number {
    return this.#parts.options.deadline - (this.#exchange.elapsed - this.#serving) / 1000;
  }

  /** Tries one route with one key after the other, while it is the key that is at fault. */
  async #serve(asked: Asked): Promise<Served | Fault> {
    for (;;) {
      const result = await this.#tryFresh(asked);
      if (!(result instanceof Fault) || faultEffects[result.kind].next !== 'key') return result;
      const isReady = asked.keys.isReady(this.#parts.now(), asked.route.model);
      // Of several keys that rest, the first to be back counts.
      if (!isReady || !this.#mayTryKey()) return this.#throttlingOf(asked.route) ?? result;
    }
  }

  /** What a route would say whose keys all rest because there were too many requests; it is not asked then. */
  #throttlingOf(route: Route): Fault | undefined {
    const { keys, now } = this.#parts;
    const wait = keys(route).throttledFor(now(), route.model);
    return wait === undefined ? undefined : new Fault('throttled', throttled(wait / 1000), { status: 429 });
  }

  /** A connection that was closed while idle says nothing about the route: tried again at once, and counted as one try. */
  async #tryFresh(asked: Asked): Promise<Served | Fault> {
    this.#tries++;
    const result = await this.#try(asked);
    return result instanceof Fault && result.isStaleConnection && !this.#isOver ? this.#try(asked) : result;
  }

  async #try(asked: Asked): Promise<Served | Fault> {
    const { route, keys } = asked;
    const key = keys.pick(this.#parts.now(), route.model, this.#session);
    const request = this.#calls.encode(route);
    const reader = this.#calls.read(route);
    const isRest = this.#calls !== this.#adapter;
    const ending: Served['ending'] = { fault: undefined };
    const { format, notes = [] } = request;
    const report = new AttemptReport(this.#parts, this.#exchange, asked, { key, format });
    const connecting = this.#parts.connections.queue(targetOf(route).origin).enter();
    this.#hedgeTimer.connecting(connecting);
    const over = (fault: Fault | undefined) => {
      connecting.leave();
      this.#attempts.delete(route);
      // The tokens of a rest are counted together with those of the beginning; a slow client slows the best route.
      const tellsPace = !isRest && !attempt.clock.wasHeldBack;
      report.over(fault, attempt.status || undefined, tellsPace ? reader.usage?.output : undefined);
    };
    const attempt = new Attempt(
      {
        ...this.#addressed(request, route, key),
        onConnected: () => connecting.leave(),
        onContent: () => report.content(),
        onEnd: (fault) => {
          this.#delivery.usage = reader.usage;
          this.#note(reader.notes);
          ending.fault = fault;
          over(fault);
        },
      },
      reader,
    );
    this.#attempts.set(route, attempt);
    if (this.#exchange.signal.aborted) attempt.end(goneFault(this.#exchange.signal.reason));
    try {
      const reply = await attempt.run();
      if (this.#isOver) return lostFault();
      return { reply: this.#noted(reply, [...notes, ...(reader.notes ?? [])], isRest), reader, ending };
    } catch (thrown) {
      if (!(thrown instanceof Fault)) throw thrown;
      over(thrown);
      return thrown;
    }
  }

  /** Where a request goes, with which key, and what it may take. */
  #addressed({ path, headers, body }: UpstreamRequest, route: Route, key: string) {
    const { options, connections, now } = this.#parts;
    const deadline = Math.max(0.001, this.#timeLeft);
    const { origin, path: base } = targetOf(route);
    return {
      agent: connections.agent(route.connectTimeout ?? options.connectTimeout),
      origin,
      path: base + path,
      headers: { ...route.upstream.headers, ...headers, ...authHeaders(route.upstream.auth, key) },
      body,
      isStream: this.#adapter.isStream,
      isResumable: this.#isResumable,
      limits: {
        firstByteTimeout: Math.min(route.firstByteTimeout ?? options.firstByteTimeout, deadline),
        idleTimeout: route.idleTimeout ?? options.idleTimeout,
        deadline,
      },
      now,
      secrets: () => secretsOf(route.upstream),
    } satisfies Partial<AttemptRequest>;
  }

  /** Tells client and record what an answer, or the rest of one, has lost on the way. */
  #noted(reply: Reply, notes: readonly string[], isRest: boolean): Reply {
    this.#note(isRest ? [resumedNote, ...notes] : notes);
    if (isRest || notes.length === 0) return reply;
    return { ...reply, headers: { ...reply.headers, [this.#parts.notesHeader]: formatNotes(notes) } };
  }

  #note(notes: readonly string[] = []): void {
    this.#delivery.notes = [...new Set([...(this.#delivery.notes ?? []), ...notes])];
  }

  /** The headers were gone when an answer had to be gone on with: its notes follow it. */
  #trailers(): Record<string, string> {
    const { notes = [] } = this.#delivery;
    return notes.includes(resumedNote) ? { [this.#parts.notesHeader]: formatNotes(notes) } : {};
  }
}

/** What the client reads when its request is at fault: what the route said that was asked first. */
function firstRefusal(tried: readonly Failed[]): Fault | undefined {
  return tried.toSorted((a, b) => a.order - b.order).find(({ result }) => isRefusal(result))?.result;
}

function isRefusal({ kind }: Fault): boolean {
  return ['stop', 'wider'].includes(faultEffects[kind].next);
}
