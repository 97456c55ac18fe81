import type { Exchange } from '#core/gateway/pipeline/exchange.ts';

interface AllowanceLimits {
  readonly maxAttempts: number;
  readonly deadline: number; // seconds
}

/** Budget of one request: a number of attempts, some time, and retries that all requests share. */
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

  get attempts(): number {
    return this.#attempts;
  }

  get hasAttempts(): boolean {
    return this.#attempts < this.#limits.maxAttempts && this.remainingSeconds > 0;
  }

  get isLastAttempt(): boolean {
    return this.#attempts === this.#limits.maxAttempts - 1;
  }

  /** Seconds until the request's deadline, not counting the time in which the clock was stopped. */
  get remainingSeconds(): number {
    return this.#limits.deadline - (this.#exchange.elapsed - this.#stoppedTotalMs) / 1000;
  }

  /** Returns how long an attempt may take to leave the reserve for another route: at least half of the remaining time. */
  computeSecondsWithReserve(reserve: number): number {
    return this.remainingSeconds - Math.min(reserve, this.remainingSeconds / 2);
  }

  countAttempt(): void {
    this.#attempts++;
  }

  /** Takes permission for an attempt. The first is free; further attempts take a retry from the shared budget. */
  takeAttempt(): boolean {
    return this.#attempts === 0 || this.#budget.takeRetry();
  }

  /** Stops counting time until `startClock`: while the reply is sent, or the request waits for a slot. */
  stopClock(): void {
    this.#stoppedAt = this.#exchange.elapsed;
  }

  startClock(): void {
    this.#stoppedTotalMs += this.#exchange.elapsed - this.#stoppedAt;
  }
}

const maxSavedRetries = 20; // available from startup, so that a gateway with little traffic can fail over

/**
 * Limits the load that failover adds: three attempts per request make things worse if all routes fail. Each request earns a fraction of a
 * retry. A retry costs 1 unless it goes to a healthy route.
 */
export class RetryBudget {
  /** How many retries a request earns, such as 0.1. */
  retriesPerRequest: number;
  #remainingRetries = maxSavedRetries;

  constructor(retriesPerRequest: number) {
    this.retriesPerRequest = retriesPerRequest;
  }

  creditRequest(): void {
    this.#remainingRetries = Math.min(maxSavedRetries, this.#remainingRetries + this.retriesPerRequest);
  }

  /** @returns false if none is left */
  takeRetry(): boolean {
    if (this.#remainingRetries < 1) return false;
    this.#remainingRetries--;
    return true;
  }
}
