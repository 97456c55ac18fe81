import type { Route } from '#core/config/catalog/catalog.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import type { ReplyReader, UpstreamRequest } from '#core/gateway/model-call/adapter.ts';

/** A model call prepared for one route: the request to send, and readers for its replies. */
export interface PreparedCall {
  readonly request: UpstreamRequest;
  read(): ReplyReader;
}

/** The calls of the routes: each is prepared on first use and kept. */
export class PreparedCalls<C extends PreparedCall> {
  readonly #open: (route: Route) => C;
  readonly #known = new Map<Route, C | GatewayError>();

  /** @param open throws a GatewayError for a route that cannot serve the request */
  constructor(open: (route: Route) => C) {
    this.#open = open;
  }

  find(route: Route): C | GatewayError {
    const known = this.#known.get(route) ?? this.#tryOpen(route);
    this.#known.set(route, known);
    return known;
  }

  /** @throws GatewayError when the route cannot serve the request */
  get(route: Route): C {
    const call = this.find(route);
    if (call instanceof GatewayError) throw call;
    return call;
  }

  #tryOpen(route: Route): C | GatewayError {
    try {
      return this.#open(route);
    } catch (error) {
      if (error instanceof GatewayError) return error;
      throw error;
    }
  }
}
