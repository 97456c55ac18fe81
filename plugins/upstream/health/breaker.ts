import { bounds } from '#core/bounds.ts';
import { doubledDelay } from '#core/timing/backoff.ts';

/** When a breaker opens and for how long. Times are ms. */
export interface BreakerOptions {
  /** Failures one after the other. */
  readonly failures: number;
  /** Share of failures in the window, and calls that there must have been for it to count. */
  readonly failureRatio: number;
  readonly minimumCalls: number;
  readonly window: number;
  /** The first pause; it doubles each time that the probe fails, up to the longest. */
  readonly cooldown: number;
  readonly longestCooldown: number;
}

export const defaultBreaker: BreakerOptions = {
  failures: 5,
  failureRatio: 0.5,
  minimumCalls: 20,
  window: 60_000,
  cooldown: 5_000,
  longestCooldown: 300_000,
};

export type BreakerState = 'closed' | 'open' | 'half_open';

/** What others may know of a breaker, and tell other instances. */
export interface BreakerStatus {
  readonly state: BreakerState;
  /** Epoch ms; in the past unless open. */
  readonly opensUntil: number;
  /** Why it opened last. */
  readonly reason: string | undefined;
  /** Openings since it was last closed. */
  readonly openings: number;
}

/** Lets one request through, and tells afterwards what it was: its outcome is reported with it. */
export interface Pass {
  readonly isProbe: boolean;
}

const ordinaryPass: Pass = { isProbe: false };

/** Parts that the window is cut into: the older ones fall out one by one. */
const slices = 6;

/** Ms after which a probe that nobody has reported on is given up. */
const probeTimeout = 120_000;

/**
 * Keeps requests away from what is broken: closed, all pass; open, none does until the cooldown is over; half-open, one
 * probe decides.
 *
 * Failures of one conversation count once: a request that makes an upstream fail is repeated by its client, and would
 * otherwise take the route away from everybody.
 */
export class Breaker {
  readonly #options: BreakerOptions;
  readonly #window: { begin: number; calls: number; failures: number }[] = [];
  /** Conversations that have failed in the window, and when they were counted. */
  readonly #sources = new Map<string, number>();
  #consecutive = 0;
  /** Conversations among the consecutive failures: each counts once, however long it takes to come again. */
  readonly #row = new Set<string>();
  #openings = 0;
  #opensUntil = 0;
  #isOpen = false;
  /** The one that decides while it is half-open, until when it is waited for. */
  #probe: Pass | undefined;
  #probeUntil = 0;
  #reason: string | undefined;

  constructor(options: BreakerOptions) {
    this.#options = options;
  }

  status(now: number): BreakerStatus {
    return { state: this.#state(now), opensUntil: this.#opensUntil, reason: this.#reason, openings: this.#openings };
  }

  /** True when the last thing that is known of it is no failure. */
  isHealthy(): boolean {
    return !this.#isOpen && this.#consecutive === 0;
  }

  /** Lets a request go now, or undefined. In the half-open state that request is the probe, and has to be reported on. */
  admit(now: number): Pass | undefined {
    if (!this.#isOpen) return ordinaryPass;
    if (now < this.#opensUntil || now < this.#probeUntil) return undefined;
    this.#probe = { isProbe: true };
    this.#probeUntil = now + probeTimeout;
    return this.#probe;
  }

  /** True for the one request whose outcome decides. Others were sent before it opened, or were given up as probes. */
  isProbedBy(pass: Pass): boolean {
    return this.#isOpen && pass === this.#probe;
  }

  /** @returns true when it has closed by it */
  succeeded(now: number, pass: Pass): boolean {
    this.#count(now, false);
    if (this.#isOpen && !this.isProbedBy(pass)) return false;
    this.#consecutive = 0;
    this.#row.clear();
    if (!this.#isOpen) return false;
    this.reset();
    return true;
  }

  /**
   * @param source of failures that the request itself may have caused: its conversation. Undefined for those that no
   *   request can cause, a refused connection for instance.
   * @returns true when the breaker has opened by it
   */
  failed(now: number, reason: string, source: string | undefined, pass: Pass): boolean {
    const isRepeated = source !== undefined && this.#isKnown(source, now);
    if (this.#isOpen) return isRepeated ? this.#wait(pass) : this.#reopen(now, reason, pass);
    if (isRepeated) return false;
    this.#count(now, true);
    if (source === undefined || !this.#row.has(source)) this.#consecutive++;
    if (source !== undefined) this.#row.add(source);
    if (this.#consecutive < this.#options.failures && !this.#isRatioReached(now)) return false;
    this.#open(now, reason);
    return true;
  }

  /**
   * The attempt ended without saying anything about the route: its client has left. Another may be the probe; until one
   * is, the same request may go on as it, with another key for instance.
   */
  released(pass: Pass): void {
    if (this.isProbedBy(pass)) this.#probeUntil = 0;
  }

  /** Another instance has opened it. */
  adopt({ opensUntil, reason, openings }: BreakerStatus): void {
    this.#isOpen = true;
    this.#opensUntil = Math.max(this.#opensUntil, opensUntil);
    this.#reason = reason;
    this.#openings = Math.max(this.#openings, openings);
    this.#endProbe();
  }

  /** Closed, with nothing held against the route. */
  reset(): void {
    this.#isOpen = false;
    this.#opensUntil = 0;
    this.#endProbe();
    this.#openings = 0;
    this.#consecutive = 0;
    this.#row.clear();
    this.#sources.clear();
    this.#window.length = 0;
  }

  #state(now: number): BreakerState {
    if (!this.#isOpen) return 'closed';
    return now < this.#opensUntil ? 'open' : 'half_open';
  }

  #reopen(now: number, reason: string, pass: Pass): boolean {
    if (!this.isProbedBy(pass)) return false;
    this.#open(now, reason);
    return true;
  }

  #open(now: number, reason: string): void {
    const { cooldown, longestCooldown } = this.#options;
    this.#isOpen = true;
    this.#opensUntil = now + doubledDelay({ first: cooldown, longest: longestCooldown }, this.#openings);
    this.#openings++;
    this.#reason = reason;
    this.#endProbe();
  }

  #endProbe(): void {
    this.#probe = undefined;
    this.#probeUntil = 0;
  }

  /** A probe by a conversation that has failed before has shown nothing: the next one tells. */
  #wait(pass: Pass): false {
    this.released(pass);
    return false;
  }

  #isKnown(source: string, now: number): boolean {
    const since = this.#sources.get(source);
    if (since !== undefined && now - since < this.#options.window) return true;
    this.#sources.delete(source);
    this.#sources.set(source, now);
    if (this.#sources.size > bounds.failingConversations)
      this.#sources.delete(this.#sources.keys().next().value as string);
    return false;
  }

  #isRatioReached(now: number): boolean {
    this.#forget(now);
    let calls = 0;
    let failures = 0;
    for (const slice of this.#window) {
      calls += slice.calls;
      failures += slice.failures;
    }
    return calls >= this.#options.minimumCalls && failures / calls >= this.#options.failureRatio;
  }

  #count(now: number, isFailure: boolean): void {
    this.#forget(now);
    const length = this.#options.window / slices;
    let slice = this.#window.at(-1);
    if (slice === undefined || now - slice.begin >= length) {
      slice = { begin: now, calls: 0, failures: 0 };
      this.#window.push(slice);
    }
    slice.calls++;
    if (isFailure) slice.failures++;
  }

  #forget(now: number): void {
    while (this.#window[0] !== undefined && now - this.#window[0].begin >= this.#options.window) this.#window.shift();
  }
}
