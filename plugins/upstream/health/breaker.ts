import { bounds } from '#core/platform/bounds.ts';
import { doubledDelay } from '#core/platform/timing/backoff.ts';
import { Evidence, type EvidenceOptions, remember, type RouteFailure } from './evidence.ts';

/** Conditions for opening a breaker, and the cooldown. Times are ms. */
export interface BreakerOptions extends EvidenceOptions {
  /** Consecutive failures that open it. */
  readonly failures: number;
  /** Share that opens it, of failed calls and of accounts whose calls fail, once the window has enough calls. */
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

type BreakerState = 'closed' | 'open' | 'half_open';

interface AccountMark {
  readonly account: string; // digest
  readonly hasOpened: boolean;
  readonly waits: number; // ms of the upstream's Retry-After for the account
  readonly disproved: number; // ms for which its failures do not count
}

/** State of a breaker, as reported to people and other instances. */
export interface BreakerStatus {
  readonly state: BreakerState;
  /** Ms until it is half-open; not positive unless it is open. */
  readonly opensFor: number;
  /** Ms since it opened, however often its probe has failed; undefined while it is closed. */
  readonly openFor?: number | undefined;
  /** Reason for the last opening. */
  readonly reason: string | undefined;
  /** Openings since it was last closed. */
  readonly openings: number;
  /** The latest, at most `openingAccounts` of each kind; earlier versions report none. */
  readonly accounts?: readonly AccountMark[] | undefined;
}

/** Permission for one request to use the route. The caller reports the outcome with it. */
export interface Admission {
  readonly isProbe: boolean;
}

const ordinaryAdmission: Admission = { isProbe: false };

/**
 * The circuit breaker of a route. Closed: all requests pass. Open: none passes until the cooldown ends. Half-open: one request,
 * the probe, decides; if its outcome is not known after the first cooldown, so does the next one.
 *
 * What opens it is the matter of `Evidence`. For one more cooldown, only accounts that have not opened it may probe; then any account
 * may. An upstream that says when it will serve again opens it at once, for an ordinary cooldown; the account that got the response
 * waits as long as it says, also once the breaker is closed. `now` is ms of a monotonic clock.
 */
export class Breaker {
  readonly #options: BreakerOptions;
  readonly #evidence: Evidence;
  readonly #waiting = new Map<string, number>(); // until when
  #openedBy = new Set<string>();
  #openings = 0;
  #opensUntil = 0;
  #lastCooldown = 0; // ms
  #isOpen = false;
  #openedAt = 0;
  /** The latest probe while half-open, and until when no other request becomes one. */
  #probe: Admission | undefined;
  #probeUntil = 0;
  /** Probes whose outcome decides: the latest, and earlier ones that were only slow. */
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

  /** True when the last known result is not a failure. */
  isHealthy(): boolean {
    return !this.#isOpen && !this.#evidence.isRunning;
  }

