import type { Exchange } from '#core/gateway/pipeline/exchange.ts';

interface AllowanceLimits {
  readonly maxAttempts: number;
  readonly deadline: number; // seconds
}

/** Budget of one request for attempts: their number, its time, and the retries shared by all requests. */
export class Allowance {
  readonly #limits: AllowanceLimits;
  readonly #budget: RetryBudget;
  readonly #exchange: Pick<Exchange, 'elapsed'>;
  #used = 0;
  #stoppedAt = 0; // ms since the exchange began
  #stoppedMs = 0; // ms while stopped

  constructor(limits: AllowanceLimits, budget: RetryBudget, exchange: Pick<Exchange, 'elapsed'>) {
    this.#limits = limits;
    this.#budget = budget;
    this.#exchange = exchange;
  }

  /** Attempts made so far. */
  get used(): number {
    return this.#used;
  }

  /** False if the attempts or the time are used up. */
  get hasAttempts(): boolean {
    return this.#used < this.#limits.maxAttempts && this.timeLeft > 0;
  }

  get isLastAttempt(): boolean {
    return this.#used === this.#limits.maxAttempts - 1;
  }

  /** Seconds left. */
  get timeLeft(): number {
    return this.#limits.deadline - (this.#exchange.elapsed - this.#stoppedMs) / 1000;
  }

  /**
   * Seconds for an attempt that leaves time for another route: the reserve, but at most half of the time.
   *
   * @param reserve seconds
   */
  timeLeftBefore(reserve: number): number {
    return this.timeLeft - Math.min(reserve, this.timeLeft / 2);
  }

  useAttempt(): void {
    this.#used++;
  }

  /** True for the first attempt. Further attempts are charged to the shared budget while it lasts. */
  mayRetry(): boolean {
    return this.#used === 0 || this.#budget.spend();
  }

  /** The answer is being sent, or the request waits for a slot: time is not counted until `startClock`. */
  stopClock(): void {
    this.#stoppedAt = this.#exchange.elapsed;
  }

  startClock(): void {
    this.#stoppedMs += this.#exchange.elapsed - this.#stoppedAt;
  }
}

const reservedRetries = 20; // so that a quiet gateway can fail over too

/**
 * Limits the load added by failover: if everything fails, three attempts per request make it worse. Each request earns a fraction of a
 * retry; a retry costs 1, unless it goes to a healthy route.
 */
export class RetryBudget {
  /** Retries that a request earns, such as 0.1. */
  share: number;
  #left = reservedRetries;

  constructor(share: number) {
    this.share = share;
  }

  /** Credits a request. */
  earn(): void {
    this.#left = Math.min(reservedRetries, this.#left + this.share);
  }

  /**
   * Takes one retry.
   *
   * @returns false if none is left
   */
  spend(): boolean {
    if (this.#left < 1) return false;
    this.#left--;
    return true;
  }
}
