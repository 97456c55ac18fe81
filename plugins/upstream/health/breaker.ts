import { bounds } from '#core/platform/bounds.ts';
import { exponentialDelay } from '#core/platform/timing/backoff.ts';
import { Evidence, type EvidenceOptions, storeLatest, type RouteFailure } from './evidence.ts';

/** When a breaker opens, and for how long. Times are ms. */
export interface BreakerOptions extends EvidenceOptions {
  /** First cooldown. It is doubled after each failed probe, up to `maxCooldown`. */
  readonly cooldown: number;
  readonly maxCooldown: number;
}

export const defaultBreakerOptions: BreakerOptions = {
  failures: 5,
  failureRatio: 0.5,
  minimumCalls: 20,
  window: 60_000,
  cooldown: 5_000,
  maxCooldown: 300_000,
};

type BreakerState = 'closed' | 'open' | 'half_open';

interface BreakerAccount {
  readonly account: string; // digest
  readonly hasOpened: boolean;
  readonly waits: number; // remaining ms of the upstream's Retry-After for the account
  readonly disproved: number; // remaining ms for which its failures are ignored
}

/** State of a breaker, as operators and other instances see it. */
export interface BreakerStatus {
  readonly state: BreakerState;
  /** Ms until the breaker is half-open; zero or negative unless it is open. */
  readonly opensFor: number;
  /** Ms since the breaker opened, including failed probes; undefined while it is closed. */
  readonly openFor?: number | undefined;
  /** Why it last opened. */
  readonly reason: string | undefined;
  /** How often it has opened since it was last closed. */
  readonly openings: number;
  /** The latest accounts, at most `bounds.openingAccounts` of each kind. Earlier versions do not report them. */
  readonly accounts?: readonly BreakerAccount[] | undefined;
}

/** Permission for one request to use the route. The caller returns it with the outcome. */
export interface Admission {
  readonly isProbe: boolean;
}

const ordinaryAdmission: Admission = { isProbe: false };

/**
 * Circuit breaker of a route. Closed: all requests pass. Open: none passes until the cooldown ends. Half-open: the outcome of one request,
 * the probe, decides. If the outcome is still unknown after the first cooldown, the next request also becomes a probe.
 *
 * `Evidence` decides when the breaker opens. During the first cooldown of the half-open state, the accounts that opened the breaker may not
 * probe. A response with Retry-After opens the breaker immediately, for an ordinary cooldown; the account that received it waits for the
 * full Retry-After, even after the breaker has closed. `now` is monotonic ms.
 */
export class Breaker {
  readonly #options: BreakerOptions;
  readonly #evidence: Evidence;
  readonly #retryAfterEnds = new Map<string, number>(); // by account
  #openers = new Set<string>();
  #openings = 0;
  #openUntil = 0;
  #lastCooldown = 0; // ms
  #isOpen = false;
  #openedAt = 0;
  /** The latest probe while half-open. Until `#probeUntil`, no other request becomes a probe. */
  #probe: Admission | undefined;
  #probeUntil = 0;
  #probes = new WeakSet<Admission>(); // the latest probe, and earlier ones that have not ended
  #reason: string | undefined;

  constructor(options: BreakerOptions) {
    this.#options = options;
    this.#evidence = new Evidence(options);
  }

  getStatus(now: number): BreakerStatus {
    const opensFor = this.#openUntil - now;
    const openFor = this.#isOpen ? now - this.#openedAt : undefined;
    const accounts = this.#listAccounts(now);
    return {
      state: this.#computeState(now),
      opensFor,
      openFor,
      reason: this.#reason,
      openings: this.#openings,
      accounts,
    };
  }

  get isClosed(): boolean {
    return !this.#isOpen;
  }

  /** Returns true unless the last known result is a failure. */
  isHealthy(): boolean {
    return !this.#isOpen && !this.#evidence.hasRecentFailure;
  }

