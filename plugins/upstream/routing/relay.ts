import { whenSettled } from '#core/platform/timing/when-settled.ts';
import { inBackground } from '#core/platform/background.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import { adapter, type Delivery, delivery } from '#core/gateway/facts.ts';
import type { RouteCalls } from '#core/gateway/model-call/adapter.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import type { Reply } from '#core/gateway/pipeline/reply.ts';
import { Fault, faultEffects, goneFault, hedgeLostFault } from '../attempt/fault.ts';
import { Allowance } from './allowance.ts';
import type { AdmittedRoute, FailedRoute } from './admission.ts';
import { Candidates } from './candidates.ts';
import { ExchangeRequester } from './conversation.ts';
import { DeliveryNotes } from './delivery-notes.ts';
import { HedgeTimer } from './hedge-timer.ts';
import type { Turn } from '../capacity/turn.ts';
import type { RelayContext } from './relay-context.ts';
import type { RelayParts } from './relay-parts.ts';
import { resumedReply } from './deferred-reply.ts';
import type { SessionSeat } from './sessions.ts';
import { type RouteAnswer, RouteAttempts } from './route-attempts.ts';

interface RouteResult {
  readonly attempts: RouteAttempts;
  readonly result: RouteAnswer | Fault;
}

type OrderedFailure = FailedRoute & { readonly order: number }; // number of attempts before it

/**
 * Gets an answer for an exchange from the routes of its model. Each attempt starts from the client's unmodified request.
 *
 * 1. Routes are tried one after another until one serves, the request itself is at fault, or the allowance is used up.
 * 2. Hedging: when the hedge timer fires, the next route is also tried. The first with content serves, and the other is stopped.
 * 3. Resuming: if the model allows it, the next route continues a truncated text within the same reply.
 */
export class Relay {
  readonly #context: RelayContext;
  #calls: RouteCalls;
  readonly #running = new Map<RouteAttempts, Promise<RouteResult>>();
  /** Includes the serving route, whose stream is stopped when the exchange ends. */
  readonly #started = new Set<RouteAttempts>();
  #isOver = false;
  readonly #turn: Turn | undefined;

  constructor(parts: RelayParts, exchange: Exchange) {
    const call = exchange.get(adapter);
    const { model, isStream } = call;
    const requester = new ExchangeRequester(exchange);
    const record: Delivery = { attempts: [], servedBy: undefined, usage: undefined, firstContentAfter: undefined };
    const allowance = new Allowance(parts.options, parts.budget, exchange);
    if (parts.queue !== undefined && model.routes.some(({ upstream }) => upstream.capacity !== undefined))
      this.#turn = new parts.queue.Turn(parts.queue, exchange, record, model.id);
    const seat = parts.sessions?.find(exchange);
    this.#calls = call;
    this.#context = {
      parts,
      exchange,
      adapter: call,
      requester,
      seat,
      delivery: record,
      notes: new DeliveryNotes(record, parts.notesHeader),
      allowance,
      candidates: new Candidates(parts, allowance, model, requester, seat, this.#turn),
      hedgeTimer: new HedgeTimer(model.hedgeAfter),
      isResumable: isStream && model.resume === true,
    };
    exchange.set(delivery, record);
  }

  /** Headers that show a waiting client its queue position. */
  get queueHeaders(): Record<string, string> {
    return this.#turn?.headers ?? {};
  }

