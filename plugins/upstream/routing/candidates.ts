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

/** The routes of a model that a request may be sent to: their order, whether they admit it, and its turn where slots are scarce. */
export class Candidates {
  readonly #allowance: Allowance;
  readonly #admission: RouteAdmission;
  readonly #left: RoutesLeft;
  readonly #search: SlotSearch | undefined;
  #isOrdered = false;

  /** @param turn where the request waits for slots */
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
    const willing = demoted.size === 0 ? ordered : availableFirst(ordered, ({ id }) => !demoted.has(id));
    this.#left = { routes: availableFirst(willing, (route) => this.#admission.isAvailable(route)) };
    this.#search = turn && new SlotSearch(turn, this.#left, this.#admission, allowance);
  }

  get isEmpty(): boolean {
    return this.#left.routes.length === 0;
  }

  /** True while a route is left whose last known result is not a failure. */
  get hasHealthy(): boolean {
    return this.#left.routes.some((route) => this.#admission.isHealthy(route));
  }

  /**
   * Returns the next route that may be tried now; undefined when there is none, or the allowance is exhausted.
   *
   * @param mayWait false for a second, concurrent route: it must have a free slot
   */
  next(calls: RouteCalls, mayWait = true): AdmittedRoute | undefined | Promise<AdmittedRoute | undefined> {
    this.#order(calls);
    if (this.#search !== undefined) return this.#search.next(calls, mayWait);
    while (this.#allowance.hasAttempts) {
      const route = this.#left.routes.shift();
      if (route === undefined) return undefined;
      // Computed late: most requests need one route, and finding out may take a translation.
      if (!calls.canServe(route)) continue;
      const admitted = this.#admission.admit(route);
      if (admitted instanceof Promise) return admitted.then((claimed) => claimed ?? this.next(calls));
      if (admitted !== undefined) return admitted;
    }
    return undefined;
  }

  /** The calls of the first attempt determine which routes support the whole request. */
  #order(calls: RouteCalls): void {
    if (this.#isOrdered) return;
    this.#isOrdered = true;
    this.#left.routes = availableFirst(this.#left.routes, (route) => calls.prefers?.(route) !== false);
  }

  /** A route that has throttled a request may take it after a wait, where its upstream has a capacity. */
  waitAgain(route: Route): void {
    if (this.#search?.mayWaitFor(route) === true) this.putBack(route);
  }

  /** Adds a route that was stopped because another served: it has not failed, and may continue a truncated answer. */
  putBack(route: Route): void {
    this.#left.routes.push(route);
  }

  /** Keeps only the routes with a larger context window than this one. @param window tokens, as its upstream has named them */
  keepWiderThan(route: Route, window: number | undefined): void {
    this.#left.routes = widerThan({ maxInputTokens: route.maxInputTokens ?? window }, this.#left.routes);
  }

  /** The error that the client gets when no route served. @param failed the routes that were asked */
  summarize(failed: readonly FailedRoute[]): GatewayError {
    return this.#admission.summarize(failed, !this.isEmpty);
  }
}
