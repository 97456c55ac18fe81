import type { Route } from '#core/catalog/catalog.ts';
import type { Notifications } from '#core/database/database.ts';
import type { Logger } from '#core/logger.ts';
import type { RouteStatus } from '#core/model-call/route-status.ts';
import type { Shared } from '#core/shared/shared.ts';
import { retryUntilDone } from '#core/timing/backoff.ts';
import { BackgroundWork } from './background-work.ts';
import { Breaker, type BreakerOptions, defaultBreaker, type Pass } from './breaker.ts';
import { Throughput, type Timing } from './throughput.ts';
import { Cooldown } from './cooldown.ts';
import { resetChannel } from './reset-channel.ts';
import { parseMessage, readReport, type RouteMessage, type RouteReport, storeReport } from './route-report.ts';

export interface RouteHealthParts {
  readonly instance: string;
  readonly shared: Shared;
  readonly log: Logger;
  now(): number; // epoch ms
}

/** Seconds for which one instance may hold the probe of a route. */
const probeClaim = 30;
const probeKey = (id: string) => `upstream/probe/${id}`;
const channel = 'upstream/breakers';
/** Ms between attempts to subscribe to the other instances. */
const retries = { first: 500, longest: 30_000 };

interface RouteState {
  readonly breaker: Breaker;
  readonly throughput: Throughput;
  /** When what is known of it has changed, here or elsewhere; 0 when it never has. See `RouteReport`. */
  changedAt: number;
  /** It was slow when it was left out: its first content alone does not tell that it is back. */
  isSlow: boolean;
  /** After it has said that it does not have the model. */
  readonly cooldown: Cooldown;
}

/**
 * What is known about the routes: a breaker for each upstream and model, and how fast it used to be. Instances tell each
 * other when that changes, store it for those that come later, and share the probe. Outlives reloads.
 */
export class RouteHealth implements AsyncDisposable {
  /** Changed in place by a reload: the breakers look it up when they need it. */
  readonly options: { -readonly [Name in keyof BreakerOptions]: BreakerOptions[Name] } = { ...defaultBreaker };
  /** Called when a route, by its id, has been let in by hand. */
  onReset: (id: string) => void = () => {};
  readonly #parts: RouteHealthParts;
  readonly #states = new Map<string, RouteState>();
  readonly #subscriptions: readonly Promise<() => void>[];
  readonly #closing = new AbortController();
  readonly #catchUp = new BackgroundWork(() => this.#compareAll());

  /** @param notifications by which the command line resets a route; left out where there is none */
  constructor(parts: RouteHealthParts, notifications?: Notifications) {
    this.#parts = parts;
    const subscriptions = [this.#hearOthers()];
    if (notifications !== undefined) {
      subscriptions.push(
        notifications.listen(
          resetChannel,
          (id) => this.reset(id),
          () => undefined,
        ),
      );
    }
    this.#subscriptions = subscriptions.map((subscription) =>
      subscription.catch((error: unknown) => {
        parts.log.error('resets of routes by the command line are not heard', error);
        return () => undefined;
      }),
    );
  }

  /** Asks in the background what other instances have found out about these routes, and goes on to. */
  learn(routes: readonly Route[]): void {
    for (const { id } of routes) this.#of(id);
    this.#requestCatchUp();
  }

