import { bounds } from '#core/platform/bounds.ts';
import { doubledDelay } from '#core/platform/timing/backoff.ts';
import { CallWindow } from './call-window.ts';

/** When a breaker opens and for how long. Times are ms. */
export interface BreakerOptions {
  /** Consecutive failures that open it. */
  readonly failures: number;
  /** Share of failed calls in the window that opens it, once the window has enough calls. */
  readonly failureRatio: number;
  readonly minimumCalls: number;
  readonly window: number;
  /** The first cooldown; doubled each time the probe fails, up to the longest. */
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

/** State of a breaker, as reported to people and other instances. */
export interface BreakerStatus {
  readonly state: BreakerState;
  /** Ms until it is half-open; not positive unless it is open. */
  readonly opensFor: number;
  /** Ms since it opened, however often its probe has failed; undefined while it is closed. */
  readonly openFor?: number | undefined;
  /** Why it opened last. */
  readonly reason: string | undefined;
  /** Openings since it was last closed. */
  readonly openings: number;
}

/** Permission for one request to use the route. The caller reports the outcome with it. */
export interface Admission {
  readonly isProbe: boolean;
}

const ordinaryAdmission: Admission = { isProbe: false };

/** Ms after which a probe without a reported outcome expires. */
const probeTimeout = 120_000;

/**
 * The circuit breaker of a route. Closed: all requests pass. Open: none passes until the cooldown ends. Half-open: one request,
 * the probe, decides.
 *
 * Failures of one conversation count once: clients retry a request that makes an upstream fail, and a single client must not
 * open the breaker for the others. An upstream that says when it will serve again opens it at once, until then. `now` is ms of a monotonic clock.
 */
export class Breaker {
  readonly #options: BreakerOptions;
  readonly #window: CallWindow;
  /** Conversations that failed in the window, and when they were counted. */
  readonly #sources = new Map<string, number>();
  #consecutive = 0;
  /** Conversations among the consecutive failures; each counts once, however late it fails again. */
  readonly #failedInRow = new Set<string>();
  #openings = 0;
  #opensUntil = 0;
  #isOpen = false;
  #openedAt = 0;
  /** The probe while half-open, and until when its outcome is awaited. */
  #probe: Admission | undefined;
  #probeUntil = 0;
  #reason: string | undefined;

  constructor(options: BreakerOptions) {
    this.#options = options;
    this.#window = new CallWindow(options);
  }

