import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import type { Observer } from '#core/gateway/pipeline/stage.ts';

/** Counts the model calls that this instance is serving. */
export class RunningRequests implements Observer {
  readonly name = 'running-requests';
  /**
   * Time of arrival by id, epoch ms. Not the exchanges: V8 replaces the table of a collection that is always changing, and an
   * outgrown table would keep their bodies in memory until the next full collection.
   */
  readonly #running = new Map<string, number>();

  start({ endpoint, id, receivedAt }: Exchange): void {
    if (endpoint.isMetered) this.#running.set(id, receivedAt);
  }

  done({ id }: Exchange): void {
    this.#running.delete(id);
  }

  /** @param age ms @param now epoch ms */
  countOlderThan(age: number, now: number): number {
    return [...this.#running.values()].filter((receivedAt) => now - receivedAt > age).length;
  }
}
