import type { Route } from '#core/config/catalog/catalog.ts';
import { routeResetChannel } from '#core/gateway/model-call/route-reset.ts';
import type { RouteStatus } from '#core/gateway/model-call/route-status.ts';
import type { Notifications } from '#core/platform/database/database.ts';
import { whenSettled } from '#core/platform/timing/when-settled.ts';
import { type BreakerOptions, defaultBreakerOptions, type Admission } from './breaker.ts';
import type { RouteFailure } from './evidence.ts';
import { type Requester, unknownRequester } from './requester.ts';
import { RouteState } from './route-state.ts';
import { RouteSync, type RouteSyncParts } from './route-sync.ts';
import type { Timing } from './throughput.ts';

const claimIntervalMs = 1_000; // between attempts to claim a probe, so that not every request queries the store

/** Health of all routes: a breaker and the usual throughput for each upstream and model. Survives reloads. */
export class RouteHealth implements AsyncDisposable {
  /** A reload updates it in place, because breakers read it on each use. */
  readonly options: { -readonly [Name in keyof BreakerOptions]: BreakerOptions[Name] } = { ...defaultBreakerOptions };
  onReset: (id: string) => void = () => {};
  /** Called after a route's state changed on this instance and was sent to the others. */
  onChange: () => void = () => {};
  readonly #parts: RouteSyncParts;
  readonly #states = new Map<string, RouteState>();
  readonly #sync: RouteSync;
  readonly #resetSubscription: Promise<() => void> | undefined;

