import type { Host } from '#core/gateway/host/host.ts';
import { MemoryLimiter } from '#core/platform/shared/memory.ts';
import { type Limits, type Shared, SharedUnavailable } from '#core/platform/shared/shared.ts';
import { wait } from '#core/platform/timing/wait.ts';
import { PaymentError } from './payment-provider.ts';

/**
 * Purpose of a call, by priority. Reads after a notification come first, since a payment was reported; then buyers who wait for a QR code
 * or ask for a check. Polls and the books get what is left: a poll can get the same result a minute later, and the books can wait.
 */
export type Urgency = 'notification' | 'charge' | 'buyer' | 'poll' | 'books';

/** Rank in the queue, and the longest wait for a turn (ms). */
const urgencies: Readonly<Record<Urgency, { readonly rank: number; readonly patience: number }>> = {
  notification: { rank: 0, patience: 15_000 },
  charge: { rank: 1, patience: 15_000 },
  buyer: { rank: 1, patience: 5_000 },
  poll: { rank: 2, patience: 2_000 },
  books: { rank: 3, patience: 120_000 },
};
/** Burst in seconds of the rate, and the share of the rate that refills it: together 60 seconds' worth of calls in a minute. */
const burst = { seconds: 4, remainder: 56 / 60 };
/** Share of the burst, across all instances, that is reserved for calls more urgent than polls and the books. */
const reservedShare = 0.5;
/** A 429 multiplies the rate by `factor`, down to the share `least`; each second raises it by the share `rise`. */
const adaptation = { factor: 0.5, least: 1 / 32, rise: 0.01 };
/** Pause after a 429, in ms: without Retry-After, and the maximum. */
const pauses = { unstated: 1_000, longest: 120_000 };
/** Per process and budget; further calls are rejected at once and retried later. */
const maxWaiting = 5_000;

const channel = 'payments:rate';

interface Adapted {
  readonly key: string;
  readonly part: number;
  readonly pause: number; // ms
}

interface Waiting {
  readonly urgency: Urgency;
  readonly start: () => void;
}

/**
 * Rate budget of one provider endpoint, shared by all instances. Calls wait in order of urgency, and the rate adapts to the provider's
 * reports.
 */
export class CallBudget {
  readonly #key: string;
  readonly #shared: Shared;
  readonly #alone = new MemoryLimiter();
  readonly #waiting: Waiting[] = [];
  #rate = 1; // calls a second
  #isServing = false;
  #wake = new AbortController();
  /** Current share of the rate, and when it was set (ms). */
  #part = { value: 1, at: 0 };
  #resumesAt = 0; // ms

  constructor(key: string, shared: Shared) {
    this.#key = key;
    this.#shared = shared;
  }

  /**
   * Resolves when a call may be made.
   *
   * @param rate calls per second, as configured or documented
   * @param until deadline, in ms of `performance.now()`
   * @throws PaymentError `temporary` and rate-limited, if the turn does not come before `until`
   */
  async turn(rate: number, urgency: Urgency, until: number): Promise<void> {
    this.#rate = rate;
    const now = performance.now();
    if (this.#resumesAt > until || this.#waiting.length >= maxWaiting) throw this.#refusal(now);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting: Waiting = { urgency, start: resolve };
    this.#insert(waiting);
    const timer = setTimeout(
      () => {
        if (this.#remove(waiting)) reject(this.#refusal(performance.now()));
      },
      Math.max(0, until - now),
    );
    this.#serve().catch(reject);
    await promise.finally(() => clearTimeout(timer));
  }

  /**
   * Handles a call that the provider rejected for its rate: calls pause, then continue at half the rate. A call sent before the last
   * halving does not halve it again.
   *
   * @param sentAt ms of `performance.now()`
   * @param seconds pause that the provider asked for
   */
  exceeded(sentAt: number, seconds: number | undefined): void {
    const now = performance.now();
    const part = sentAt < this.#part.at ? this.#partNow(now) : this.#partNow(now) * adaptation.factor;
    const pause = seconds === undefined ? pauses.unstated : seconds * 1_000;
    this.#announce({ key: this.#key, part: Math.max(adaptation.least, part), pause: Math.min(pause, pauses.longest) });
  }

  /** Pauses calls for as many seconds as the provider asked for. */
  exhausted(seconds: number): void {
    const pause = Math.min(seconds * 1_000, pauses.longest);
    this.#announce({ key: this.#key, part: this.#partNow(performance.now()), pause });
  }

  /** Applies a rate reported by this or another instance. */
  adapt({ part, pause }: Omit<Adapted, 'key'>): void {
    const now = performance.now();
    this.#part = { value: part, at: now };
    this.#resumesAt = Math.max(this.#resumesAt, now + pause);
  }

  /** Deadline of a call of this urgency that starts to wait now, in ms of `performance.now()`. */
  static patience(urgency: Urgency): number {
    return performance.now() + urgencies[urgency].patience;
  }

  #insert(waiting: Waiting): void {
    const { rank } = urgencies[waiting.urgency];
    const index = this.#waiting.findIndex((other) => urgencies[other.urgency].rank > rank);
    this.#waiting.splice(index < 0 ? this.#waiting.length : index, 0, waiting);
    if (this.#waiting[0] !== waiting) return;
    // The pending turn was meant for a less urgent call.
    this.#wake.abort();
    this.#wake = new AbortController();
  }

  #remove(waiting: Waiting): boolean {
    const index = this.#waiting.indexOf(waiting);
    if (index >= 0) this.#waiting.splice(index, 1);
    return index >= 0;
  }

  async #serve(): Promise<void> {
    if (this.#isServing) return;
    this.#isServing = true;
    try {
      for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
        const { signal } = this.#wake;
        const delay = await this.#take(first.urgency);
        if (delay > 0) await wait(delay, signal);
        // After the wait, the first call in the queue may be another one.
        else this.#waiting.shift()?.start();
      }
    } finally {
      this.#isServing = false;
    }
  }