  /**
   * Lets a request go to the route now, or undefined. What becomes of it is reported with the pass. The first one after
   * a pause is the probe, of all instances.
   */
  admit(route: Route): Pass | undefined | Promise<Pass | undefined> {
    const { breaker } = this.#of(route.id);
    const pass = breaker.admit(this.#parts.now());
    return pass?.isProbe === true && this.#parts.shared.kind === 'redis'
      ? this.#claimProbe(route.id, breaker, pass)
      : pass;
  }

  /** True when the last thing that is known of a route is no failure: asking it adds nothing to what is broken. */
  isHealthy(route: Route): boolean {
    return this.#of(route.id).breaker.isHealthy() && this.isAvailable(route);
  }

  /** False while it is asked after the others, because it does not have the model. */
  isAvailable(route: Route): boolean {
    return this.#of(route.id).cooldown.until <= this.#parts.now();
  }

  /** The first content has come: a probe has shown what it had to, unless it has to show how fast the route is. */
  answers(route: Route, pass: Pass): void {
    const { breaker, cooldown, isSlow } = this.#of(route.id);
    const wasUnavailable = cooldown.forget();
    if (!isSlow && breaker.isProbedBy(pass)) {
      this.#endProbe(route.id, pass);
      this.#close(route.id, breaker, 'it answers again');
    } else if (wasUnavailable) this.#announce(route.id);
  }

  /**
   * An answer has come to its end.
   *
   * @param source its conversation: one with long prompts, or of a client that reads slowly, says little of the route
   */
  served(route: Route, pass: Pass, timing: Timing, source: () => string): void {
    const { breaker, throughput } = this.#of(route.id);
    this.#endProbe(route.id, pass);
    const slowness = throughput.observe(timing);
    if (slowness !== undefined) this.#fail(route, pass, `slow: ${slowness}`, source(), true);
    else if (breaker.succeeded(this.#parts.now(), pass)) this.#close(route.id, breaker, 'it answers again');
  }

  /**
   * @param words why, for people
   * @param source see `Breaker.failed`
   */
  failed(route: Route, pass: Pass, words: string, source: string | undefined): void {
    this.#fail(route, pass, words, source, false);
  }

  #fail(route: Route, pass: Pass, words: string, source: string | undefined, isSlow: boolean): void {
    const state = this.#of(route.id);
    const { breaker } = state;
    this.#endProbe(route.id, pass);
    const now = this.#parts.now();
    // Upstreams write pages; the log, the list of routes and the front page have a line for each.
    const reason = words.replace(/\s+/g, ' ').trim();
    if (!breaker.failed(now, reason, source, pass)) return;
    // Until it is back: what fails between does not make it fast.
    state.isSlow ||= isSlow;
    const { opensUntil, openings } = breaker.status(now);
    const what = openings === 1 ? 'is left out for' : 'has failed its probe and stays out for';
    this.#parts.log.warn(`route ${route.id} ${what} ${Math.round((opensUntil - now) / 1000)} s: ${reason}`);
    this.#announce(route.id);
  }

  /**
   * The route does not have the model: it comes last for a while, longer each time.
   *
   * @param reason why, for people
   */
  lacksModel(route: Route, pass: Pass, reason: string): void {
    const { cooldown } = this.#of(route.id);
    const now = this.#parts.now();
    this.released(route, pass);
    if (!cooldown.begin(now, reason)) return;
    this.#parts.log.warn(`route ${route.id} comes last for ${Math.round((cooldown.until - now) / 1000)} s: ${reason}`);
    this.#announce(route.id);
  }

  /** The attempt said nothing about the route. */
  released(route: Route, pass: Pass): void {
    this.#endProbe(route.id, pass);
    this.#of(route.id).breaker.released(pass);
  }

  /** Ms until one of these routes may be tried again. */
  waitFor(routes: readonly Route[]): number {
    const now = this.#parts.now();
    const waits = routes.map(({ id }) => this.#of(id).breaker.status(now).opensUntil - now);
    return Math.max(0, Math.min(...waits));
  }

  status(routes: readonly Route[]): RouteStatus[] {
    return routes.map(({ id }) => this.#statusOf(id));
  }

  /** Closes the breaker of a route, here and in every other instance. */
  reset(id: string): void {
    const { breaker, cooldown } = this.#of(id);
    cooldown.forget();
    this.onReset(id);
    this.#close(id, breaker, 'let in by hand');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    this.#catchUp[Symbol.dispose]();
    for (const stop of await Promise.all(this.#subscriptions)) stop();
  }

  /** A store that is away when the gateway starts is listened to when it is there. */
  async #hearOthers(): Promise<() => void> {
    const { shared, log } = this.#parts;
    const subscribe = () =>
      shared.events.subscribe(
        channel,
        (message) => this.#hear(message),
        () => this.#requestCatchUp(true),
      );
    const onFailure = (error: unknown, failures: number) => {
      const reason = error instanceof Error ? error.message : String(error);
      if (failures === 0) log.warn(`what others learn about routes is not heard yet: ${reason}`);
    };
    const stop = await retryUntilDone(subscribe, { range: retries, signal: this.#closing.signal, onFailure });
    this.#requestCatchUp(true);
    return stop ?? (() => undefined);
  }

  #of(id: string): RouteState {
    const known = this.#states.get(id);
    if (known !== undefined) return known;
    const state = {
      breaker: new Breaker(this.options),
      throughput: new Throughput(),
      cooldown: new Cooldown(),
      changedAt: 0,
      isSlow: false,
    };
    this.#states.set(id, state);
    return state;
  }

  #statusOf(route: string): RouteStatus {
    const { breaker, cooldown } = this.#of(route);
    const now = this.#parts.now();
    const { state, opensUntil, reason = null } = breaker.status(now);
    if (state !== 'closed') return { route, state, open_until: new Date(opensUntil).toISOString(), reason };
    if (cooldown.until <= now) return { route, state, open_until: null, reason: null };
    return {
      route,
      state: 'no_model',
      open_until: new Date(cooldown.until).toISOString(),
      reason: cooldown.reason ?? null,
    };
  }

  #close(id: string, breaker: Breaker, why: string): void {
    breaker.reset();
    this.#of(id).isSlow = false;
    this.#parts.log.info(`route ${id} is back: ${why}`);
    this.#announce(id);
  }

  async #claimProbe(id: string, breaker: Breaker, pass: Pass): Promise<Pass | undefined> {
    try {
      const isOurs = await this.#parts.shared.cache.claim(probeKey(id), this.#parts.instance, probeClaim);
      if (isOurs) return pass;
      breaker.released(pass);
      return undefined;
    } catch {
      // Nobody to ask: a probe too many does less harm than none.
      return pass;
    }
  }

  /** The next probe may be anybody's, as soon as the breaker says so. */
  #endProbe(id: string, pass: Pass): void {
    const { instance, shared } = this.#parts;
    if (shared.kind !== 'redis' || !this.#of(id).breaker.isProbedBy(pass)) return;
    // What cannot be given back now ends by itself.
    shared.cache.release(probeKey(id), instance).catch(() => undefined);
  }

  /** Something has changed here: the others are told, and those that come later. No request waits for it. */
  #announce(id: string): void {
    const state = this.#of(id);
    state.changedAt = Math.max(this.#parts.now(), state.changedAt + 1);
    this.#tell(id, state).catch(() => this.#requestCatchUp());
  }

  /** @throws SharedUnavailable */
  async #tell(id: string, state: RouteState): Promise<void> {
    const { instance, shared, now } = this.#parts;
    const report = this.#reportOf(state);
    const message: RouteMessage = { instance, id, report };
    const told = shared.events.publish(channel, JSON.stringify(message));
    await Promise.all(shared.kind === 'redis' ? [told, storeReport(shared, id, report, now())] : [told]);
  }

  #reportOf({ breaker, throughput, cooldown, changedAt, isSlow }: RouteState): RouteReport {
    return {
      at: changedAt,
      breaker: breaker.status(this.#parts.now()),
      cooldown: cooldown.status,
      throughput: isSlow ? throughput.usual : undefined,
    };
  }

  #hear(text: string): void {
    const message = parseMessage(text);
    if (message === undefined || message.instance === this.#parts.instance) return;
    const { id, report } = message;
    const state = this.#of(id);
    // Whoever told it had not heard what was known already, and has stored it over that.
    if (report.at < state.changedAt) this.#tell(id, state).catch(() => this.#requestCatchUp());
    else this.#adopt(state, report);
  }

  /** What has changed last counts; here nothing has since it was told, so it is that. */
  #adopt(state: RouteState, report: RouteReport): void {
    if (report.at <= state.changedAt) return;
    const { breaker, throughput, cooldown } = state;
    state.changedAt = report.at;
    state.isSlow = report.throughput !== undefined;
    if (report.throughput !== undefined) throughput.adopt(report.throughput);
    cooldown.adopt(report.cooldown);
    if (report.breaker.state !== 'closed') breaker.adopt(report.breaker);
    // What it counts while it is closed is its own.
    else if (breaker.status(this.#parts.now()).state !== 'closed') breaker.reset();
  }

  /** @param isBack true when there is reason to believe that the store answers now */
  #requestCatchUp(isBack = false): void {
    if (this.#parts.shared.kind !== 'redis') return;
    if (isBack) this.#catchUp.requestNow();
    else this.#catchUp.request();
  }

  /**
   * Learns what is stored, and stores what is newer here: what has opened while the store was away.
   *
   * @throws SharedUnavailable
   */
  async #compareAll(): Promise<void> {
    await Promise.all([...this.#states].map(([id, state]) => this.#compare(id, state)));
  }

  async #compare(id: string, state: RouteState): Promise<void> {
    const stored = await readReport(this.#parts.shared, id);
    if (stored !== undefined && stored.at >= state.changedAt) this.#adopt(state, stored);
    else if (state.changedAt > 0) await this.#tell(id, state);
  }
}
