import type { Model, Route } from '#core/config/catalog/catalog.ts';
import type { RouteCalls } from '#core/gateway/model-call/adapter.ts';
import type { GatewayError } from '#core/platform/errors/table.ts';
import type { Turn } from '../capacity/turn.ts';
import type { Requester } from '../health/requester.ts';
import { type AdmittedRoute, type FailedRoute, RouteAdmission } from './admission.ts';
import type { Allowance } from './allowance.ts';
import type { RelayParts } from './relay-parts.ts';
import { availableFirst, firstOf, orderRoutes, type RoutesLeft, widerThan } from './route-order.ts';
import type { SessionSeat } from './sessions.ts';
import { SlotSearch } from './slot-search.ts';

/** Routes of a model that a request may be sent to: their order, admission, and the wait for scarce slots. */
export class Candidates {
  readonly #allowance: Allowance;
  readonly #admission: RouteAdmission;
  readonly #remaining: RoutesLeft;
  readonly #search: SlotSearch | undefined;
  #isOrdered = false;

  /** @param turn set if the request may have to wait for slots */
  constructor(
    parts: Pick<RelayParts, 'health' | 'demoted' | 'keys' | 'monotonic'>,
    allowance: Allowance,
    { routes }: Model,
    requester: Requester,
    seat: SessionSeat | undefined,
    turn?: Turn,
  ) {
    this.#allowance = allowance;
    this.#admission = new RouteAdmission(parts, allowance, requester);
    const { demoted } = parts;
    const ordered = firstOf(seat?.order ?? orderRoutes(routes, undefined), seat?.place?.routeId);
    const preferred = demoted.size === 0 ? ordered : availableFirst(ordered, ({ id }) => !demoted.has(id));
    this.#remaining = { routes: availableFirst(preferred, (route) => this.#admission.isAvailable(route)) };
    this.#search = turn && new SlotSearch(turn, this.#remaining, this.#admission, allowance);
  }

  get isEmpty(): boolean {
    return this.#remaining.routes.length === 0;
  }

  /** True while a healthy route is left. */
  get hasHealthy(): boolean {
    return this.#remaining.routes.some((route) => this.#admission.isHealthy(route));
  }

  /**
   * Returns the next route that may be tried now; undefined if there is none, or the allowance is used up.
   *
   * @param mayWait false for a second, concurrent route: it must have a free slot
   */
  next(calls: RouteCalls, mayWait = true): AdmittedRoute | undefined | Promise<AdmittedRoute | undefined> {
    this.#order(calls);
    if (this.#search !== undefined) return this.#search.next(calls, mayWait);
    while (this.#allowance.hasAttempts) {
      const route = this.#remaining.routes.shift();
      if (route === undefined) return undefined;
      // Checked late: most requests need one route, and the check may require a translation.
      if (!calls.canServe(route)) continue;
      const admitted = this.#admission.admit(route);
      if (admitted instanceof Promise) return admitted.then((claimed) => claimed ?? this.next(calls));
      if (admitted !== undefined) return admitted;
    }
    return undefined;
  }

  /** The calls of the first attempt determine which routes support the whole request. Done once. */
  #order(calls: RouteCalls): void {
    if (this.#isOrdered) return;
    this.#isOrdered = true;
    this.#remaining.routes = availableFirst(this.#remaining.routes, (route) => calls.prefers?.(route) !== false);
  }

  /** A route that throttled the request may be tried again after a wait, if its upstream has a capacity. */
  waitAgain(route: Route): void {
    if (this.#search?.mayWaitFor(route) === true) this.putBack(route);
  }

  /** Adds a route that was stopped because another served: it did not fail, and may continue a truncated answer. */
  putBack(route: Route): void {
    this.#remaining.routes.push(route);
  }

  /**
   * Keeps only the routes with a larger context window than this one.
   *
   * @param window tokens, as reported by its upstream
   */
  keepWiderThan(route: Route, window: number | undefined): void {
    this.#remaining.routes = widerThan({ maxInputTokens: route.maxInputTokens ?? window }, this.#remaining.routes);
  }

  /**
   * The client's error if no route served.
   *
   * @param failed the routes that were tried
   */
  summarize(failed: readonly FailedRoute[]): GatewayError {
    return this.#admission.summarize(failed, !this.isEmpty);
  }
}