  constructor(parts: RouteSyncParts, notifications?: Notifications) {
    this.#parts = parts;
    this.#sync = new RouteSync(parts, {
      getState: (id) => this.#getState(id),
      byId: this.#states,
      onChange: () => this.onChange(),
    });
    const onReset = (id: string) => this.reset(id);
    this.#resetSubscription = notifications
      ?.listen(routeResetChannel, onReset, () => undefined)
      .catch((error: unknown) => {
        parts.log.error('cannot subscribe to route resets', error);
        return () => undefined;
      });
  }

  /** Starts synchronizing these routes with other instances. */
  addRoutes(routes: readonly Route[]): void {
    for (const route of routes) this.#getState(getHealthKey(route));
    this.#sync.catchUp();
  }

  /**
   * Admits a request to the route or returns undefined. The caller must report the outcome with the admission. The first request after a
   * cooldown is the probe for all instances.
   */
  admit(route: Route, requester: Requester = unknownRequester): Admission | undefined | Promise<Admission | undefined> {
    const id = getHealthKey(route);
    const { breaker } = this.#getState(id);
    const admission = breaker.admit(this.#parts.monotonic(), requester.account);
    if (admission?.isProbe !== true) return admission;
    return whenSettled(this.#sync.claimProbe(id, this.options.cooldown / 1000), (isClaimed) => {
      if (isClaimed) return admission;
      breaker.postponeProbe(admission, this.#parts.monotonic() + claimIntervalMs);
      return undefined;
    });
  }

  /** Returns true unless the route's last known result is a failure. Used to keep extra requests away from a failing upstream. */
  isHealthy(route: Route, requester: Requester = unknownRequester): boolean {
    return this.#getState(getHealthKey(route)).breaker.isHealthy() && this.isAvailable(route, requester);
  }

  /** Returns false while the route is tried last, because it lacks the model or has failed this account or conversation. */
  isAvailable(route: Route, requester: Requester = unknownRequester): boolean {
    const { cooldown, setbacks } = this.#getState(getHealthKey(route));
    const now = this.#parts.monotonic();
    return cooldown.until <= now && !setbacks.isDemoted(requester, now);
  }

  /** Records the first content. A probe then counts as successful, unless the breaker opened because the route was slow. */
  noteContent(route: Route, admission: Admission, requester: Requester = unknownRequester): void {
    const id = getHealthKey(route);
    const { breaker, cooldown, isSlow } = this.#getState(id);
    const wasUnavailable = cooldown.reset();
    if (!isSlow && breaker.isProbedBy(admission)) {
      this.#endProbe(id, admission);
      breaker.closeAfterSuccess(this.#parts.monotonic(), requester.account);
      this.#reportClosed(id, 'the route responds again');
    } else if (wasUnavailable) this.#sync.announce(id);
  }

  /** @param timing undefined if it does not measure the route, for example because the client was slow */
  recordSuccess(
    route: Route,
    admission: Admission,
    timing: Timing | undefined,
    requester: Requester = unknownRequester,
  ): void {
    const id = getHealthKey(route);
    const { breaker, throughput, setbacks } = this.#getState(id);
    this.#endProbe(id, admission);
    const slowness = timing && throughput.recordTiming(timing);
    if (slowness !== undefined) {
      // A conversation with long prompts can be slow even if the route works.
      const failure = { reason: `slow: ${slowness}`, requester, mayBeCausedByRequest: true };
      return this.#applyFailure(id, admission, failure, true);
    }
    setbacks.recordSuccess(requester);
    if (breaker.recordSuccess(this.#parts.monotonic(), admission, requester.account))
      this.#reportClosed(id, 'the route responds again');
  }

  recordFailure(route: Route, admission: Admission, failure: RouteFailure): void {
    this.#applyFailure(getHealthKey(route), admission, failure, false);
  }

  /** Records that the route did not respond on a connection that may itself be at fault. Only this requester is affected. */
  recordSetback(route: Route, requester: Requester): void {
    this.#getState(getHealthKey(route)).setbacks.recordFailure(requester, this.#parts.monotonic());
  }

  /** Records that the route lacks the model, so it is tried last during a cooldown. */
  recordMissingModel(route: Route, admission: Admission, reason: string): void {
    const id = getHealthKey(route);
    const { cooldown } = this.#getState(id);
    const now = this.#parts.monotonic();
    this.release(route, admission);
    if (!cooldown.start(now, reason)) return;
    this.#parts.log.warn(`route ${id} is tried last for ${formatSeconds(cooldown.until - now)}: ${reason}`);
    this.#sync.announce(id);
  }

  /** Records that the attempt ended without evidence for or against the route. */
  release(route: Route, admission: Admission): void {
    const id = getHealthKey(route);
    this.#endProbe(id, admission);
    this.#getState(id).breaker.release(admission);
  }

  msUntilAdmission(routes: readonly Route[], requester: Requester = unknownRequester): number {
    const now = this.#parts.monotonic();
    const breakers = routes.map((route) => this.#getState(getHealthKey(route)).breaker);
    return Math.min(...breakers.map((breaker) => breaker.msUntilAdmission(now, requester.account)));
  }

  getStatuses(routes: readonly Route[]): RouteStatus[] {
    const { monotonic, now } = this.#parts;
    return routes.map((route) => this.getStatus(route, monotonic(), now()));
  }

  /** `now` is monotonic ms, `wallTime` epoch ms. */
  getStatus(route: Route, now: number, wallTime: number): RouteStatus {
    const id = getHealthKey(route);
    return this.#getState(id).getStatus(id, now, wallTime);
  }

  /** Closes the breaker of a route on all instances. */
  reset(id: string): void {
    const { breaker, cooldown, setbacks } = this.#getState(id);
    cooldown.reset();
    setbacks.clear();
    breaker.reset();
    this.onReset(id);
    this.#reportClosed(id, 'reset by an operator');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#sync[Symbol.asyncDispose]();
    const unlisten = await this.#resetSubscription;
    unlisten?.();
  }

  #getState(id: string): RouteState {
    const existing = this.#states.get(id);
    if (existing !== undefined) return existing;
    const state = new RouteState(this.options);
    this.#states.set(id, state);
    return state;
  }

  #applyFailure(id: string, admission: Admission, failure: RouteFailure, isSlow: boolean): void {
    const state = this.#getState(id);
    this.#endProbe(id, admission);
    const now = this.#parts.monotonic();
    const wasClosed = state.breaker.isClosed;
    // Upstreams may send whole pages, but the log, the route list and the front page have one line.
    const reason = failure.reason.replace(/\s+/g, ' ').trim();
    state.setbacks.recordFailure(failure.requester, now);
    if (!state.breaker.recordFailure(now, { ...failure, reason }, admission)) return;
    // It stays true until the breaker closes, because a failure of another kind does not prove that the route is fast.
    state.isSlow ||= isSlow;
    const event = wasClosed ? 'breaker opened' : 'probe failed, breaker stays open';
    this.#parts.log.warn(
      `route ${id}: ${event} for ${formatSeconds(state.breaker.getStatus(now).opensFor)}: ${reason}`,
    );
    if (wasClosed) this.#sync.announceOpening(id);
    else this.#sync.announce(id);
  }

  #reportClosed(id: string, reason: string): void {
    this.#getState(id).isSlow = false;
    this.#parts.log.info(`route ${id}: breaker closed: ${reason}`);
    this.#sync.announce(id);
  }

  /**
   * Lets any instance send the next probe as soon as its breaker allows one. Also called for a probe that no longer decides, because
   * another instance's report was adopted; its claim would otherwise block all instances until it expires.
   */
  #endProbe(id: string, admission: Admission): void {
    if (admission.isProbe) this.#sync.releaseProbe(id);
  }
}

function getHealthKey({ id, healthName = id }: Route): string {
  return healthName;
}

function formatSeconds(milliseconds: number): string {
  return `${Math.round(milliseconds / 1000)} s`;
}
