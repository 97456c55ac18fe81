import type { Exchange } from '#core/gateway/pipeline/exchange.ts';

interface AllowanceLimits {
  readonly maxAttempts: number;
  readonly deadline: number; // seconds
}

/** Budget of one request: the number of attempts, the time, and the retries shared by all requests. */
export class Allowance {
  readonly #limits: AllowanceLimits;
  readonly #budget: RetryBudget;
  readonly #exchange: Pick<Exchange, 'elapsed'>;
  #attempts = 0;
  #stoppedAt = 0; // ms after the start of the exchange
  #stoppedTotalMs = 0;

  constructor(limits: AllowanceLimits, budget: RetryBudget, exchange: Pick<Exchange, 'elapsed'>) {
    this.#limits = limits;
    this.#budget = budget;
    this.#exchange = exchange;
  }

  /** Number of attempts made so far. */
  get attempts(): number {
    return this.#attempts;
  }

  /** False if the attempts or the time are used up. */
  get hasAttempts(): boolean {
    return this.#attempts < this.#limits.maxAttempts && this.remainingSeconds > 0;
  }

  /** True if only one more attempt is allowed. */
  get isLastAttempt(): boolean {
    return this.#attempts === this.#limits.maxAttempts - 1;
  }

  /** Seconds until the deadline of the request, without the time in which the clock was stopped. */
  get remainingSeconds(): number {
    return this.#limits.deadline - (this.#exchange.elapsed - this.#stoppedTotalMs) / 1000;
  }

  /**
   * Returns the seconds for an attempt that leaves time for another route: the reserve, but at most half of the remaining time.
   *
   * @param reserve seconds
   */
  computeSecondsWithReserve(reserve: number): number {
    return this.remainingSeconds - Math.min(reserve, this.remainingSeconds / 2);
  }

  /** Counts an attempt. */
  countAttempt(): void {
    this.#attempts++;
  }

  /** Takes permission for an attempt. The first attempt is free; further attempts take a retry from the shared budget. */
  takeAttempt(): boolean {
    return this.#attempts === 0 || this.#budget.takeRetry();
  }

  /** Stops counting time until `startClock`, while the reply is sent or the request waits for a slot. */
  stopClock(): void {
    this.#stoppedAt = this.#exchange.elapsed;
  }

  /** Counts time again after `stopClock`. */
  startClock(): void {
    this.#stoppedTotalMs += this.#exchange.elapsed - this.#stoppedAt;
  }
}

const maxSavedRetries = 20; // available from the start, so that a gateway with little traffic can fail over

/**
 * Limits the load added by failover, because three attempts per request make it worse if all routes fail. Each request earns a fraction of
 * a retry. A retry costs 1 unless it goes to a healthy route.
 */
export class RetryBudget {
  /** Number of retries that a request earns, such as 0.1. */
  retriesPerRequest: number;
  #remainingRetries = maxSavedRetries;

  constructor(retriesPerRequest: number) {
    this.retriesPerRequest = retriesPerRequest;
  }

  /** Credits a request. */
  creditRequest(): void {
    this.#remainingRetries = Math.min(maxSavedRetries, this.#remainingRetries + this.retriesPerRequest);
  }

  /**
   * Takes one retry.
   *
   * @returns false if no retry is left
   */
  takeRetry(): boolean {
    if (this.#remainingRetries < 1) return false;
    this.#remainingRetries--;
    return true;
  }
}
