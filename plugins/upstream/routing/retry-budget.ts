/** Retries in reserve, so that a quiet gateway can fail over too. */
const reserve = 20;

/**
 * Bounds the load that failover adds: when everything fails, three attempts for each request make it worse. Each request
 * earns a share of a retry, and a retry costs a whole one, unless it goes to a healthy route.
 */
export class RetryBudget {
  /** Retries that one request earns: 0.1 for a tenth. */
  share: number;
  #left = reserve;

  constructor(share: number) {
    this.share = share;
  }

  /** A request has come. */
  earn(): void {
    this.#left = Math.min(reserve, this.#left + this.share);
  }

  /** Takes one retry. @returns false when none is left */
  spend(): boolean {
    if (this.#left < 1) return false;
    this.#left--;
    return true;
  }
}
