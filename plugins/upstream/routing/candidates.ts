import type { Model, Route } from '#core/config/catalog/catalog.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import type { RouteCalls } from '#core/gateway/model-call/adapter.ts';
import { throttled } from '#core/gateway/model-call/upstream-error.ts';
import type { FaultKind } from '#core/gateway/facts.ts';
import { Fault } from '../attempt/fault.ts';
import type { Admission } from '../health/breaker.ts';
import type { Requester } from '../health/requester.ts';
import type { Allowance } from './allowance.ts';
import type { CapacityPool } from '../capacity/pool.ts';
import type { Slot, Turn } from '../capacity/turn.ts';
import type { KeyPool } from './key-pool.ts';
import type { RelayParts } from './relay-parts.ts';
import { availableFirst, firstOf, orderRoutes, widerThan } from './route-order.ts';
import type { SessionSeat } from './sessions.ts';

/** A route whose breaker admits a request. */
export interface AdmittedRoute {
  readonly route: Route;
  readonly keys: KeyPool;
  readonly admission: Admission;
  /** Of an upstream with a capacity. */
  readonly slot?: Slot | undefined;
}

/** A route that was asked and did not serve. */
export interface FailedRoute {
  readonly route: Route;
  readonly fault: Fault;
}

/** A route with the slot that it needs. */
interface FoundRoute {
  readonly route: Route;
  readonly slot: Slot | undefined;
}

/** What one look at the routes has found. */
interface Look {
  readonly found: FoundRoute | undefined;
  readonly isFull: boolean;
  /** Ms after which a throttled route is worth another look. */
  readonly retryIn: number;
}

type CandidateParts = Pick<RelayParts, 'health' | 'demoted' | 'keys' | 'monotonic'>;

/** The routes of a model that a request has not tried yet, in their order, and why some were skipped. */
export class Candidates {
  readonly #parts: CandidateParts;
  readonly #allowance: Allowance;
  readonly #requester: Requester;
  /** Where the request waits for slots; undefined where no upstream has a capacity. */
  readonly #turn: Turn | undefined;
  #routes: Route[];
  #isOrdered = false;
  /** Routes whose breaker was open. */
  readonly #skipped: Route[] = [];
  /** Faults of routes that were not asked because all their keys are throttled. */
  readonly #throttlings: Fault[] = [];
  /** True when the retry budget did not allow to ask a route. */
  #isOverBudget = false;

