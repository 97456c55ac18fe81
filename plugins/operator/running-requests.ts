import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import { defineFact } from '#core/gateway/pipeline/fact.ts';
import { type Link, LinkedList } from '#core/gateway/pipeline/linked-list.ts';
import type { Observer } from '#core/gateway/pipeline/stage.ts';

const runningFact = defineFact<Link<number>>('operator_running');

/** Counts the model calls that this instance is serving. */
export class RunningRequests implements Observer {
  readonly name = 'running-requests';
  /** Arrival times, epoch ms. */
  readonly #arrivalTimes = new LinkedList<number>();

  start(exchange: Exchange): void {
    if (exchange.endpoint.isMetered) exchange.set(runningFact, this.#arrivalTimes.add(exchange.receivedAt));
  }

  done(exchange: Exchange): void {
    const link = exchange.find(runningFact);
    if (link !== undefined) this.#arrivalTimes.remove(link);
  }

  /** Counts the calls that arrived more than `age` ms ago. @param now epoch ms */
  countOlderThan(minAgeMs: number, now: number): number {
    return this.#arrivalTimes.items().filter((receivedAt) => now - receivedAt > minAgeMs).length;
  }
}
