import { whenSettled } from '#core/platform/timing/when-settled.ts';
import type { Route } from '#core/config/catalog/catalog.ts';
import { createThrottledError } from '#core/gateway/model-call/upstream-error.ts';
import type { GatewayError } from '#core/platform/errors/table.ts';
import { Fault } from '../attempt/fault.ts';
import type { Slot } from '../capacity/turn.ts';
import type { Admission } from '../health/breaker.ts';
import type { Requester } from '../health/requester.ts';
import type { Allowance } from './allowance.ts';
import { summarize } from './final-error.ts';
import type { KeyPool } from './key-pool.ts';
import type { RelayParts } from './relay-parts.ts';

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

type AdmissionParts = Pick<RelayParts, 'health' | 'keys' | 'monotonic'>;

/** Decides by breakers, keys and the retry budget which routes a request may use, and records the reasons against others. */
export class RouteAdmission {
  readonly #parts: AdmissionParts;
  readonly #allowance: Allowance;
  readonly #requester: Requester;
  readonly #openCircuits: Route[] = [];
  /** Faults of routes not asked, because all their keys are throttled or no slot became free. */
  readonly #throttlings: Fault[] = [];
  #isOverBudget = false;

  constructor(parts: AdmissionParts, allowance: Allowance, requester: Requester) {
    this.#parts = parts;
    this.#allowance = allowance;
    this.#requester = requester;
  }

  /** False while it cools down, or all its keys do. */
  isAvailable(route: Route): boolean {
    return this.#isReady(route) && this.#parts.health.isAvailable(route, this.#requester);
  }

  /** True where its last known result is not a failure. */
  isHealthy(route: Route): boolean {
    return this.#parts.health.isHealthy(route, this.#requester) && this.#isReady(route);
  }

  /** True while its breaker is open. */
  isShut(route: Route): boolean {
    return this.#parts.health.waitFor([route], this.#requester) > 0;
  }

  /** See the function. */
  throttlingOf(route: Route): Fault | undefined {
    return throttlingOf(this.#parts, route);
  }

  /** Notes a route that is not asked because its breaker is open. */
  skip(route: Route): void {
    this.#openCircuits.push(route);
  }

  /** Notes why a route is not asked that may serve later. */
  noteThrottling(fault: Fault): void {
    this.#throttlings.push(fault);
  }

  /**
   * Asks the breaker, and for more than the first attempt the budget.
   *
   * @returns undefined where one of them refuses
   */
  admit(route: Route): AdmittedRoute | undefined | Promise<AdmittedRoute | undefined> {
    const throttling = this.throttlingOf(route);
    if (throttling !== undefined) {
      this.#throttlings.push(throttling);
      return undefined;
    }
    const isHealthy = this.isHealthy(route);
    const admission = this.#parts.health.admit(route, this.#requester);
    return whenSettled(admission, (claimed) => this.#charge(route, claimed, isHealthy));
  }

  /** A failover to a healthy route is free: hundreds of requests may be on a route when it dies, and none is lost. */
  #charge(route: Route, admission: Admission | undefined, isHealthy: boolean): AdmittedRoute | undefined {
    if (admission === undefined) {
      this.#openCircuits.push(route);
      return undefined;
    }
    if (isHealthy || this.#allowance.mayRetry()) return { route, admission, keys: this.#parts.keys(route) };
    this.#isOverBudget = true;
    this.#parts.health.released(route, admission);
    return undefined;
  }

  /**
   * The error that the client gets.
   *
   * @param failed the routes that were asked
   * @param hasOthers true where some were not tried
   */
  summarize(failed: readonly FailedRoute[], hasOthers: boolean): GatewayError {
    return summarize([...this.#throttlings, ...failed.map(({ fault }) => fault)], this.#waitFor(failed, hasOthers));
  }

  /** Ms until an untried route, or an untried key of a route, may serve. */
  #waitFor(failed: readonly FailedRoute[], hasOthers: boolean): number | undefined {
    const hasKeys = failed.some(({ route, fault }) => fault.kind === 'key' && this.#isReady(route));
    if (hasKeys || this.#isOverBudget || hasOthers) return 0;
    return this.#openCircuits.length > 0 ? this.#parts.health.waitFor(this.#openCircuits, this.#requester) : undefined;
  }

  #isReady(route: Route): boolean {
    return this.#parts.keys(route).isReady(this.#parts.monotonic(), route.model);
  }
}

/**
 * Returns the fault of a route whose keys are all throttled, without asking it; undefined while it has another key.
 *
 * @param last with which the last of them was throttled
 */
export function throttlingOf({ keys, monotonic }: AdmissionParts, route: Route, last?: Fault): Fault | undefined {
  const wait = keys(route).throttledFor(monotonic(), route.model);
  const cause = last?.kind === 'throttled' ? last.error.cause : undefined;
  const message = cause instanceof Error ? cause.message : undefined;
  return wait === undefined
    ? undefined
    : new Fault('throttled', createThrottledError(wait / 1000, message), { status: 429 });
}