  status(now: number): BreakerStatus {
    const opensFor = this.#opensUntil - now;
    const openFor = this.#isOpen ? now - this.#openedAt : undefined;
    return { state: this.#state(now), opensFor, openFor, reason: this.#reason, openings: this.#openings };
  }

  get isClosed(): boolean {
    return !this.#isOpen;
  }

  /** True when the last known result is not a failure. */
  isHealthy(): boolean {
    return !this.#isOpen && this.#consecutive === 0;
  }

  /** Admits a request, or returns undefined. While half-open, the request is the probe. Its outcome must be reported. */
  admit(now: number): Admission | undefined {
    if (!this.#isOpen) return ordinaryAdmission;
    if (now < this.#opensUntil || now < this.#probeUntil) return undefined;
    this.#probe = { isProbe: true };
    this.#probeUntil = now + probeTimeout;
    return this.#probe;
  }

  /** True for the request whose outcome decides. Others were sent before the breaker opened, or are overdue probes. */
  isProbedBy(admission: Admission): boolean {
    return this.#isOpen && admission === this.#probe;
  }

  /** @returns true when this has closed the breaker */
  succeeded(now: number, admission: Admission): boolean {
    this.#window.count(now, false);
    if (this.#isOpen && !this.isProbedBy(admission)) return false;
    this.#consecutive = 0;
    // Clearing an empty set makes a new table, see LinkedList.
    if (this.#failedInRow.size > 0) this.#failedInRow.clear();
    if (!this.#isOpen) return false;
    this.reset();
    return true;
  }

  /**
   * @param source the conversation, where the request may have caused the failure; undefined where no request can, such as
   *   for a refused connection
   * @param retryAfter ms for which the upstream asked for no request; 0 where it did not
   * @returns true when this has opened the breaker
   */
  failed(now: number, reason: string, source: string | undefined, admission: Admission, retryAfter = 0): boolean {
    const isOpened = this.#count(now, reason, source, admission);
    if (retryAfter <= 0) return isOpened;
    const wasOpen = this.#isOpen;
    if (!wasOpen) this.#open(now, reason, retryAfter);
    this.#opensUntil = Math.max(this.#opensUntil, now + retryAfter);
    return isOpened || !wasOpen;
  }

  /** @returns true when this has opened the breaker */
  #count(now: number, reason: string, source: string | undefined, admission: Admission): boolean {
    const isRepeated = source !== undefined && this.#isKnown(source, now);
    if (this.#isOpen) return isRepeated ? this.#wait(admission) : this.#reopen(now, reason, admission);
    if (isRepeated) return false;
    this.#window.count(now, true);
    if (source === undefined || !this.#failedInRow.has(source)) this.#consecutive++;
    if (source !== undefined) this.#failedInRow.add(source);
    const { failures, failureRatio, minimumCalls } = this.#options;
    const isRatioReached = this.#window.failureRatio(now, minimumCalls) >= failureRatio;
    if (this.#consecutive < failures && !isRatioReached) return false;
    this.#open(now, reason);
    return true;
  }

  /**
   * The attempt ended without a result, such as when the client left. Another request may become the probe; until then
   * this one may continue as it, for example with another key.
   */
  released(admission: Admission): void {
    if (this.isProbedBy(admission)) this.#probeUntil = 0;
  }

  /** The probe was not sent, because another instance sends one: the next may be tried at this time. */
  postponeProbe(admission: Admission, until: number): void {
    if (!this.isProbedBy(admission)) return;
    this.#probe = undefined;
    this.#probeUntil = until;
  }

  /** Takes over the open breaker of another instance, for no longer than its own would be open. */
  adopt({ opensFor, openFor = 0, reason, openings }: BreakerStatus, now: number): void {
    if (!this.#isOpen) this.#openedAt = now - openFor;
    this.#isOpen = true;
    this.#opensUntil = Math.max(this.#opensUntil, now + Math.min(opensFor, this.#options.longestCooldown));
    this.#reason = reason;
    this.#openings = Math.max(this.#openings, openings);
    this.#endProbe();
  }

  /** Closes it and forgets all failures. */
  reset(): void {
    this.#isOpen = false;
    this.#opensUntil = 0;
    this.#endProbe();
    this.#openings = 0;
    this.#consecutive = 0;
    this.#failedInRow.clear();
    this.#sources.clear();
    this.#window.clear();
  }

  #state(now: number): BreakerState {
    if (!this.#isOpen) return 'closed';
    return now < this.#opensUntil ? 'open' : 'half_open';
  }

  #reopen(now: number, reason: string, admission: Admission): boolean {
    if (!this.isProbedBy(admission)) return false;
    this.#open(now, reason);
    return true;
  }

  #open(now: number, reason: string, pause = this.#cooldown): void {
    if (!this.#isOpen) this.#openedAt = now;
    this.#isOpen = true;
    this.#opensUntil = now + pause;
    this.#openings++;
    this.#reason = reason;
    this.#endProbe();
  }

  /** Ms of the next cooldown. */
  get #cooldown(): number {
    const { cooldown, longestCooldown } = this.#options;
    return doubledDelay({ first: cooldown, longest: longestCooldown }, this.#openings);
  }

  #endProbe(): void {
    this.#probe = undefined;
    this.#probeUntil = 0;
  }

  /** A conversation that failed before proves nothing as a probe: the next request becomes it. */
  #wait(admission: Admission): false {
    this.released(admission);
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
}
