import type { Exchange } from '#core/pipeline/exchange.ts';
import type { Observer } from '#core/pipeline/stage.ts';

/** Counts the model calls that this instance is serving. */
export class RunningRequests implements Observer {
  readonly name = 'running-requests';
  readonly #running = new Set<Exchange>();

  start(exchange: Exchange): void {
    if (exchange.endpoint.isMetered) this.#running.add(exchange);
  }

  done(exchange: Exchange): void {
    this.#running.delete(exchange);
  }

  /** @param age ms @param now epoch ms */
  countOlderThan(age: number, now: number): number {
    return [...this.#running].filter(({ receivedAt }) => now - receivedAt > age).length;
  }
}
