import { setTimeout as sleep } from 'node:timers/promises';
import type { Route } from '#core/catalog.ts';
import { isJsonObject } from '#core/json.ts';
import type { Notifications } from '#core/database/database.ts';
import type { Logger } from '#core/logger.ts';
import type { RouteStatus } from '#core/route-status.ts';
import type { Shared } from '#core/shared/shared.ts';
import { Breaker, type BreakerOptions, type BreakerStatus, defaultBreaker, type Pass } from './breaker.ts';
import { Pace, type Timing } from './pace.ts';
import { Rest } from './rest.ts';
import { resetChannel } from './reset-channel.ts';

export interface RouteHealthParts {
  readonly instance: string;
  readonly shared: Shared;
  readonly log: Logger;
  now(): number; // epoch ms
}

/** Seconds for which one instance may hold the probe of a route. */
const probeClaim = 30;
const channel = 'upstream/breakers';
/** Ms between tries to hear the others: grows from the first to the longest. */
const pauses = { first: 500, longest: 30_000 };

interface RouteState {
  readonly breaker: Breaker;
  readonly pace: Pace;
  /** It was slow when it was left out: its first content alone does not tell that it is back. */
  isSlow: boolean;
  /** After it has said that it does not have the model. */
  readonly rest: Rest;
}

/**
 * What is known about the routes: a breaker for each upstream and model, and how fast it used to be. Instances tell each
 * other when one opens or closes, and share its probe. Outlives reloads.
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
  isSound(route: Route): boolean {
    return this.#of(route.id).breaker.isSound() && this.isFit(route);
  }

  /** False while it is asked after the others, because it does not have the model. */
  isFit(route: Route): boolean {
    return this.#of(route.id).rest.until <= this.#parts.now();
  }

  /** The first content has come: a probe has shown what it had to, unless it has to show how fast the route is. */
  answers(route: Route, pass: Pass): void {
    const { breaker, rest, isSlow } = this.#of(route.id);
    rest.forget();
    if (!isSlow && breaker.isProbedBy(pass)) this.#close(route.id, breaker, 'it answers again');
  }

  /**
   * An answer has come to its end.
   *
   * @param source its conversation: one with long prompts, or of a client that reads slowly, says little of the route
   */
  served(route: Route, pass: Pass, timing: Timing, source: () => string): void {
    const { breaker, pace } = this.#of(route.id);
    const slowness = pace.observe(timing);
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
    const now = this.#parts.now();
    // Upstreams write pages; the log, the list of routes and the front page have a line for each.
    const reason = words.replace(/\s+/g, ' ').trim();
    if (!breaker.failed(now, reason, source, pass)) return;
    // Until it is back: what fails between does not make it fast.
    state.isSlow ||= isSlow;
    const { opensUntil, openings } = breaker.status(now);
    const what = openings === 1 ? 'is left out for' : 'has failed its probe and stays out for';
    this.#parts.log.warn(`route ${route.id} ${what} ${Math.round((opensUntil - now) / 1000)} s: ${reason}`);
    this.#announce(route.id, breaker);
  }

  /**
   * The route does not have the model: it comes last for a while, longer each time.
   *
   * @param reason why, for people
   */
  unfit(route: Route, pass: Pass, reason: string): void {
    const { breaker, rest } = this.#of(route.id);
    const now = this.#parts.now();
    breaker.released(pass);
    if (!rest.begin(now, reason)) return;
    this.#parts.log.warn(`route ${route.id} comes last for ${Math.round((rest.until - now) / 1000)} s: ${reason}`);
  }

  /** The attempt said nothing about the route. */
  released(route: Route, pass: Pass): void {
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
    const { breaker, rest } = this.#of(id);
    rest.forget();
    this.onReset(id);
    this.#close(id, breaker, 'let in by hand');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    for (const stop of await Promise.all(this.#subscriptions)) stop();
  }

  /** A store that is away when the gateway starts is listened to when it is there. */
  async #hearOthers(): Promise<() => void> {
    const { shared, log } = this.#parts;
    const { signal } = this.#closing;
    for (let pause = pauses.first; !signal.aborted; pause = Math.min(pause * 2, pauses.longest)) {
      try {
        return await shared.events.subscribe(channel, (message) => this.#hear(message));
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        if (pause === pauses.first) log.warn(`what others learn about routes is not heard yet: ${reason}`);
      }
      await sleep(pause * (0.5 + Math.random() / 2), undefined, { signal, ref: false }).catch(() => undefined);
    }
    return () => undefined;
  }

  #of(id: string): RouteState {
    const known = this.#states.get(id);
    if (known !== undefined) return known;
    const state = { breaker: new Breaker(this.options), pace: new Pace(), rest: new Rest(), isSlow: false };
    this.#states.set(id, state);
    return state;
  }

  #statusOf(route: string): RouteStatus {
    const { breaker, rest } = this.#of(route);
    const now = this.#parts.now();
    const { state, opensUntil, reason = null } = breaker.status(now);
    if (state !== 'closed') return { route, state, open_until: new Date(opensUntil).toISOString(), reason };
    if (rest.until <= now) return { route, state, open_until: null, reason: null };
    return { route, state: 'unfit', open_until: new Date(rest.until).toISOString(), reason: rest.reason ?? null };
  }

  #close(id: string, breaker: Breaker, why: string): void {
    breaker.reset();
    this.#of(id).isSlow = false;
    this.#parts.log.info(`route ${id} is back: ${why}`);
    this.#announce(id, breaker);
  }

  async #claimProbe(id: string, breaker: Breaker, pass: Pass): Promise<Pass | undefined> {
    try {
      const isOurs = await this.#parts.shared.cache.claim(`upstream/probe/${id}`, this.#parts.instance, probeClaim);
      if (isOurs) return pass;
      breaker.released(pass);
      return undefined;
    } catch {
      // Nobody to ask: a probe too many does less harm than none.
      return pass;
    }
  }

  #announce(id: string, breaker: Breaker): void {
    const message = { instance: this.#parts.instance, id, status: breaker.status(this.#parts.now()) };
    // Others find out by themselves, a few requests later.
    this.#parts.shared.events.publish(channel, JSON.stringify(message)).catch(() => undefined);
  }

  #hear(message: string): void {
    const heard = parseMessage(message);
    if (heard === undefined || heard.instance === this.#parts.instance) return;
    const { breaker } = this.#of(heard.id);
    if (heard.status.state === 'closed') breaker.reset();
    else breaker.adopt(heard.status);
  }
}

interface Message {
  readonly instance: string;
  readonly id: string;
  readonly status: BreakerStatus;
}

function parseMessage(text: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) && isJsonObject(value['status']) ? (value as unknown as Message) : undefined;
  } catch {
    return undefined;
  }
}
