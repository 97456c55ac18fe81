import type { Model, Route } from '#core/config/catalog/catalog.ts';
import type { RouteCalls } from '#core/gateway/model-call/adapter.ts';
import type { GatewayError } from '#core/platform/errors/table.ts';
import type { SlotRequest } from '../capacity/slot-request.ts';
import type { Requester } from '../health/requester.ts';
import { type AdmittedRoute, type FailedRoute, RouteAdmission } from './admission.ts';
import type { Allowance } from './allowance.ts';
import type { RelayParts } from './relay-parts.ts';
import { moveMatchingFirst, moveToFront, orderRoutes, type RemainingRoutes, selectWider } from './route-order.ts';
import type { SessionLease } from './sessions.ts';
import { SlotSearch } from './slot-search.ts';

/** Selects the routes of a model for a request: their order, their admission, and the wait for slots. */
export class Candidates {
  readonly #allowance: Allowance;
  readonly #admission: RouteAdmission;
  readonly #remaining: RemainingRoutes;
  readonly #slotSearch: SlotSearch | undefined;
  #isOrdered = false;

  constructor(
    parts: Pick<RelayParts, 'health' | 'demoted' | 'getKeyPool' | 'monotonic'>,
    allowance: Allowance,
    { routes }: Model,
    requester: Requester,
    lease: SessionLease | undefined,
    slotRequest?: SlotRequest,
  ) {
    this.#allowance = allowance;
    this.#admission = new RouteAdmission(parts, allowance, requester);
    const { demoted } = parts;
    const ordered = moveToFront(lease?.order ?? orderRoutes(routes, undefined), lease?.place?.routeId);
    const withDemotedLast = demoted.size === 0 ? ordered : moveMatchingFirst(ordered, ({ id }) => !demoted.has(id));
    this.#remaining = { routes: moveMatchingFirst(withDemotedLast, (route) => this.#admission.isAvailable(route)) };
    this.#slotSearch = slotRequest && new SlotSearch(slotRequest, this.#remaining, this.#admission, allowance);
  }

  get isEmpty(): boolean {
    return this.#remaining.routes.length === 0;
  }

  get hasHealthy(): boolean {
    return this.#remaining.routes.some((route) => this.#admission.isHealthy(route));
  }

  /**
   * Returns undefined if there is no route or the allowance is used up. `mayWait` is false for a second, concurrent route, which must have
   * a free slot.
   */
  takeNext(calls: RouteCalls, mayWait = true): AdmittedRoute | undefined | Promise<AdmittedRoute | undefined> {
    this.#orderByCalls(calls);
    if (this.#slotSearch !== undefined) return this.#slotSearch.takeNext(calls, mayWait);
    while (this.#allowance.hasAttempts) {
      const route = this.#remaining.routes.shift();
      if (route === undefined) return undefined;
      // Checked as late as possible, because most requests need only one route and the check may require a translation.
      if (!calls.canServe(route)) continue;
      const admitted = this.#admission.admit(route);
      if (admitted instanceof Promise) return admitted.then((claimedRoute) => claimedRoute ?? this.takeNext(calls));
      if (admitted !== undefined) return admitted;
    }
    return undefined;
  }

  #orderByCalls(calls: RouteCalls): void {
    if (this.#isOrdered) return;
    this.#isOrdered = true;
    this.#remaining.routes = moveMatchingFirst(this.#remaining.routes, (route) => calls.prefers?.(route) !== false);
  }

  /** Lets a route that throttled the request be tried again after a wait, if its upstream declares a capacity. */
  retryAfterWait(route: Route): void {
    if (this.#slotSearch?.canWaitFor(route) === true) this.putBack(route);
  }

  /** Returns a route that was stopped because another one served. It did not fail, and may continue a truncated reply. */
  putBack(route: Route): void {
    this.#remaining.routes.push(route);
  }

  /** @param window the route's context window in tokens, as its upstream reported it */
  keepWiderThan(route: Route, window: number | undefined): void {
    this.#remaining.routes = selectWider({ maxInputTokens: route.maxInputTokens ?? window }, this.#remaining.routes);
  }

  createFinalError(failed: readonly FailedRoute[]): GatewayError {
    return this.#admission.createFinalError(failed, !this.isEmpty);
  }
}
