import { whenSettled } from '#core/platform/timing/when-settled.ts';
import type { Route } from '#core/config/catalog/catalog.ts';
import type { Notifications } from '#core/platform/database/database.ts';
import { routeResetChannel } from '#core/gateway/model-call/route-reset.ts';
import type { RouteStatus } from '#core/gateway/model-call/route-status.ts';
import { type BreakerOptions, defaultBreaker, type Admission } from './breaker.ts';
import { type Requester, nobody } from './requester.ts';
import type { RouteFailure } from './evidence.ts';
import { RouteState } from './route-state.ts';
import { RouteSync, type RouteSyncParts } from './route-sync.ts';
import type { Timing } from './throughput.ts';

/** Ms between attempts to claim a probe that another instance holds, so that not every request queries the store. */
const claimIntervalMs = 1_000;

/** Health of all routes: a breaker and the usual throughput for each upstream and model. Survives reloads. */
export class RouteHealth implements AsyncDisposable {
  /** Updated in place by a reload, because breakers read it on each use. */
  readonly options: { -readonly [Name in keyof BreakerOptions]: BreakerOptions[Name] } = { ...defaultBreaker };
  /** Called after an operator reset a route. */
  onReset: (id: string) => void = () => {};
  /** Called after the state of a route changed on this instance and was sent to the others. */
  onChange: () => void = () => {};
  readonly #parts: RouteSyncParts;
  readonly #states = new Map<string, RouteState>();
  readonly #sync: RouteSync;
  readonly #resets: Promise<() => void> | undefined;

