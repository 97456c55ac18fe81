import type { Route } from '#core/config/catalog/catalog.ts';
import type { RouteCalls } from '#core/gateway/model-call/adapter.ts';
import type { CapacityPool } from '../capacity/pool.ts';
import type { Slot, SlotRequest } from '../capacity/slot-request.ts';
import type { AdmittedRoute, RouteAdmission } from './admission.ts';
import type { Allowance } from './allowance.ts';
import { getWaitSeconds } from './final-error.ts';
import type { RemainingRoutes } from './route-order.ts';

interface FoundRoute {
  readonly route: Route;
  readonly slot: Slot | undefined;
}

interface SearchRound {
  readonly found: FoundRoute | undefined;
  readonly isFull: boolean;
  readonly retryAfterMs: number; // until a throttled route may be tried; Infinity if there is none
}

/** Finds the next route with a slot if upstreams declare a capacity. The request may have to wait for the slot. */
export class SlotSearch {
  readonly #slotRequest: SlotRequest;
  readonly #remaining: RemainingRoutes;
  readonly #admission: RouteAdmission;
  readonly #allowance: Allowance;

  constructor(slotRequest: SlotRequest, remaining: RemainingRoutes, admission: RouteAdmission, allowance: Allowance) {
    this.#slotRequest = slotRequest;
    this.#remaining = remaining;
    this.#admission = admission;
    this.#allowance = allowance;
  }

  canWaitFor(route: Route): boolean {
    return this.#slotRequest.getPool(route) !== undefined && this.#slotRequest.remainingMs > 0;
  }

  /**
   * Returns the first route with a free slot. Considers the routes of the first route's priority, or all routes if backups are preferred to
   * waiting. If none has a free slot, waits for the first slot that becomes free. After the wait, a backup with a free slot may serve.
   */
  async takeNext(calls: RouteCalls, mayWait: boolean): Promise<AdmittedRoute | undefined> {
    const slotRequest = this.#slotRequest;
    let canQueue = mayWait && slotRequest.remainingMs > 0;
    let isFull = false;
    while (this.#allowance.hasAttempts && !slotRequest.isGone) {
      const round = await this.#searchOnce(calls, canQueue);
      let { found } = round;
      isFull ||= round.isFull;
      if (found === undefined && canQueue && (slotRequest.isQueued || round.retryAfterMs !== Infinity)) {
        const result = await this.#waitForRoute(calls, round.retryAfterMs);
        if (result === 'gone') break;
        if (result === 'late') canQueue = false;
        if (typeof result === 'string') continue;
        found = result;
      }
      if (found === undefined) {
        if (!canQueue) break;
        canQueue = false;
        continue;
      }
      const admitted = await this.#admit(found);
      if (admitted === undefined) continue;
      await slotRequest.leaveQueues();
      return admitted;
    }
    await slotRequest.leaveQueues();
    if (isFull && mayWait && !slotRequest.isGone) {
      this.#admission.noteThrottling(slotRequest.createFault());
      this.#remaining.routes = [];
    }
    return undefined;
  }

  async #waitForRoute(calls: RouteCalls, retryAfterMs: number): Promise<FoundRoute | 'again' | 'late' | 'gone'> {
    this.#allowance.stopClock();
    const result = await this.#slotRequest.waitForSlot(retryAfterMs);
    this.#allowance.startClock();
    if (typeof result === 'string') return result;
    const found = this.#findRoute(result.pool, calls, result.slot);
    if (found === undefined) await result.slot.release(false);
    return found ?? 'again';
  }

  async #searchOnce(calls: RouteCalls, canQueue: boolean): Promise<SearchRound> {
    const slotRequest = this.#slotRequest;
    let isFull = false;
    let retryAfterMs = Infinity;
    let firstRoute: Route | undefined;
    for (const route of this.#remaining.routes) {
      if (canQueue && !slotRequest.prefersBackup && route.priority !== (firstRoute ?? route).priority) break;
      if (!calls.canServe(route)) {
        await this.#removeRoute(route);
        continue;
      }
      const pool = slotRequest.getPool(route);
      if (pool === undefined) return { found: { route, slot: undefined }, isFull, retryAfterMs };
      const throttling = this.#admission.findThrottling(route);
      if (throttling !== undefined) {
        // Another route may serve now. If none does, the request may wait until a key is available again.
        const waitMs = getWaitSeconds(throttling) * 1000;
        if (canQueue && waitMs < slotRequest.remainingMs) retryAfterMs = Math.min(retryAfterMs, waitMs);
        else if (canQueue || slotRequest.remainingMs <= 0) {
          await this.#removeRoute(route);
          this.#admission.noteThrottling(throttling);
        }
        continue;
      }
      if (this.#admission.isBreakerOpen(route)) {
        await this.#removeRoute(route);
        this.#admission.noteOpenBreaker(route);
        continue;
      }
      firstRoute ??= route;
      const slot = await slotRequest.takeSlot(pool, canQueue);
      if (slot !== undefined) return { found: { route, slot }, isFull, retryAfterMs };
      isFull = true;
    }
    return { found: undefined, isFull, retryAfterMs };
  }

  /**
   * Removes a route from a copy of the list, so that a loop over the old list continues. Leaves the queue of a pool that has no routes
   * left.
   */
  async #removeRoute(route: Route): Promise<void> {
    this.#remaining.routes = this.#remaining.routes.filter((candidate) => candidate !== route);
    const pool = this.#slotRequest.getPool(route);
    if (pool === undefined) return;
    const isNeeded = this.#remaining.routes.some((candidate) => this.#slotRequest.getPool(candidate) === pool);
    if (!isNeeded) await this.#slotRequest.leaveQueues(pool);
  }

  #findRoute(pool: CapacityPool, calls: RouteCalls, slot: Slot): FoundRoute | undefined {
    const route = this.#remaining.routes.find(
      (candidate) => this.#slotRequest.getPool(candidate) === pool && calls.canServe(candidate),
    );
    return route && { route, slot };
  }

  async #admit({ route, slot }: FoundRoute): Promise<AdmittedRoute | undefined> {
    await this.#removeRoute(route);
    const admitted = await this.#admission.admit(route);
    if (admitted !== undefined) return { ...admitted, slot };
    await slot?.release(false);
    return undefined;
  }
}