  constructor(
    parts: CandidateParts,
    allowance: Allowance,
    { routes }: Model,
    requester: Requester,
    seat: SessionSeat | undefined,
    turn?: Turn,
  ) {
    this.#parts = parts;
    this.#turn = turn;
    this.#allowance = allowance;
    this.#requester = requester;
    const { demoted } = parts;
    const ordered = firstOf(seat?.order ?? orderRoutes(routes, undefined), seat?.place?.routeId);
    this.#routes = availableFirst(
      demoted.size === 0 ? ordered : availableFirst(ordered, ({ id }) => !demoted.has(id)),
      (route) =>
        parts.keys(route).isReady(parts.monotonic(), route.model) && parts.health.isAvailable(route, requester),
    );
  }

  get isEmpty(): boolean {
    return this.#routes.length === 0;
  }

  /** True while a route is left whose last known result is not a failure. */
  get hasHealthy(): boolean {
    return this.#routes.some((route) => this.#isHealthy(route));
  }

  /**
   * Returns the next route that may be tried now; undefined when there is none, or the allowance is exhausted.
   *
   * @param mayWait false for a further route beside one that is being asked: it must have a free slot
   */
  next(calls: RouteCalls, mayWait = true): AdmittedRoute | undefined | Promise<AdmittedRoute | undefined> {
    this.#order(calls);
    if (this.#turn !== undefined) return this.#nextInTurn(this.#turn, calls, mayWait);
    while (this.#allowance.hasAttempts) {
      const route = this.#routes.shift();
      if (route === undefined) return undefined;
      // Computed late: most requests need one route, and finding out may take a translation.
      if (!calls.canServe(route)) continue;
      const admitted = this.#admit(route);
      if (admitted instanceof Promise) return admitted.then((claimed) => claimed ?? this.next(calls));
      if (admitted !== undefined) return admitted;
    }
    return undefined;
  }

  /**
   * The same where upstreams have a capacity: the first route with a free slot, of those with the priority of the first one, or of all
   * where backups are preferred to a wait. Without one the request waits for the first that becomes free. When the time for that is
   * over, a backup with room may serve.
   */
  async #nextInTurn(turn: Turn, calls: RouteCalls, mayWait: boolean): Promise<AdmittedRoute | undefined> {
    let waits = mayWait && turn.timeLeft > 0;
    let isFull = false;
    while (this.#allowance.hasAttempts && !turn.isGone) {
      const round = await this.#lookFor(turn, calls, waits);
      let { found } = round;
      isFull ||= round.isFull;
      if (found === undefined && waits && (turn.isInLine || round.retryIn !== Infinity)) {
        this.#allowance.stopClock();
        const end = await turn.wait(round.retryIn);
        this.#allowance.startClock();
        if (end === 'gone') break;
        if (end === 'late') waits = false;
        if (end === 'late' || end === 'again') continue;
        found = this.#withPool(turn, end.pool, calls, end.slot);
      }
      await turn.leave();
      if (found !== undefined) {
        const admitted = await this.#admitFound(found);
        if (admitted !== undefined) return admitted;
      } else if (!waits) break;
      else waits = false;
    }
    await turn.leave();
    if (isFull && mayWait && !turn.isGone) {
      this.#throttlings.push(turn.fault());
      this.#routes = [];
    }
    return undefined;
  }

  /** One look at the routes in their order. */
  async #lookFor(turn: Turn, calls: RouteCalls, waits: boolean): Promise<Look> {
    let isFull = false;
    let retryIn = Infinity;
    let first: Route | undefined;
    for (const route of this.#routes) {
      if (waits && !turn.prefersBackup && route.priority !== (first ?? route).priority) break;
      if (!calls.canServe(route)) {
        this.#drop(route);
        continue;
      }
      const pool = turn.poolOf(route);
      if (pool === undefined) return { found: { route, slot: undefined }, isFull, retryIn };
      const throttling = throttlingOf(this.#parts, route);
      if (throttling !== undefined) {
        // Another route may serve at once. Without one, the request may wait until a key is available again.
        const wait = waitOf(throttling) * 1000;
        if (waits && wait < turn.timeLeft) retryIn = Math.min(retryIn, wait);
        else if (waits || turn.timeLeft <= 0) this.#passOver(route, throttling);
        continue;
      }
      if (this.#parts.health.waitFor([route], this.#requester) > 0) {
        this.#passOver(route);
        continue;
      }
      first ??= route;
      const slot = await turn.take(pool, waits);
      if (slot !== undefined) return { found: { route, slot }, isFull, retryIn };
      isFull = true;
    }
    return { found: undefined, isFull, retryIn };
  }

  /** The first route of the upstream that has granted a slot. */
  #withPool(turn: Turn, pool: CapacityPool, calls: RouteCalls, slot: Slot): FoundRoute | undefined {
    const route = this.#routes.find((one) => turn.poolOf(one) === pool && calls.canServe(one));
    return route && { route, slot };
  }

  async #admitFound({ route, slot }: FoundRoute): Promise<AdmittedRoute | undefined> {
    this.#drop(route);
    const admitted = await this.#admit(route);
    if (admitted !== undefined) return { ...admitted, slot };
    await slot?.release(false);
    return undefined;
  }

  #drop(route: Route): void {
    this.#routes = this.#routes.filter((one) => one !== route);
  }

  #passOver(route: Route, throttling?: Fault): void {
    this.#drop(route);
    if (throttling === undefined) this.#skipped.push(route);
    else this.#throttlings.push(throttling);
  }

  /** A route that has throttled a request may take it after a wait, where its upstream has a capacity. */
  waitAgain(route: Route): void {
    if (this.#turn?.poolOf(route) !== undefined && this.#turn.timeLeft > 0) this.#routes.push(route);
  }

  /** The calls of the first attempt determine which routes support the whole request. */
  #order(calls: RouteCalls): void {
    if (this.#isOrdered) return;
    this.#isOrdered = true;
    this.#routes = availableFirst(this.#routes, (route) => calls.prefers?.(route) !== false);
  }

  /** Adds a route that was stopped because another served: it has not failed, and may continue a truncated answer. */
  putBack(route: Route): void {
    this.#routes.push(route);
  }

  /** Keeps only the routes with a larger context window than this one. @param window tokens, as its upstream has named them */
  keepWiderThan(route: Route, window: number | undefined): void {
    this.#routes = widerThan({ maxInputTokens: route.maxInputTokens ?? window }, this.#routes);
  }

  /** The error that the client gets when no route served. @param failed the routes that were asked */
  summarize(failed: readonly FailedRoute[]): GatewayError {
    return summarize([...this.#throttlings, ...failed.map(({ fault }) => fault)], this.#waitFor(failed));
  }

  /** Ms until a route, or another key of a route, that was not tried may serve. */
  #waitFor(failed: readonly FailedRoute[]): number | undefined {
    const { health, keys, monotonic } = this.#parts;
    const hasKeys = failed.some(
      ({ route, fault }) => fault.kind === 'key' && keys(route).isReady(monotonic(), route.model),
    );
    if (hasKeys || this.#isOverBudget || !this.isEmpty) return 0;
    return this.#skipped.length > 0 ? health.waitFor(this.#skipped, this.#requester) : undefined;
  }

  #admit(route: Route): AdmittedRoute | undefined | Promise<AdmittedRoute | undefined> {
    const { health } = this.#parts;
    const throttling = throttlingOf(this.#parts, route);
    if (throttling !== undefined) {
      this.#throttlings.push(throttling);
      return undefined;
    }
    const isHealthy = this.#isHealthy(route);
    const admission = health.admit(route, this.#requester);
    return admission instanceof Promise
      ? admission.then((claimed) => this.#charge(route, claimed, isHealthy))
      : this.#charge(route, admission, isHealthy);
  }

  /** A failover to a healthy route is free: hundreds of requests may be on a route when it dies, and none is lost. */
  #charge(route: Route, admission: Admission | undefined, isHealthy: boolean): AdmittedRoute | undefined {
    if (admission === undefined) {
      this.#skipped.push(route);
      return undefined;
    }
    if (isHealthy || this.#allowance.mayRetry()) return { route, admission, keys: this.#parts.keys(route) };
    this.#isOverBudget = true;
    this.#parts.health.released(route, admission);
    return undefined;
  }

  #isHealthy(route: Route): boolean {
    const { health, keys, monotonic } = this.#parts;
    return health.isHealthy(route, this.#requester) && keys(route).isReady(monotonic(), route.model);
  }
}

/**
 * The fault of a route whose keys are all throttled, without asking it; undefined while it has another key.
 *
 * @param last with which the last of them was throttled
 */
export function throttlingOf({ keys, monotonic }: CandidateParts, route: Route, last?: Fault): Fault | undefined {
  const wait = keys(route).throttledFor(monotonic(), route.model);
  const cause = last?.kind === 'throttled' ? last.error.cause : undefined;
  const message = cause instanceof Error ? cause.message : undefined;
  return wait === undefined ? undefined : new Fault('throttled', throttled(wait / 1000, message), { status: 429 });
}

/**
 * The error that the client gets when no route served.
 *
 * @param wait ms until a route or key that was not tried may be used; undefined without one
 */
export function summarize(faults: readonly Fault[], wait: number | undefined): GatewayError {
  const unsupported = unsupportedBy(faults);
  // A route that was not asked because it is down may support the request.
  if (unsupported !== undefined) return wait !== undefined && wait > 0 ? unavailable(wait) : unsupported;
  return summarizeFailures(
    faults.filter(({ kind }) => !isUnsupported(kind)),
    wait,
  );
}

function isUnsupported(kind: FaultKind): boolean {
  return kind === 'unsupported' || kind === 'setup';
}

/** The error where no route that was asked could serve the request now or later: the client's words before the operator's. */
function unsupportedBy(faults: readonly Fault[]): GatewayError | undefined {
  if (!faults.every(({ kind }) => isUnsupported(kind) || kind === 'no_model')) return undefined;
  return (faults.find(({ kind }) => kind === 'unsupported') ?? faults.find(({ kind }) => kind === 'setup'))?.error;
}

function summarizeFailures(faults: readonly Fault[], wait: number | undefined): GatewayError {
  const last = faults.at(-1);
  if (last === undefined) return unavailable(wait);
  // Even if wider routes failed: a shorter request would have been served, and the client can send one.
  const overflow = faults.find(({ kind }) => kind === 'overflow');
  if (overflow !== undefined) return overflow.error;
  // The route is not at fault and may serve the next request.
  const local = faults.find(({ kind }) => kind === 'local');
  if (local !== undefined) return local.error;
  const failed = faults.findLast(({ kind }) => kind === 'route');
  if (failed !== undefined) return withShortestWait(failed.error, faults, wait);
  const limited = faults.filter(({ kind }) => kind === 'throttled');
  const first = limited.toSorted((a, b) => waitOf(a) - waitOf(b))[0];
  if (first !== undefined && limited.length === faults.length) return first.error;
  const refused = faults.find(({ kind }) => kind === 'key');
  if (refused === undefined) return last.error;
  // A retry helps as long as something besides the refused keys can serve.
  if (first !== undefined) return first.error;
  return wait === undefined ? refused.error : unavailable(wait);
}

/** The error with the shortest wait for any route, where its own route asked for one. */
function withShortestWait(error: GatewayError, faults: readonly Fault[], wait: number | undefined): GatewayError {
  const { code, message, details } = error;
  if (details.retryAfter === undefined) return error;
  const others = faults.flatMap((fault) => fault.error.details.retryAfter ?? []);
  const retryAfter = Math.min(...others, wait === undefined ? Infinity : Math.max(1, wait / 1000));
  return new GatewayError(code, message, { ...details, retryAfter });
}

function unavailable(wait: number | undefined): GatewayError {
  return new GatewayError(
    'unavailable',
    'The model is unavailable: none of its routes is in service. Try again later.',
    {
      retryAfter: wait === undefined ? 30 : Math.max(1, wait / 1000),
    },
  );
}

function waitOf({ error }: Fault): number {
  return error.details.retryAfter ?? 0;
}