  /** @param notifications carry route resets by operators */
  constructor(parts: RouteSyncParts, notifications?: Notifications) {
    this.#parts = parts;
    this.#sync = new RouteSync(parts, {
      of: (id) => this.#of(id),
      all: this.#states,
      onChange: () => this.onChange(),
    });
    const onReset = (id: string) => this.reset(id);
    this.#resets = notifications
      ?.listen(routeResetChannel, onReset, () => undefined)
      .catch((error: unknown) => {
        parts.log.error('cannot subscribe to route resets', error);
        return () => undefined;
      });
  }

  /** Keeps these routes in sync with other instances. */
  follow(routes: readonly Route[]): void {
    for (const route of routes) this.#of(healthKeyOf(route));
    this.#sync.catchUp();
  }

  /**
   * Admits a request to the route, or returns undefined. The caller reports the outcome with the admission. The first request after a
   * cooldown is the probe for all instances.
   */
  admit(route: Route, requester: Requester = nobody): Admission | undefined | Promise<Admission | undefined> {
    const id = healthKeyOf(route);
    const { breaker } = this.#of(id);
    const admission = breaker.admit(this.#parts.monotonic(), requester.account);
    if (admission?.isProbe !== true) return admission;
    return whenSettled(this.#sync.claimProbe(id, this.options.cooldown / 1000), (isClaimed) => {
      if (isClaimed) return admission;
      breaker.postponeProbe(admission, this.#parts.monotonic() + claimIntervalMs);
      return undefined;
    });
  }

  /** True unless the last known result of the route is a failure: another request adds no load to a failing upstream. */
  isHealthy(route: Route, requester: Requester = nobody): boolean {
    return this.#of(healthKeyOf(route)).breaker.isHealthy() && this.isAvailable(route, requester);
  }

  /** False while the route is tried last: it lacks the model, or failed this account or conversation before. */
  isAvailable(route: Route, requester: Requester = nobody): boolean {
    const { cooldown, setbacks } = this.#of(healthKeyOf(route));
    const now = this.#parts.monotonic();
    return cooldown.until <= now && !setbacks.isDemoted(requester, now);
  }

  /** The first content arrived, which is success enough for a probe, unless the breaker opened because the route was slow. */
  noteContent(route: Route, admission: Admission, requester: Requester = nobody): void {
    const id = healthKeyOf(route);
    const { breaker, cooldown, isSlow } = this.#of(id);
    const wasUnavailable = cooldown.forget();
    if (!isSlow && breaker.isProbedBy(admission)) {
      this.#endProbe(id, admission);
      breaker.proved(this.#parts.monotonic(), requester.account);
      this.#noteClosed(id, 'the route responds again');
    } else if (wasUnavailable) this.#sync.announce(id);
  }

  /**
   * An answer is complete.
   *
   * @param timing undefined if it does not measure the route, as with a slow client
   */
  served(route: Route, admission: Admission, timing: Timing | undefined, requester: Requester = nobody): void {
    const id = healthKeyOf(route);
    const { breaker, throughput, setbacks } = this.#of(id);
    this.#endProbe(id, admission);
    const slowness = timing && throughput.observe(timing);
    // Long prompts of one conversation can be slow without any fault of the route.
    const failure = { reason: `slow: ${slowness}`, requester, mayBeCausedByRequest: true };
    if (slowness !== undefined) return this.#fail(id, admission, failure, true);
    setbacks.recordSuccess(requester);
    if (breaker.succeeded(this.#parts.monotonic(), admission, requester.account))
      this.#noteClosed(id, 'the route responds again');
  }

  failed(route: Route, admission: Admission, failure: RouteFailure): void {
    this.#fail(healthKeyOf(route), admission, failure, false);
  }

  /** The route did not respond on a connection that may be at fault, which proves nothing for other requesters. */
  setBack(route: Route, requester: Requester): void {
    this.#of(healthKeyOf(route)).setbacks.recordFailure(requester, this.#parts.monotonic());
  }

  /** The route lacks the model: it is tried last for a cooldown. */
  lacksModel(route: Route, admission: Admission, reason: string): void {
    const id = healthKeyOf(route);
    const { cooldown } = this.#of(id);
    const now = this.#parts.monotonic();
    this.released(route, admission);
    if (!cooldown.begin(now, reason)) return;
    this.#parts.log.warn(`route ${id} is tried last for ${seconds(cooldown.until - now)}: ${reason}`);
    this.#sync.announce(id);
  }

  /** The attempt ended without evidence about the route. */
  released(route: Route, admission: Admission): void {
    const id = healthKeyOf(route);
    this.#endProbe(id, admission);
    this.#of(id).breaker.released(admission);
  }

  /** Ms until the first of these routes admits a request. */
  waitFor(routes: readonly Route[], requester: Requester = nobody): number {
    const now = this.#parts.monotonic();
    return Math.min(...routes.map((route) => this.#of(healthKeyOf(route)).breaker.waitFor(now, requester.account)));
  }

  status(routes: readonly Route[]): RouteStatus[] {
    const { monotonic, now } = this.#parts;
    return routes.map((route) => this.statusOf(route, monotonic(), now()));
  }

  /**
   * @param now monotonic ms
   * @param wallTime epoch ms
   */
  statusOf(route: Route, now: number, wallTime: number): RouteStatus {
    const id = healthKeyOf(route);
    return this.#of(id).status(id, now, wallTime);
  }

  /** Closes the breaker of a route on all instances. */
  reset(id: string): void {
    const { breaker, cooldown, setbacks } = this.#of(id);
    cooldown.forget();
    setbacks.clear();
    breaker.reset();
    this.onReset(id);
    this.#noteClosed(id, 'reset by an operator');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#sync[Symbol.asyncDispose]();
    const unlisten = await this.#resets;
    unlisten?.();
  }

  #of(id: string): RouteState {
    const existing = this.#states.get(id);
    if (existing !== undefined) return existing;
    const state = new RouteState(this.options);
    this.#states.set(id, state);
    return state;
  }

  #fail(id: string, admission: Admission, failure: RouteFailure, isSlow: boolean): void {
    const state = this.#of(id);
    this.#endProbe(id, admission);
    const now = this.#parts.monotonic();
    const wasClosed = state.breaker.isClosed;
    // Upstreams may send whole pages; the log, the route list and the front page show one line.
    const reason = failure.reason.replace(/\s+/g, ' ').trim();
    state.setbacks.recordFailure(failure.requester, now);
    if (!state.breaker.failed(now, { ...failure, reason }, admission)) return;
    // Kept until the breaker closes: a different failure in between does not prove the route fast.
    state.isSlow ||= isSlow;
    const what = wasClosed ? 'breaker opened' : 'probe failed, breaker stays open';
    this.#parts.log.warn(`route ${id}: ${what} for ${seconds(state.breaker.status(now).opensFor)}: ${reason}`);
    if (wasClosed) this.#sync.announceOpening(id);
    else this.#sync.announce(id);
  }

  #noteClosed(id: string, reason: string): void {
    this.#of(id).isSlow = false;
    this.#parts.log.info(`route ${id}: breaker closed: ${reason}`);
    this.#sync.announce(id);
  }

  /**
   * Lets any instance send the next probe as soon as its breaker allows. Also called if this probe no longer decides because another
   * instance's report was adopted: its claim would otherwise block all instances until it expires.
   */
  #endProbe(id: string, admission: Admission): void {
    if (admission.isProbe) this.#sync.releaseProbe(id);
  }
}

function healthKeyOf({ id, healthName = id }: Route): string {
  return healthName;
}

function seconds(milliseconds: number): string {
  return `${Math.round(milliseconds / 1000)} s`;
}
