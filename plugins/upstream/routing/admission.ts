import type { Route } from '#core/config/catalog/catalog.ts';
import { createThrottledError } from '#core/gateway/model-call/upstream-error.ts';
import type { GatewayError } from '#core/platform/errors/table.ts';
import { whenSettled } from '#core/platform/timing/when-settled.ts';
import { Fault } from '../attempt/fault.ts';
import type { Slot } from '../capacity/slot-request.ts';
import type { Admission } from '../health/breaker.ts';
import type { Requester } from '../health/requester.ts';
import type { Allowance } from './allowance.ts';
import { selectFinalError } from './final-error.ts';
import type { KeyPool } from './key-pool.ts';
import type { RelayParts } from './relay-parts.ts';

export interface AdmittedRoute {
  readonly route: Route;
  readonly keys: KeyPool;
  readonly admission: Admission;
  /** Set if the upstream declares a capacity. */
  readonly slot?: Slot | undefined;
}

export interface FailedRoute {
  readonly route: Route;
  readonly fault: Fault;
}

type AdmissionParts = Pick<RelayParts, 'health' | 'getKeyPool' | 'monotonic'>;

/** Decides which routes a request may use, by breakers, keys and the retry budget. Records why the others are not used. */
export class RouteAdmission {
  readonly #parts: AdmissionParts;
  readonly #allowance: Allowance;
  readonly #requester: Requester;
  readonly #skippedRoutes: Route[] = [];
  /** Faults of routes that were not tried, because all their keys are throttled or no slot became free. */
  readonly #throttlingFaults: Fault[] = [];
  #isOverBudget = false;

  constructor(parts: AdmissionParts, allowance: Allowance, requester: Requester) {
    this.#parts = parts;
    this.#allowance = allowance;
    this.#requester = requester;
  }

  /** Returns false while the route or all its keys are cooling down. */
  isAvailable(route: Route): boolean {
    return this.#isReady(route) && this.#parts.health.isAvailable(route, this.#requester);
  }

  /** Returns true if the route is available and its last known result is not a failure. */
  isHealthy(route: Route): boolean {
    return this.#parts.health.isHealthy(route, this.#requester) && this.#isReady(route);
  }

  isBreakerOpen(route: Route): boolean {
    return this.#parts.health.msUntilAdmission([route], this.#requester) > 0;
  }

  findThrottling(route: Route): Fault | undefined {
    return findThrottling(this.#parts, route);
  }

  noteOpenBreaker(route: Route): void {
    this.#skippedRoutes.push(route);
  }

  /** Notes why a route that may serve later is not tried now. */
  noteThrottling(fault: Fault): void {
    this.#throttlingFaults.push(fault);
  }

  /** Returns undefined if the keys, the breaker or, after the first attempt, the retry budget refuse. */
  admit(route: Route): AdmittedRoute | undefined | Promise<AdmittedRoute | undefined> {
    const throttling = this.findThrottling(route);
    if (throttling !== undefined) {
      this.#throttlingFaults.push(throttling);
      return undefined;
    }
    const isHealthy = this.isHealthy(route);
    const admission = this.#parts.health.admit(route, this.#requester);
    return whenSettled(admission, (claimedAdmission) => this.#chargeRetry(route, claimedAdmission, isHealthy));
  }

  #chargeRetry(route: Route, admission: Admission | undefined, isHealthy: boolean): AdmittedRoute | undefined {
    if (admission === undefined) {
      this.#skippedRoutes.push(route);
      return undefined;
    }
    // A healthy route costs no retry, so no request is lost if a route fails with hundreds in flight.
    if (isHealthy || this.#allowance.takeAttempt()) return { route, admission, keys: this.#parts.getKeyPool(route) };
    this.#isOverBudget = true;
    this.#parts.health.release(route, admission);
    return undefined;
  }

  createFinalError(failed: readonly FailedRoute[], hasUntriedRoutes: boolean): GatewayError {
    const faults = [...this.#throttlingFaults, ...failed.map(({ fault }) => fault)];
    return selectFinalError(faults, this.#msUntilNext(failed, hasUntriedRoutes));
  }

  /** Returns the ms until an untried route, or an untried key of a route, may serve; undefined if there is none. */
  #msUntilNext(failed: readonly FailedRoute[], hasUntriedRoutes: boolean): number | undefined {
    const hasKeys = failed.some(({ route, fault }) => fault.kind === 'key' && this.#isReady(route));
    if (hasKeys || this.#isOverBudget || hasUntriedRoutes) return 0;
    if (this.#skippedRoutes.length === 0) return undefined;
    return this.#parts.health.msUntilAdmission(this.#skippedRoutes, this.#requester);
  }

  #isReady(route: Route): boolean {
    return this.#parts.getKeyPool(route).isReady(this.#parts.monotonic(), route.model);
  }
}

/** Returns undefined while the route has another key. `last` is the fault with which the last key was throttled. */
export function findThrottling(parts: AdmissionParts, route: Route, last?: Fault): Fault | undefined {
  const waitMs = parts.getKeyPool(route).computeThrottledMs(parts.monotonic(), route.model);
  if (waitMs === undefined) return undefined;
  const cause = last?.kind === 'throttled' ? last.error.cause : undefined;
  const message = cause instanceof Error ? cause.message : undefined;
  return new Fault('throttled', createThrottledError(waitMs / 1000, message), { status: 429 });
}
