import type { Route } from '#core/config/catalog/catalog.ts';
import type { RouteCalls } from '#core/gateway/model-call/adapter.ts';
import type { CapacityPool } from '../capacity/pool.ts';
import type { Slot, Turn } from '../capacity/turn.ts';
import type { AdmittedRoute, RouteAdmission } from './admission.ts';
import type { Allowance } from './allowance.ts';
import { waitOf } from './final-error.ts';
import type { RoutesLeft } from './route-order.ts';

interface FoundRoute {
  readonly route: Route;
  readonly slot: Slot | undefined;
}

interface SearchRound {
  readonly found: FoundRoute | undefined;
  readonly isFull: boolean;
  readonly retryIn: number; // ms until a throttled route may be tried
}

/** Finds the next route if upstreams have a capacity: one with a slot, for which the request may wait. */
export class SlotSearch {
  readonly #turn: Turn;
  readonly #remaining: RoutesLeft;
  readonly #admission: RouteAdmission;
  readonly #allowance: Allowance;

  constructor(turn: Turn, left: RoutesLeft, admission: RouteAdmission, allowance: Allowance) {
    this.#turn = turn;
    this.#remaining = left;
    this.#admission = admission;
    this.#allowance = allowance;
  }

  /** True while the request may wait for a slot of the route's upstream. */
  mayWaitFor(route: Route): boolean {
    return this.#turn.poolOf(route) !== undefined && this.#turn.timeLeft > 0;
  }

  /**
   * The first route with a free slot, among those with the same priority as the first, or among all if backups are preferred to waiting.
   * Otherwise the request waits for the first slot that becomes free. After the wait, a backup with a free slot may serve.
   */
  async next(calls: RouteCalls, mayWait: boolean): Promise<AdmittedRoute | undefined> {
    const turn = this.#turn;
    let waits = mayWait && turn.timeLeft > 0;
    let isFull = false;
    while (this.#allowance.hasAttempts && !turn.isGone) {
      const round = await this.#searchOnce(calls, waits);
      let { found } = round;
      isFull ||= round.isFull;
      if (found === undefined && waits && (turn.isQueued || round.retryIn !== Infinity)) {
        this.#allowance.stopClock();
        const end = await turn.wait(round.retryIn);
        this.#allowance.startClock();
        if (end === 'gone') break;
        if (end === 'late') waits = false;
        if (end === 'late' || end === 'again') continue;
        found = this.#withPool(end.pool, calls, end.slot);
        if (found === undefined) {
          await end.slot.release(false);
          continue;
        }
      }
      if (found === undefined) {
        if (!waits) break;
        waits = false;
        continue;
      }
      const admitted = await this.#admitFound(found);
      if (admitted === undefined) continue;
      await turn.leave();
      return admitted;
    }
    await turn.leave();
    if (isFull && mayWait && !turn.isGone) {
      this.#admission.noteThrottling(turn.fault());
      this.#remaining.routes = [];
    }
    return undefined;
  }

  async #searchOnce(calls: RouteCalls, waits: boolean): Promise<SearchRound> {
    const turn = this.#turn;
    let isFull = false;
    let retryIn = Infinity;
    let first: Route | undefined;
    for (const route of this.#remaining.routes) {
      if (waits && !turn.prefersBackup && route.priority !== (first ?? route).priority) break;
      if (!calls.canServe(route)) {
        await this.#drop(route);
        continue;
      }
      const pool = turn.poolOf(route);
      if (pool === undefined) return { found: { route, slot: undefined }, isFull, retryIn };
      const throttling = this.#admission.throttlingOf(route);
      if (throttling !== undefined) {
        // Another route may serve now. Otherwise the request may wait until a key is available again.
        const wait = waitOf(throttling) * 1000;
        if (waits && wait < turn.timeLeft) retryIn = Math.min(retryIn, wait);
        else if (waits || turn.timeLeft <= 0) {
          await this.#drop(route);
          this.#admission.noteThrottling(throttling);
        }
        continue;
      }
      if (this.#admission.isShut(route)) {
        await this.#drop(route);
        this.#admission.skip(route);
        continue;
      }
      first ??= route;
      const slot = await turn.take(pool, waits);
      if (slot !== undefined) return { found: { route, slot }, isFull, retryIn };
      isFull = true;
    }
    return { found: undefined, isFull, retryIn };
  }

  /** Replaces the list, so that a running loop over the old one continues. The last route of a pool also leaves its queue. */
  async #drop(route: Route): Promise<void> {
    this.#remaining.routes = this.#remaining.routes.filter((candidate) => candidate !== route);
    const pool = this.#turn.poolOf(route);
    if (pool !== undefined && !this.#remaining.routes.some((candidate) => this.#turn.poolOf(candidate) === pool))
      await this.#turn.leave(pool);
  }

  #withPool(pool: CapacityPool, calls: RouteCalls, slot: Slot): FoundRoute | undefined {
    const route = this.#remaining.routes.find(
      (candidate) => this.#turn.poolOf(candidate) === pool && calls.canServe(candidate),
    );
    return route && { route, slot };
  }

  async #admitFound({ route, slot }: FoundRoute): Promise<AdmittedRoute | undefined> {
    await this.#drop(route);
    const admitted = await this.#admission.admit(route);
    if (admitted !== undefined) return { ...admitted, slot };
    await slot?.release(false);
    return undefined;
  }
}