  /** Admits a request or returns undefined. While half-open, the admitted request is the probe. The caller must report its outcome. */
  admit(now: number, account: string): Admission | undefined {
    if (this.#readRetryAfterEnd(account, now) > now) return undefined;
    if (!this.#isOpen) return ordinaryAdmission;
    if (now < this.#computeAdmissionTime(account) || now < this.#probeUntil) return undefined;
    // The outcome of a released probe is ignored, but that of a slow probe still counts.
    if (this.#probe !== undefined && this.#probeUntil === 0) this.#probes.delete(this.#probe);
    this.#probe = { isProbe: true };
    this.#probes.add(this.#probe);
    this.#probeUntil = now + this.#options.cooldown;
    return this.#probe;
  }

  /** Returns the ms until a request of the account is admitted, unless another request becomes the probe. */
  msUntilAdmission(now: number, account: string): number {
    const until = this.#isOpen ? this.#computeAdmissionTime(account) : 0;
    return Math.max(0, until - now, this.#readRetryAfterEnd(account, now) - now);
  }

  /**
   * Returns true if the outcome of this request decides. That is false if it was sent before the breaker opened or was released as a probe.
   */
  isProbedBy(admission: Admission): boolean {
    return this.#isOpen && this.#probes.has(admission);
  }

  /** Returns true if this closed the breaker. */
  recordSuccess(now: number, admission: Admission, account: string): boolean {
    this.#evidence.recordSuccess(now, account);
    if (!this.#isOpen) {
      this.#evidence.endRun();
      return false;
    }
    if (!this.isProbedBy(admission)) return false;
    this.closeAfterSuccess(now, account);
    return true;
  }

  /** Closes the breaker because a request of the account was served. If other accounts opened it, their failures are disproved. */
  closeAfterSuccess(now: number, account: string): void {
    if (!this.#openers.has(account))
      for (const opener of [...this.#openers, ...this.#retryAfterEnds.keys()])
        if (opener !== account) this.#evidence.disprove(opener, now);
    this.close();
  }

  /** Returns true if this opened the breaker or repeated its cooldown. */
  recordFailure(now: number, failure: RouteFailure, admission: Admission): boolean {
    const { reason, requester, retryAfterMs = 0 } = failure;
    const isOpened = this.#isOpen
      ? this.#recordProbeFailure(now, failure, admission)
      : this.#evidence.recordFailure(now, failure) && this.#open(now, reason, this.#evidence.listSuspects(now));
    if (retryAfterMs <= 0) return isOpened;
    const isDisproved = this.#evidence.isDisproved(requester.account, now);
    storeLatest(this.#retryAfterEnds, requester.account, now + retryAfterMs, bounds.waitingAccounts);
    if (this.#isOpen || isDisproved) return isOpened;
    return this.#open(now, reason, [], Math.min(retryAfterMs, this.#cooldownMs));
  }

  /**
   * Notes that the attempt ended without a result, for example because the client disconnected. Another request may then become the probe;
   * until one does, this request may continue as the probe, for example with another key.
   */
  release(admission: Admission): void {
    if (this.#isOpen && admission === this.#probe) this.#probeUntil = 0;
  }

  /** Notes that the probe was not sent because another instance is probing. This instance may probe again at `until`. */
  postponeProbe(admission: Admission, until: number): void {
    if (admission !== this.#probe) return;
    this.#probes.delete(admission);
    this.#probe = undefined;
    this.#probeUntil = until;
  }

  /** Adopts the open state of another instance's breaker, but with no more than this instance's maximum cooldown. */
  adopt({ opensFor, openFor = 0, reason, openings, accounts = [] }: BreakerStatus, now: number): void {
    if (!this.#isOpen) this.#openedAt = now - openFor;
    this.#isOpen = true;
    this.#openUntil = Math.max(this.#openUntil, now + Math.min(opensFor, this.#options.maxCooldown));
    this.#lastCooldown = Math.max(0, Math.min(opensFor, this.#options.maxCooldown));
    this.#reason = reason;
    this.#openings = Math.max(this.#openings, openings);
    this.adoptAccounts(accounts, now);
    this.#endProbes();
  }

  adoptAccounts(accounts: readonly BreakerAccount[], now: number): void {
    if (this.#isOpen) this.#addOpeners(accounts.filter(({ hasOpened }) => hasOpened).map(({ account }) => account));
    for (const { account, waits, disproved } of accounts) {
      if (now + waits > Math.max(now, this.#readRetryAfterEnd(account, now)))
        storeLatest(this.#retryAfterEnds, account, now + waits, bounds.waitingAccounts);
      if (disproved > 0) this.#evidence.disprove(account, now, disproved);
    }
  }

  /** Unlike `close`, also ends the waits of accounts with a Retry-After. */
  reset(): void {
    this.#retryAfterEnds.clear();
    this.close();
  }

  /** Accounts with a Retry-After keep waiting. */
  close(): void {
    this.#isOpen = false;
    this.#openUntil = 0;
    this.#openers.clear();
    this.#endProbes();
    this.#openings = 0;
    this.#evidence.clear();
  }

  #computeState(now: number): BreakerState {
    if (!this.#isOpen) return 'closed';
    return now < this.#openUntil ? 'open' : 'half_open';
  }

  #computeAdmissionTime(account: string): number {
    // The accounts that opened the breaker wait longer.
    const openerDelay = Math.min(this.#lastCooldown, this.#options.cooldown);
    return this.#openers.has(account) ? this.#openUntil + openerDelay : this.#openUntil;
  }

  #readRetryAfterEnd(account: string, now: number): number {
    if (this.#retryAfterEnds.size === 0) return 0;
    const until = this.#retryAfterEnds.get(account) ?? 0;
    if (until > 0 && until <= now) this.#retryAfterEnds.delete(account);
    return until;
  }

  #recordProbeFailure(
    now: number,
    { reason, requester, mayBeCausedByRequest }: RouteFailure,
    admission: Admission,
  ): boolean {
    // A failed probe proves nothing if its conversation has failed before, so the next request becomes the probe.
    if (mayBeCausedByRequest && this.#evidence.recordConversation(requester.conversation, now)) {
      this.release(admission);
      return false;
    }
    if (!this.isProbedBy(admission)) return false;
    // It is also inconclusive if its account opened the breaker. The failure may be real, so the cooldown is repeated but not doubled.
    const isConclusive = !mayBeCausedByRequest || !this.#openers.has(requester.account);
    if (isConclusive) return this.#open(now, reason, mayBeCausedByRequest ? [requester.account] : []);
    this.#openUntil = now + this.#lastCooldown;
    this.release(admission);
    return true;
  }

  #open(now: number, reason: string, accounts: readonly string[], cooldownMs = this.#cooldownMs): true {
    if (!this.#isOpen) this.#openedAt = now;
    this.#isOpen = true;
    this.#lastCooldown = cooldownMs;
    this.#openUntil = now + cooldownMs;
    this.#openings++;
    this.#reason = reason;
    this.#addOpeners(accounts);
    this.#endProbes();
    return true;
  }

  get #cooldownMs(): number {
    const { cooldown, maxCooldown } = this.#options;
    return exponentialDelay({ min: cooldown, max: maxCooldown }, this.#openings);
  }

  #endProbes(): void {
    this.#probe = undefined;
    this.#probeUntil = 0;
    this.#probes = new WeakSet();
  }

  #addOpeners(accounts: readonly string[]): void {
    if (accounts.length === 0) return;
    const openers = new Set(this.#openers);
    for (const account of accounts) {
      openers.delete(account);
      openers.add(account);
    }
    this.#openers = new Set([...openers].slice(-bounds.openingAccounts));
  }

  #listAccounts(now: number): readonly BreakerAccount[] | undefined {
    const waiting = [...this.#retryAfterEnds].filter(([, until]) => until > now).slice(-bounds.openingAccounts);
    const disproved = this.#evidence.getRemainingDisprovalMs(now);
    const accounts = new Set([...this.#openers, ...waiting.map(([account]) => account), ...disproved.keys()]);
    if (accounts.size === 0) return undefined;
    return [...accounts].map((account) => ({
      account,
      hasOpened: this.#openers.has(account),
      waits: Math.max(0, this.#readRetryAfterEnd(account, now) - now),
      disproved: disproved.get(account) ?? 0,
    }));
  }
}
