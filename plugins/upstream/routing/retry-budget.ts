/** Retries that may be made whatever came before, so that a quiet gateway fails over too. */
const reserve = 20;

/**
 * Bounds what failing over adds: when everything is broken, trying everything three times makes it worse. Every request
 * earns a share of a retry; a retry costs a whole one, unless it goes to a route that works.
 */
export class RetryBudget {
  /** Retries that a request earns: 0.1 for a tenth. */
  share: number;
  #left = reserve;

  constructor(share: number) {
    this.share = share;
  }

  /** A request has come. */
  earn(): void {
    this.#left = Math.min(reserve, this.#left + this.share);
  }

  /** False when there is none left. */
  spend(): boolean {
    if (this.#left < 1) return false;
    this.#left--;
    return true;
  }
}
