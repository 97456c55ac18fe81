import type { Exchange } from '../pipeline/exchange.ts';

/** Where an exchange stands in the list; changes when others leave. */
export interface Place {
  readonly exchange: Exchange;
  index: number;
}

/**
 * The exchanges under way. A list in which the last takes the place of one that leaves: a Set whose entries come and go
 * thousands of times a second keeps the dead ones alive until a full collection, which costs more than all else here.
 */
export class RunningExchanges {
  readonly #places: Place[] = [];

  get size(): number {
    return this.#places.length;
  }

  add(exchange: Exchange): Place {
    const place = { exchange, index: this.#places.length };
    this.#places.push(place);
    return place;
  }

  remove({ index }: Place): void {
    const last = this.#places.pop();
    if (last === undefined || last.index === index) return;
    last.index = index;
    this.#places[index] = last;
  }

  all(): Exchange[] {
    return this.#places.map(({ exchange }) => exchange);
  }
}
