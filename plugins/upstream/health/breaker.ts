import { bounds } from '#core/platform/bounds.ts';
import { doubledDelay } from '#core/platform/timing/backoff.ts';
import { Evidence, type EvidenceOptions, remember, type RouteFailure } from './evidence.ts';

/** Conditions for opening a breaker, and the cooldown. Times are ms. */
export interface BreakerOptions extends EvidenceOptions {
  /** Consecutive failures that open the breaker. */
  readonly failures: number;
  /** Share of failed calls, or of failing accounts, that opens the breaker once the window has `minimumCalls`. */
  readonly failureRatio: number;
  readonly minimumCalls: number;
  readonly window: number;
  /** First cooldown; doubled each time a probe fails, up to `longestCooldown`. */
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

type BreakerState = 'closed' | 'open' | 'half_open';

interface AccountMark {
  readonly account: string; // digest
  readonly hasOpened: boolean;
  readonly waits: number; // ms left of the upstream's Retry-After for the account
  readonly disproved: number; // ms for which its failures are ignored
}

/** State of a breaker as shown to operators and sent to other instances. */
export interface BreakerStatus {
  readonly state: BreakerState;
  /** Ms until the breaker is half-open; zero or negative unless it is open. */
  readonly opensFor: number;
  /** Ms since the breaker opened, across failed probes; undefined while it is closed. */
  readonly openFor?: number | undefined;
  /** Reason for the last opening. */
  readonly reason: string | undefined;
  /** Openings since the breaker was last closed. */
  readonly openings: number;
  /** The latest accounts, at most `bounds.openingAccounts` of each kind; missing in reports of earlier versions. */
  readonly accounts?: readonly AccountMark[] | undefined;
}

/** Permission for one request to use the route. The caller passes it back with the outcome. */
export interface Admission {
  readonly isProbe: boolean;
}

const ordinaryAdmission: Admission = { isProbe: false };

/**
 * Circuit breaker of a route. Closed: all requests pass. Open: none passes until the cooldown ends. Half-open: one request, the probe,
 * decides; if its outcome is unknown after the first cooldown, the next request also becomes a probe.
 *
 * `Evidence` decides when it opens. For one more cooldown, only accounts that did not open it may probe; then any account may. An upstream
 * that says when to retry opens it immediately, for an ordinary cooldown; the account that received the response waits for the full
 * Retry-After, even once the breaker is closed. `now` is monotonic ms.
 */
export class Breaker {
  readonly #options: BreakerOptions;
  readonly #evidence: Evidence;
  readonly #waitingUntil = new Map<string, number>(); // account -> end of its Retry-After
  #openedBy = new Set<string>();
  #openings = 0;
  #opensUntil = 0;
  #lastCooldown = 0; // ms
  #isOpen = false;
  #openedAt = 0;
  /** The latest probe while half-open. No other request becomes one until `#probeUntil`. */
  #probe: Admission | undefined;
  #probeUntil = 0;
  /** Probes whose outcome counts: the latest, and earlier ones that have not ended yet. */
  #probes = new WeakSet<Admission>();
  #reason: string | undefined;

  constructor(options: BreakerOptions) {
    this.#options = options;
    this.#evidence = new Evidence(options);
  }