  /**
   * Takes a call from the budget.
   *
   * @returns 0 if it was taken, otherwise ms until the next try
   */
  async #take(urgency: Urgency): Promise<number> {
    const now = performance.now();
    if (this.#resumesAt > now) return this.#resumesAt - now;
    const limits = this.#limits(now);
    try {
      return await takeFrom(this.#shared.limiter, this.#key, limits, urgency);
    } catch (error) {
      if (!(error instanceof SharedUnavailable)) throw error;
      const part = 1 / Math.max(1, this.#shared.limiter.instances);
      return takeFrom(this.#alone, this.#key, { ...limits, limit: limits.limit * part }, urgency);
    }
  }

  #limits(now: number): Limits {
    const rate = this.#rate * this.#partNow(now);
    return {
      limit: rate * burst.remainder,
      period: 1,
      burst: Math.max(2, Math.floor(rate * burst.seconds)),
    };
  }

  #partNow(now: number): number {
    const { value, at } = this.#part;
    return Math.min(1, value + ((now - at) / 1_000) * adaptation.rise);
  }

  #announce(adapted: Adapted): void {
    this.adapt(adapted);
    // An instance that misses this is rejected by the provider itself.
    this.#shared.events.publish(channel, JSON.stringify(adapted)).catch(() => undefined);
  }

  #refusal(now: number): PaymentError {
    const retryAfter = Math.max(1, (this.#resumesAt - now) / 1_000);
    return new PaymentError('temporary', `${this.#key} has more calls waiting than its rate allows`, {
      retryAfter,
      isRateLimited: true,
    });
  }
}

async function takeFrom(limiter: Shared['limiter'], key: string, limits: Limits, urgency: Urgency): Promise<number> {
  if (urgency === 'poll' || urgency === 'books') {
    const { remaining } = await limiter.peek(key, limits);
    const missing = Math.floor(limits.burst * reservedShare) + 1 - remaining;
    if (missing > 0) return (missing * 1_000) / limits.limit;
  }
  const { refusedBy, retryAfter } = await limiter.take(key, limits);
  return refusedBy === undefined ? 0 : Math.max(1, retryAfter * 1_000);
}

class CallBudgets implements AsyncDisposable {
  readonly #shared: Shared;
  readonly #budgets = new Map<string, CallBudget>();
  readonly #ended: Promise<() => void>;

  constructor({ shared }: Pick<Host, 'shared'>) {
    this.#shared = shared;
    this.#ended = shared.events
      .subscribe(channel, (message) => {
        const { key, ...adapted } = JSON.parse(message) as Adapted;
        this.#budgets.get(key)?.adapt(adapted);
      })
      .catch(() => () => undefined);
  }

  get(key: string): CallBudget {
    const budget = this.#budgets.get(key) ?? new CallBudget(key, this.#shared);
    this.#budgets.set(key, budget);
    return budget;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    (await this.#ended)();
  }
}

/**
 * Returns the budget of an endpoint. Providers limit endpoints separately, so each provider has two budgets: one for charges, and one for
 * everything else, where one of our calls makes one request per endpoint.
 */
export function callBudget(host: Host, provider: string, endpoint: 'charge' | 'other'): CallBudget {
  return host.keep('payment-call-budgets', () => new CallBudgets(host)).get(`payments:${provider}:${endpoint}`);
}
