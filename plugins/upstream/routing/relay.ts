import { adapter, type Delivery, delivery } from '#core/gateway/facts.ts';
import type { RouteCalls } from '#core/gateway/model-call/adapter.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import type { Reply } from '#core/gateway/pipeline/reply.ts';
import { runInBackground } from '#core/platform/background.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import { whenSettled } from '#core/platform/timing/when-settled.ts';
import { Fault, faultEffects, createGoneFault, createHedgeLostFault } from '../attempt/fault.ts';
import type { SlotRequest } from '../capacity/slot-request.ts';
import type { AdmittedRoute, FailedRoute } from './admission.ts';
import { Allowance } from './allowance.ts';
import { Candidates } from './candidates.ts';
import { ExchangeRequester } from './conversation.ts';
import { joinReplies } from './deferred-reply.ts';
import { DeliveryNotes } from './delivery-notes.ts';
import { HedgeTimer } from './hedge-timer.ts';
import type { RelayContext } from './relay-context.ts';
import type { RelayParts } from './relay-parts.ts';
import { type RouteReply, RouteAttempts } from './route-attempts.ts';
import type { SessionLease } from './sessions.ts';

interface RouteResult {
  readonly attempts: RouteAttempts;
  readonly result: RouteReply | Fault;
}

type OrderedFailure = FailedRoute & { readonly attemptsBefore: number }; // attempts made before this one

/**
 * Gets the reply for an exchange from the routes of its model. Each attempt starts from the client's unmodified request.
 *
 * 1. Failover: routes are tried one after another until one serves, the request itself is at fault, or the allowance is used up.
 * 2. Hedging: when the hedge timer fires, the next route is tried as well. The first route with content serves; the other is stopped.
 * 3. Resuming: if the model allows it, the next route continues a truncated text within the same reply.
 */
export class Relay {
  readonly #context: RelayContext;
  #calls: RouteCalls;
  readonly #runningAttempts = new Map<RouteAttempts, Promise<RouteResult>>();
  /** Includes the route that serves, whose stream is stopped when the exchange ends. */
  readonly #startedAttempts = new Set<RouteAttempts>();
  #isOver = false;
  readonly #slotRequest: SlotRequest | undefined;

  constructor(parts: RelayParts, exchange: Exchange) {
    const call = exchange.get(adapter);
    const { model, isStream } = call;
    const requester = new ExchangeRequester(exchange);
    const record: Delivery = { attempts: [], servedBy: undefined, usage: undefined, firstContentAfter: undefined };
    const allowance = new Allowance(parts.options, parts.retryBudget, exchange);
    if (parts.queue !== undefined && model.routes.some(({ upstream }) => upstream.capacity !== undefined))
      this.#slotRequest = new parts.queue.SlotRequest(parts.queue, exchange, record, model.id);
    const lease = parts.sessions?.createLease(exchange);
    this.#calls = call;
    this.#context = {
      parts,
      exchange,
      adapter: call,
      requester,
      lease,
      delivery: record,
      notes: new DeliveryNotes(record, parts.notesHeader),
      allowance,
      candidates: new Candidates(parts, allowance, model, requester, lease, this.#slotRequest),
      hedgeTimer: new HedgeTimer(model.hedgeAfter),
      isResumable: isStream && model.resume === true,
    };
    exchange.set(delivery, record);
  }

  /** Headers that give a waiting client its position in the queue. */
  get queueHeaders(): Record<string, string> {
    return this.#slotRequest?.headers ?? {};
  }