  status(now: number): BreakerStatus {
    const opensFor = this.#opensUntil - now;
    const openFor = this.#isOpen ? now - this.#openedAt : undefined;
    const accounts = this.#marks(now);
    return { state: this.#state(now), opensFor, openFor, reason: this.#reason, openings: this.#openings, accounts };
  }

  get isClosed(): boolean {
    return !this.#isOpen;
  }

  /** True unless the last known result is a failure. */
  isHealthy(): boolean {
    return !this.#isOpen && !this.#evidence.hasRecentFailure;
  }

  /** Admits a request, or returns undefined. While half-open, the admitted request is the probe. The caller must report its outcome. */
  admit(now: number, account: string): Admission | undefined {
    if (this.#waitUntil(account, now) > now) return undefined;
    if (!this.#isOpen) return ordinaryAdmission;
    if (now < this.#admitsFrom(account) || now < this.#probeUntil) return undefined;
    // The outcome of a released probe is ignored; a slow probe still counts.
    if (this.#probe !== undefined && this.#probeUntil === 0) this.#probes.delete(this.#probe);
    this.#probe = { isProbe: true };
    this.#probes.add(this.#probe);
    this.#probeUntil = now + this.#options.cooldown;
    return this.#probe;
  }

  /** Ms until a request of the account is admitted, unless another request becomes the probe. */
  waitFor(now: number, account: string): number {
    const until = this.#isOpen ? this.#admitsFrom(account) : 0;
    return Math.max(0, until - now, this.#waitUntil(account, now) - now);
  }

  /** True if the outcome of this request decides. Others were sent before the breaker opened, or were released for another probe. */
  isProbedBy(admission: Admission): boolean {
    return this.#isOpen && this.#probes.has(admission);
  }

  /** @returns true if this closed the breaker */
  succeeded(now: number, admission: Admission, account: string): boolean {
    this.#evidence.succeeded(now, account);
    if (!this.#isOpen) {
      this.#evidence.endRun();
      return false;
    }
    if (!this.isProbedBy(admission)) return false;
    this.proved(now, account);
    return true;
  }

  /** Closes the breaker because a request of the account was served. Unless that account opened it, the accounts that did are disproved. */
  proved(now: number, account: string): void {
    const others = [...this.#openedBy, ...this.#waitingUntil.keys()].filter((opener) => opener !== account);
    if (!this.#openedBy.has(account)) for (const other of others) this.#evidence.disprove(other, now);
    this.close();
  }

  /** @returns true if this opened the breaker */
  failed(now: number, failure: RouteFailure, admission: Admission): boolean {
    const { reason, requester, retryAfter = 0 } = failure;
    const isOpened = this.#isOpen
      ? this.#probeFailed(now, failure, admission)
      : this.#evidence.failed(now, failure) && this.#open(now, reason, this.#evidence.suspects(now));
    if (retryAfter <= 0) return isOpened;
    const isDisproved = this.#evidence.isDisproved(requester.account, now);
    remember(this.#waitingUntil, requester.account, now + retryAfter, bounds.waitingAccounts);
    if (this.#isOpen || isDisproved) return isOpened;
    return this.#open(now, reason, [], Math.min(retryAfter, this.#cooldownMs));
  }

  /**
   * The attempt ended without a result, for example because the client disconnected. Another request may become the probe; until then this
   * one may continue as the probe, for example with another key.
   */
  released(admission: Admission): void {
    if (this.#isOpen && admission === this.#probe) this.#probeUntil = 0;
  }

  /** The probe was not sent because another instance is probing; this instance may probe again at `until`. */
  postponeProbe(admission: Admission, until: number): void {
    if (admission !== this.#probe) return;
    this.#probes.delete(admission);
    this.#probe = undefined;
    this.#probeUntil = until;
  }

  /** Adopts the open state of another instance's breaker, for no longer than this one's longest cooldown. */
  adopt({ opensFor, openFor = 0, reason, openings, accounts = [] }: BreakerStatus, now: number): void {
    if (!this.#isOpen) this.#openedAt = now - openFor;
    this.#isOpen = true;
    this.#opensUntil = Math.max(this.#opensUntil, now + Math.min(opensFor, this.#options.longestCooldown));
    this.#lastCooldown = Math.max(0, Math.min(opensFor, this.#options.longestCooldown));
    this.#reason = reason;
    this.#openings = Math.max(this.#openings, openings);
    this.adoptAccounts(accounts, now);
    this.#endProbes();
  }

  /** Adopts the accounts of another instance's breaker. */
  adoptAccounts(accounts: readonly AccountMark[], now: number): void {
    if (this.#isOpen) this.#addOpeners(accounts.filter(({ hasOpened }) => hasOpened).map(({ account }) => account));
    for (const { account, waits, disproved } of accounts) {
      if (now + waits > Math.max(now, this.#waitUntil(account, now)))
        remember(this.#waitingUntil, account, now + waits, bounds.waitingAccounts);
      if (disproved > 0) this.#evidence.disprove(account, now, disproved);
    }
  }

  /** Closes the breaker and clears all failures and waits, at an operator's request. */
  reset(): void {
    this.#waitingUntil.clear();
    this.close();
  }

  /** Closes the breaker. Accounts with a Retry-After still wait. */
  close(): void {
    this.#isOpen = false;
    this.#opensUntil = 0;
    this.#openedBy.clear();
    this.#endProbes();
    this.#openings = 0;
    this.#evidence.clear();
  }

  #state(now: number): BreakerState {
    if (!this.#isOpen) return 'closed';
    return now < this.#opensUntil ? 'open' : 'half_open';
  }

  /** When the open breaker admits the account. Accounts that opened it come after the others. */
  #admitsFrom(account: string): number {
    const preference = Math.min(this.#lastCooldown, this.#options.cooldown);
    return this.#openedBy.has(account) ? this.#opensUntil + preference : this.#opensUntil;
  }

  /** End of the account's Retry-After; 0 if none. */
  #waitUntil(account: string, now: number): number {
    if (this.#waitingUntil.size === 0) return 0;
    const until = this.#waitingUntil.get(account) ?? 0;
    if (until > 0 && until <= now) this.#waitingUntil.delete(account);
    return until;
  }

  #probeFailed(now: number, { reason, requester, mayBeCausedByRequest }: RouteFailure, admission: Admission): boolean {
    // A probe from a conversation that failed before proves nothing: the next request becomes the probe.
    if (mayBeCausedByRequest && this.#evidence.isKnown(requester.conversation, now)) this.released(admission);
    else if (this.isProbedBy(admission)) {
      // Neither does one from an account that opened the breaker, but the failure may be real: repeat the cooldown without doubling it.
      const isConclusive = !mayBeCausedByRequest || !this.#openedBy.has(requester.account);
      if (isConclusive) return this.#open(now, reason, mayBeCausedByRequest ? [requester.account] : []);
      this.#opensUntil = now + this.#lastCooldown;
      this.released(admission);
      return true;
    }
    return false;
  }

  #open(now: number, reason: string, accounts: readonly string[], cooldownMs = this.#cooldownMs): true {
    if (!this.#isOpen) this.#openedAt = now;
    this.#isOpen = true;
    this.#lastCooldown = cooldownMs;
    this.#opensUntil = now + cooldownMs;
    this.#openings++;
    this.#reason = reason;
    this.#addOpeners(accounts);
    this.#endProbes();
    return true;
  }

  get #cooldownMs(): number {
    const { cooldown, longestCooldown } = this.#options;
    return doubledDelay({ first: cooldown, longest: longestCooldown }, this.#openings);
  }

  #endProbes(): void {
    this.#probe = undefined;
    this.#probeUntil = 0;
    this.#probes = new WeakSet();
  }

  #addOpeners(accounts: readonly string[]): void {
    if (accounts.length === 0) return;
    const openers = new Set(this.#openedBy);
    for (const account of accounts) {
      openers.delete(account);
      openers.add(account);
    }
    this.#openedBy = new Set([...openers].slice(-bounds.openingAccounts));
  }

  #marks(now: number): readonly AccountMark[] | undefined {
    const waiting = [...this.#waitingUntil].filter(([, until]) => until > now).slice(-bounds.openingAccounts);
    const disproved = this.#evidence.disproved(now);
    const accounts = new Set([...this.#openedBy, ...waiting.map(([account]) => account), ...disproved.keys()]);
    if (accounts.size === 0) return undefined;
    return [...accounts].map((account) => ({
      account,
      hasOpened: this.#openedBy.has(account),
      waits: Math.max(0, this.#waitUntil(account, now) - now),
      disproved: disproved.get(account) ?? 0,
    }));
  }
}
