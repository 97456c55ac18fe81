import type { Host } from '#core/gateway/host/host.ts';
import { MemoryLimiter } from '#core/platform/shared/memory.ts';
import { type Limits, type Shared, SharedUnavailable } from '#core/platform/shared/shared.ts';
import { wait } from '#core/platform/timing/wait.ts';
import { PaymentError } from './payment-provider.ts';

/**
 * Purpose of a call, which determines its priority. Reads that follow a notification come first, because a payment was reported; then
 * buyers who wait for a QR code or ask for a check. Polls and the books get the remaining capacity, because they can wait.
 */
export type Urgency = 'notification' | 'charge' | 'buyer' | 'poll' | 'books';

const urgencies: Readonly<Record<Urgency, { readonly rank: number; readonly maxWaitMs: number }>> = {
  notification: { rank: 0, maxWaitMs: 15_000 }, // goes first
  charge: { rank: 1, maxWaitMs: 15_000 },
  buyer: { rank: 1, maxWaitMs: 5_000 },
  poll: { rank: 2, maxWaitMs: 2_000 },
  books: { rank: 3, maxWaitMs: 120_000 },
};
const burst = { seconds: 4, refillShare: 56 / 60 }; // together, 60 seconds' worth of calls in any minute
const reservedShare = 0.5; // share of the burst, across all instances, that polls and the books cannot use
const adaptation = { factor: 0.5, minShare: 1 / 32, recovery: 0.01 }; // factor per 429, recovery per second
const pauseMs = { default: 1_000, max: 120_000 }; // default: after a 429 without Retry-After
const maxWaitingCalls = 5_000; // per process and budget; further calls are rejected and retried later

const channel = 'payments:rate';

interface RateChange {
  readonly key: string;
  readonly part: number; // share of the rate
  readonly pause: number; // ms
}

interface WaitingCall {
  readonly urgency: Urgency;
  readonly start: () => void;
}

/** Call budget of a provider endpoint, shared by all instances. Calls wait in order of urgency, at the rate that the provider allows. */
export class CallBudget {
  readonly #key: string;
  readonly #shared: Shared;
  readonly #localLimiter = new MemoryLimiter();
  readonly #queue: WaitingCall[] = [];
  #rate = 1; // calls per second
  #isServing = false;
  #retryWait = new AbortController();
  #share = { value: 1, setAt: 0 }; // of the rate; setAt in ms
  #resumesAt = 0; // ms

  constructor(key: string, shared: Shared) {
    this.#key = key;
    this.#shared = shared;
  }