  /** @throws GatewayError if no route served the request */
  run(): Promise<Reply> {
    const { parts, adapter: call, delivery: record } = this.#context;
    return parts.routeHeaders.addToReply(this.#tryAll(), call.model, record);
  }

  async #tryAll(): Promise<Reply> {
    const { parts, exchange, notes, isResumable } = this.#context;
    parts.retryBudget.creditRequest();
    exchange.onAbort((reason) => this.#stopAll(createGoneFault(reason)));
    const routeReply = await (this.#context.lease === undefined
      ? this.#tryRoutes()
      : this.#tryRoutesInSession(this.#context.lease));
    if (this.#slotRequest !== undefined)
      routeReply.reply = {
        ...routeReply.reply,
        headers: { ...routeReply.reply.headers, ...this.#slotRequest.headers },
      };
    if (!isResumable) return routeReply.reply;
    return { ...joinReplies(routeReply, (interrupted) => this.#resume(interrupted)), trailers: notes.trailers };
  }

  /** Tries the routes, and releases the session if all fail. If one serves, the session is released when the response ends. */
  async #tryRoutesInSession(lease: SessionLease): Promise<RouteReply> {
    lease.acquire();
    try {
      return await this.#tryRoutes();
    } catch (error) {
      lease.release();
      throw error;
    }
  }

  async #resume({ reader, outcome: { fault } }: RouteReply): Promise<RouteReply | undefined> {
    const { adapter: call, allowance, exchange } = this.#context;
    allowance.startClock();
    if (fault === undefined || isRefusal(fault)) return undefined;
    const calls = call.resume?.(reader);
    if (calls === undefined) return undefined;
    this.#calls = calls;
    this.#isOver = false;
    this.#context.lease?.acquire();
    try {
      return await this.#tryRoutes();
    } catch (error) {
      if (error instanceof GatewayError && !exchange.isAborted) return undefined;
      throw error;
    }
  }

  get #isResuming(): boolean {
    return this.#calls !== this.#context.adapter;
  }

  /** @throws GatewayError if no route served */
  async #tryRoutes(): Promise<RouteReply> {
    const { candidates } = this.#context;
    const failed: OrderedFailure[] = [];
    // If a route rejects the request, no new attempts start, but those in flight continue, because other routes may support the request.
    let refusal: OrderedFailure | undefined;
    const starting = this.#startNext();
    if (starting !== undefined) await starting;
    while (this.#runningAttempts.size > 0) {
      const outcome = await this.#nextResult();
      if (outcome === 'late') {
        if (refusal === undefined) await this.#startNext();
        continue;
      }
      const { attempts, result } = outcome;
      this.#runningAttempts.delete(attempts);
      if (!(result instanceof Fault)) return this.#serve(attempts, result);
      if (result.kind === 'gone') throw this.#stopWithError(result);
      const failure = { route: attempts.route, attemptsBefore: attempts.attemptsBefore, fault: result };
      failed.push(failure);
      const { next } = faultEffects[result.kind];
      if (next === 'stop') refusal = failure;
      if (result.kind === 'throttled') candidates.retryAfterWait(attempts.route);
      if (next === 'wider') candidates.keepWiderThan(attempts.route, result.error.details.contextWindow);
      if (this.#runningAttempts.size === 0 && refusal === undefined) await this.#startNext();
      this.#logFailure(failure);
    }
    if (refusal !== undefined) throw this.#stopWithError(findFirstRefusal(failed) ?? refusal.fault);
    // The client disconnected while the request waited for a slot.
    if (this.#context.exchange.isAborted) throw this.#context.exchange.abortReason;
    throw candidates.createFinalError(failed);
  }

  #logFailure({ route, fault }: FailedRoute): void {
    const { parts, exchange } = this.#context;
    const [next] = this.#runningAttempts.keys();
    const effect = next === undefined ? 'no route left' : `asking ${next.route.id}`;
    parts.failureLog.logFailure(parts.log, route.id, fault, effect, exchange.id);
  }

  #startNext(): Promise<void> | undefined {
    if (this.#isOver) return undefined;
    const next = this.#context.candidates.takeNext(this.#calls, this.#runningAttempts.size === 0);
    return whenSettled(next, (admitted) => this.#startAttempts(admitted)) ?? undefined;
  }

  #startAttempts(admitted: AdmittedRoute | undefined): void {
    if (admitted === undefined) return;
    this.#context.hedgeTimer.start();
    const attempts = new RouteAttempts(this.#context, admitted, this.#calls);
    this.#startedAttempts.add(attempts);
    this.#runningAttempts.set(
      attempts,
      attempts.run().then((result) => ({ attempts, result })),
    );
  }

  #nextResult(): Promise<RouteResult | 'late'> {
    const running = [...this.#runningAttempts.values()];
    // Two routes cannot continue the same reply.
    const mayHedge = !this.#isResuming && running.length === 1;
    return mayHedge ? this.#context.hedgeTimer.race(running) : Promise.race(running);
  }

  #serve(attempts: RouteAttempts, routeReply: RouteReply): RouteReply {
    const { delivery: record, allowance, candidates } = this.#context;
    record.servedBy = attempts.route.id;
    allowance.stopClock();
    for (const { route } of this.#runningAttempts.keys()) candidates.putBack(route);
    this.#stopRunning();
    return routeReply;
  }

  #stopWithError(fault: Fault): unknown {
    this.#stopRunning();
    return fault.kind === 'gone' ? this.#context.exchange.abortReason : fault.error;
  }

  #stopRunning(): void {
    this.#isOver = true;
    for (const attempts of this.#runningAttempts.keys()) attempts.stop(createHedgeLostFault());
    this.#runningAttempts.clear();
  }

  #stopAll(fault: Fault): void {
    this.#isOver = true;
    const { parts, exchange } = this.#context;
    // Each attempt is stopped in a task of its own, so that a failure to stop one does not keep the others running.
    for (const attempts of this.#startedAttempts)
      runInBackground(parts.log, 'stopping an attempt', () => attempts.stop(fault), exchange.id);
  }
}

function findFirstRefusal(failed: readonly OrderedFailure[]): Fault | undefined {
  return failed.toSorted((a, b) => a.attemptsBefore - b.attemptsBefore).find(({ fault }) => isRefusal(fault))?.fault;
}

function isRefusal({ kind }: Fault): boolean {
  return ['stop', 'wider'].includes(faultEffects[kind].next);
}
