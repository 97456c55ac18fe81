import type { Route } from '#core/catalog/catalog.ts';
import { GatewayError } from '#core/errors/table.ts';
import type { ReplyReader, UpstreamRequest } from '#core/model-call/adapter.ts';

/** The way to one route: the request that goes there, and readers for its replies. */
export interface Way {
  readonly request: UpstreamRequest;
  read(): ReplyReader;
}

/** Ways to routes: each is opened when it is needed, and then kept. */
export class Ways<W extends Way> {
  readonly #open: (route: Route) => W;
  readonly #known = new Map<Route, W | GatewayError>();

  /** @param open throws a GatewayError for a route that cannot serve the request */
  constructor(open: (route: Route) => W) {
    this.#open = open;
  }

  /** The way, or why there is none. */
  find(route: Route): W | GatewayError {
    const known = this.#known.get(route) ?? this.#tryOpen(route);
    this.#known.set(route, known);
    return known;
  }

  /** @throws GatewayError when there is none */
  get(route: Route): W {
    const way = this.find(route);
    if (way instanceof GatewayError) throw way;
    return way;
  }

  #tryOpen(route: Route): W | GatewayError {
    try {
      return this.#open(route);
    } catch (error) {
      if (error instanceof GatewayError) return error;
      throw error;
    }
  }
}
