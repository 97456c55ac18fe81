import type { Exchange } from '#core/gateway/pipeline/exchange.ts';

interface AllowanceLimits {
  readonly maxAttempts: number;
  readonly deadline: number; // seconds
}

/** The budget of one request for attempts: their number, its time, and the retries that all requests share. */
export class Allowance {
  readonly #limits: AllowanceLimits;
  readonly #budget: RetryBudget;
  readonly #exchange: Pick<Exchange, 'elapsed'>;
  #used = 0;
  #stoppedAt = 0; // ms since the exchange began
  #stopped = 0; // ms that do not count

  constructor(limits: AllowanceLimits, budget: RetryBudget, exchange: Pick<Exchange, 'elapsed'>) {
    this.#limits = limits;
    this.#budget = budget;
    this.#exchange = exchange;
  }

  /** Attempts that have been made. */
  get used(): number {
    return this.#used;
  }

  /** False when the attempts or the time are used up. */
  get hasAttempts(): boolean {
    return this.#used < this.#limits.maxAttempts && this.timeLeft > 0;
  }

  get isLastAttempt(): boolean {
    return this.#used === this.#limits.maxAttempts - 1;
  }

  /** Seconds. */
  get timeLeft(): number {
    return this.#limits.deadline - (this.#exchange.elapsed - this.#stopped) / 1000;
  }

  /**
   * Seconds for an attempt after which another route can be asked: leaves the reserve for that route, at most half of the
   * time.
   *
   * @param reserve seconds
   */
  timeLeftBefore(reserve: number): number {
    return this.timeLeft - Math.min(reserve, this.timeLeft / 2);
  }

  useAttempt(): void {
    this.#used++;
  }

  /** True for the first attempt, and for others as long as the shared budget lasts, which they are charged to. */
  mayRetry(): boolean {
    return this.#used === 0 || this.#budget.spend();
  }

  /** An answer is being sent: until `startClock` the time does not count. */
  stopClock(): void {
    this.#stoppedAt = this.#exchange.elapsed;
  }

  startClock(): void {
    this.#stopped += this.#exchange.elapsed - this.#stoppedAt;
  }
}

const reservedRetries = 20; // so that a quiet gateway can fail over too

/**
 * Bounds the load that failover adds: when everything fails, three attempts for each request make it worse. Each request
 * earns a share of a retry, and a retry costs a whole one, unless it goes to a healthy route.
 */
export class RetryBudget {
  /** Retries that one request earns: 0.1 for a tenth. */
  share: number;
  #left = reservedRetries;

  constructor(share: number) {
    this.share = share;
  }

  /** Counts a request. */
  earn(): void {
    this.#left = Math.min(reservedRetries, this.#left + this.share);
  }

  /** Takes one retry. @returns false when none is left */
  spend(): boolean {
    if (this.#left < 1) return false;
    this.#left--;
    return true;
  }
}