  /** Admits a request, or returns undefined. While half-open, the request is the probe. Its outcome must be reported. */
  admit(now: number, account: string): Admission | undefined {
    if (this.#waitUntil(account, now) > now) return undefined;
    if (!this.#isOpen) return ordinaryAdmission;
    if (now < this.#admitsFrom(account) || now < this.#probeUntil) return undefined;
    // One that was given up for another has no say; one that is slow has.
    if (this.#probe !== undefined && this.#probeUntil === 0) this.#probes.delete(this.#probe);
    this.#probe = { isProbe: true };
    this.#probes.add(this.#probe);
    this.#probeUntil = now + this.#options.cooldown;
    return this.#probe;
  }

  /** Ms until it admits a request of the account, if no other one becomes the probe. */
  waitFor(now: number, account: string): number {
    const until = this.#isOpen ? this.#admitsFrom(account) : 0;
    return Math.max(0, until - now, this.#waitUntil(account, now) - now);
  }

  /** True for requests whose outcome decides. Others were sent before the breaker opened, or given up for another probe. */
  isProbedBy(admission: Admission): boolean {
    return this.#isOpen && this.#probes.has(admission);
  }

  /** @returns true when this has closed the breaker */
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

  /** Closes it, since a request of the account was served. */
  proved(now: number, account: string): void {
    const others = [...this.#openedBy, ...this.#waiting.keys()].filter((one) => one !== account);
    if (!this.#openedBy.has(account)) for (const other of others) this.#evidence.disprove(other, now);
    this.close();
  }

  /** @returns true when this has opened the breaker */
  failed(now: number, failure: RouteFailure, admission: Admission): boolean {
    const { reason, requester, retryAfter = 0 } = failure;
    const isOpened = this.#isOpen
      ? this.#probeFailed(now, failure, admission)
      : this.#evidence.failed(now, failure) && this.#open(now, reason, this.#evidence.suspects(now));
    if (retryAfter <= 0) return isOpened;
    const isDisproved = this.#evidence.isDisproved(requester.account, now);
    remember(this.#waiting, requester.account, now + retryAfter, bounds.waitingAccounts);
    if (this.#isOpen || isDisproved) return isOpened;
    return this.#open(now, reason, [], Math.min(retryAfter, this.#cooldownMs));
  }

  /**
   * The attempt ended without a result, such as when the client left. Another request may become the probe; until then
   * this one may continue as it, for example with another key.
   */
  released(admission: Admission): void {
    if (this.#isOpen && admission === this.#probe) this.#probeUntil = 0;
  }

  /** The probe was not sent, because another instance sends one: the next may be tried at this time. */
  postponeProbe(admission: Admission, until: number): void {
    if (admission !== this.#probe) return;
    this.#probes.delete(admission);
    this.#probe = undefined;
    this.#probeUntil = until;
  }

  /** Takes over the open breaker of another instance, for no longer than its own would be open. */
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

  /** Takes over the accounts of another instance's breaker. */
  adoptAccounts(accounts: readonly AccountMark[], now: number): void {
    if (this.#isOpen) this.#addOpeners(accounts.filter(({ hasOpened }) => hasOpened).map(({ account }) => account));
    for (const { account, waits, disproved } of accounts) {
      if (now + waits > Math.max(now, this.#waitUntil(account, now)))
        remember(this.#waiting, account, now + waits, bounds.waitingAccounts);
      if (disproved > 0) this.#evidence.disprove(account, now, disproved);
    }
  }

  /** Closes it and forgets all failures, as an operator's word. */
  reset(): void {
    this.#waiting.clear();
    this.close();
  }

  /** Closes it; accounts with a Retry-After still wait. */
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

  /** When the open breaker admits the account: accounts that opened it come after the others. */
  #admitsFrom(account: string): number {
    const preference = Math.min(this.#lastCooldown, this.#options.cooldown);
    return this.#openedBy.has(account) ? this.#opensUntil + preference : this.#opensUntil;
  }

  /** End of the account's Retry-After; 0 for none. */
  #waitUntil(account: string, now: number): number {
    if (this.#waiting.size === 0) return 0;
    const until = this.#waiting.get(account) ?? 0;
    if (until > 0 && until <= now) this.#waiting.delete(account);
    return until;
  }

  #probeFailed(now: number, { reason, requester, mayBeCausedByRequest }: RouteFailure, admission: Admission): boolean {
    // A conversation that failed before proves nothing as a probe: the next request becomes it.
    if (mayBeCausedByRequest && this.#evidence.isKnown(requester.conversation, now)) this.released(admission);
    else if (this.isProbedBy(admission)) {
      // Nor does an account that opened it, but its failure may be no accident: another cooldown, and no longer one.
      const proves = !mayBeCausedByRequest || !this.#openedBy.has(requester.account);
      if (proves) return this.#open(now, reason, mayBeCausedByRequest ? [requester.account] : []);
      this.#opensUntil = now + this.#lastCooldown;
      this.released(admission);
      return true;
    }
    return false;
  }

  #open(now: number, reason: string, accounts: readonly string[], pause = this.#cooldownMs): true {
    if (!this.#isOpen) this.#openedAt = now;
    this.#isOpen = true;
    this.#lastCooldown = pause;
    this.#opensUntil = now + pause;
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
    const all = new Set(this.#openedBy);
    for (const account of accounts) {
      all.delete(account);
      all.add(account);
    }
    this.#openedBy = new Set([...all].slice(-bounds.openingAccounts));
  }

  #marks(now: number): readonly AccountMark[] | undefined {
    const waiting = [...this.#waiting].filter(([, until]) => until > now).slice(-bounds.openingAccounts);
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