  /** @throws GatewayError if no route served the request */
  run(): Promise<Reply> {
    const { parts, adapter: call, delivery: record } = this.#context;
    return parts.routeHeaders.addTo(this.#run(), call.model, record);
  }

  async #run(): Promise<Reply> {
    const { parts, exchange, notes, isResumable } = this.#context;
    parts.budget.earn();
    exchange.onAbort((reason) => this.#stopAll(goneFault(reason)));
    const answer = await (this.#context.seat === undefined
      ? this.#tryRoutes()
      : this.#tryRoutesWithSeat(this.#context.seat));
    if (this.#turn !== undefined)
      answer.reply = { ...answer.reply, headers: { ...answer.reply.headers, ...this.#turn.headers } };
    if (!isResumable) return answer.reply;
    return { ...resumedReply(answer, (broken) => this.#resume(broken)), trailers: notes.trailers };
  }

  /** A failed request frees its session immediately; a served one when the response ends. */
  async #tryRoutesWithSeat(seat: SessionSeat): Promise<RouteAnswer> {
    seat.take();
    try {
      return await this.#tryRoutes();
    } catch (error) {
      seat.leave();
      throw error;
    }
  }

  async #resume({ reader, ending: { fault } }: RouteAnswer): Promise<RouteAnswer | undefined> {
    const { adapter: call, allowance, exchange } = this.#context;
    allowance.startClock();
    if (fault === undefined || isRefusal(fault)) return undefined;
    const calls = call.resume?.(reader);
    if (calls === undefined) return undefined;
    this.#calls = calls;
    this.#isOver = false;
    this.#context.seat?.take();
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
  async #tryRoutes(): Promise<RouteAnswer> {
    const { candidates } = this.#context;
    const failed: OrderedFailure[] = [];
    // A rejection by one route stops new attempts, but not those in flight: a backup may lack a feature that only this request needs.
    let refusal: OrderedFailure | undefined;
    const starting = this.#startNext();
    if (starting !== undefined) await starting;
    while (this.#running.size > 0) {
      const outcome = await this.#nextResult();
      if (outcome === 'late') {
        if (refusal === undefined) await this.#startNext();
        continue;
      }
      const { attempts, result } = outcome;
      this.#running.delete(attempts);
      if (!(result instanceof Fault)) return this.#serve(attempts, result);
      if (result.kind === 'gone') throw this.#end(result);
      const failure = { route: attempts.route, order: attempts.order, fault: result };
      failed.push(failure);
      const { next } = faultEffects[result.kind];
      if (next === 'stop') refusal = failure;
      if (result.kind === 'throttled') candidates.waitAgain(attempts.route);
      if (next === 'wider') candidates.keepWiderThan(attempts.route, result.error.details.contextWindow);
      if (this.#running.size === 0 && refusal === undefined) await this.#startNext();
      this.#report(failure);
    }
    if (refusal !== undefined) throw this.#end(firstRefusal(failed) ?? refusal.fault);
    // The client disconnected while the request waited for a slot.
    if (this.#context.exchange.isAborted) throw this.#context.exchange.abortReason;
    throw candidates.summarize(failed);
  }

  #report({ route, fault }: FailedRoute): void {
    const { parts, exchange } = this.#context;
    const [next] = this.#running.keys();
    const effect = next === undefined ? 'no route left' : `asking ${next.route.id}`;
    parts.failures.report(parts.log, route.id, fault, effect, exchange.id);
  }

  #startNext(): Promise<void> | undefined {
    if (this.#isOver) return undefined;
    const next = this.#context.candidates.next(this.#calls, this.#running.size === 0);
    return whenSettled(next, (admitted) => this.#start(admitted)) ?? undefined;
  }

  #start(admitted: AdmittedRoute | undefined): void {
    if (admitted === undefined) return;
    this.#context.hedgeTimer.begin();
    const attempts = new RouteAttempts(this.#context, admitted, this.#calls);
    this.#started.add(attempts);
    this.#running.set(
      attempts,
      attempts.run().then((result) => ({ attempts, result })),
    );
  }

  /** The next route to serve or fail; `late` when another one should also be tried. */
  #nextResult(): Promise<RouteResult | 'late'> {
    const running = [...this.#running.values()];
    // Two routes cannot continue one answer.
    const mayHedge = !this.#isResuming && running.length === 1;
    return mayHedge ? this.#context.hedgeTimer.race(running) : Promise.race(running);
  }

  #serve(attempts: RouteAttempts, answer: RouteAnswer): RouteAnswer {
    const { delivery: record, allowance, candidates } = this.#context;
    record.servedBy = attempts.route.id;
    allowance.stopClock();
    for (const { route } of this.#running.keys()) candidates.putBack(route);
    this.#stopRunning();
    return answer;
  }

  #end(fault: Fault): unknown {
    this.#stopRunning();
    return fault.kind === 'gone' ? this.#context.exchange.abortReason : fault.error;
  }

  #stopRunning(): void {
    this.#isOver = true;
    for (const attempts of this.#running.keys()) attempts.stop(hedgeLostFault());
    this.#running.clear();
  }

  #stopAll(fault: Fault): void {
    this.#isOver = true;
    const { parts, exchange } = this.#context;
    // In separate tasks, so that a failure to stop one does not keep the others running.
    for (const attempts of this.#started)
      inBackground(parts.log, 'stopping an attempt', () => attempts.stop(fault), exchange.id);
  }
}

/** For a client whose request is invalid: the rejection by the route that was tried first. */
function firstRefusal(failed: readonly OrderedFailure[]): Fault | undefined {
  return failed.toSorted((a, b) => a.order - b.order).find(({ fault }) => isRefusal(fault))?.fault;
}

function isRefusal({ kind }: Fault): boolean {
  return ['stop', 'wider'].includes(faultEffects[kind].next);
}