  /**
   * @param rate calls per second, as configured or documented
   * @param deadline in ms of `performance.now()`
   * @throws PaymentError `temporary` and rate-limited, if the turn does not come before the deadline
   */
  async waitForTurn(rate: number, urgency: Urgency, deadline: number): Promise<void> {
    this.#rate = rate;
    const now = performance.now();
    if (this.#resumesAt > deadline || this.#queue.length >= maxWaitingCalls) throw this.#createError(now);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const call: WaitingCall = { urgency, start: resolve };
    this.#insert(call);
    const timer = setTimeout(
      () => {
        if (this.#remove(call)) reject(this.#createError(performance.now()));
      },
      Math.max(0, deadline - now),
    );
    this.#serveQueue().catch(reject);
    await promise.finally(() => clearTimeout(timer));
  }

  /**
   * Slows down because the provider's rate limit rejected a call: all calls pause, then continue at half the rate. A call that was sent
   * before the last halving does not halve it again.
   *
   * @param sentAt in ms of `performance.now()`
   * @param seconds pause that the provider asked for
   */
  slowDown(sentAt: number, seconds: number | undefined): void {
    const now = performance.now();
    const share = sentAt < this.#share.setAt ? this.#currentShare(now) : this.#currentShare(now) * adaptation.factor;
    const pause = seconds === undefined ? pauseMs.default : seconds * 1_000;
    this.#publish({ key: this.#key, part: Math.max(adaptation.minShare, share), pause: Math.min(pause, pauseMs.max) });
  }

  pause(seconds: number): void {
    const pause = Math.min(seconds * 1_000, pauseMs.max);
    this.#publish({ key: this.#key, part: this.#currentShare(performance.now()), pause });
  }

  applyChange({ part, pause }: Omit<RateChange, 'key'>): void {
    const now = performance.now();
    this.#share = { value: part, setAt: now };
    this.#resumesAt = Math.max(this.#resumesAt, now + pause);
  }

  /** Returns when a call that starts to wait now has to give up, in ms of `performance.now()`. */
  static turnDeadline(urgency: Urgency): number {
    return performance.now() + urgencies[urgency].maxWaitMs;
  }

  #insert(call: WaitingCall): void {
    const { rank } = urgencies[call.urgency];
    const index = this.#queue.findIndex((other) => urgencies[other.urgency].rank > rank);
    this.#queue.splice(index < 0 ? this.#queue.length : index, 0, call);
    if (this.#queue[0] !== call) return;
    // The wait in progress was for a less urgent call.
    this.#retryWait.abort();
    this.#retryWait = new AbortController();
  }

  #remove(call: WaitingCall): boolean {
    const index = this.#queue.indexOf(call);
    if (index >= 0) this.#queue.splice(index, 1);
    return index >= 0;
  }

  async #serveQueue(): Promise<void> {
    if (this.#isServing) return;
    this.#isServing = true;
    try {
      for (let first = this.#queue[0]; first !== undefined; first = this.#queue[0]) {
        const { signal } = this.#retryWait;
        const delay = await this.#takeCall(first.urgency);
        if (delay > 0) await wait(delay, signal);
        // Not necessarily the call that the wait was for: another one may be first by now.
        else this.#queue.shift()?.start();
      }
    } finally {
      this.#isServing = false;
    }
  }

  /** @returns 0 if a call was taken from the budget, otherwise ms until the next try */
  async #takeCall(urgency: Urgency): Promise<number> {
    const now = performance.now();
    if (this.#resumesAt > now) return this.#resumesAt - now;
    const limits = this.#computeLimits(now);
    try {
      return await takeFromLimiter(this.#shared.limiter, this.#key, limits, urgency);
    } catch (error) {
      if (!(error instanceof SharedUnavailable)) throw error;
      const instanceShare = 1 / Math.max(1, this.#shared.limiter.instances);
      return takeFromLimiter(
        this.#localLimiter,
        this.#key,
        { ...limits, limit: limits.limit * instanceShare },
        urgency,
      );
    }
  }

  #computeLimits(now: number): Limits {
    const rate = this.#rate * this.#currentShare(now);
    return {
      limit: rate * burst.refillShare,
      period: 1,
      burst: Math.max(2, Math.floor(rate * burst.seconds)),
    };
  }

  #currentShare(now: number): number {
    const { value, setAt } = this.#share;
    return Math.min(1, value + ((now - setAt) / 1_000) * adaptation.recovery);
  }

  #publish(change: RateChange): void {
    this.applyChange(change);
    // An instance that misses this message will get its own 429.
    this.#shared.events.publish(channel, JSON.stringify(change)).catch(() => undefined);
  }

  #createError(now: number): PaymentError {
    const retryAfter = Math.max(1, (this.#resumesAt - now) / 1_000);
    return new PaymentError('temporary', `${this.#key} has more calls waiting than its rate allows`, {
      retryAfter,
      isRateLimited: true,
    });
  }
}

async function takeFromLimiter(
  limiter: Shared['limiter'],
  key: string,
  limits: Limits,
  urgency: Urgency,
): Promise<number> {
  if (urgency === 'poll' || urgency === 'books') {
    const { remaining } = await limiter.peek(key, limits);
    const missingCalls = Math.floor(limits.burst * reservedShare) + 1 - remaining;
    if (missingCalls > 0) return (missingCalls * 1_000) / limits.limit;
  }
  const { refusedBy, retryAfter } = await limiter.take(key, limits);
  return refusedBy === undefined ? 0 : Math.max(1, retryAfter * 1_000);
}

class CallBudgets implements AsyncDisposable {
  readonly #shared: Shared;
  readonly #budgets = new Map<string, CallBudget>();
  readonly #unsubscribe: Promise<() => void>;

  constructor({ shared }: Pick<Host, 'shared'>) {
    this.#shared = shared;
    this.#unsubscribe = shared.events
      .subscribe(channel, (message) => {
        const { key, ...change } = JSON.parse(message) as RateChange;
        this.#budgets.get(key)?.applyChange(change);
      })
      .catch(() => () => undefined);
  }

  get(key: string): CallBudget {
    const budget = this.#budgets.get(key) ?? new CallBudget(key, this.#shared);
    this.#budgets.set(key, budget);
    return budget;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    (await this.#unsubscribe)();
  }
}

/**
 * Returns an endpoint's budget. Providers limit each endpoint separately, so there are two budgets per provider: one for charges, and one
 * for all other calls, each of which makes one request per endpoint.
 */
export function getCallBudget(host: Host, provider: string, endpoint: 'charge' | 'other'): CallBudget {
  return host.keep('payment-call-budgets', () => new CallBudgets(host)).get(`payments:${provider}:${endpoint}`);
}
