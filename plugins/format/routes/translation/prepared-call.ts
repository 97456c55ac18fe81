import type { Route } from '#core/config/catalog/catalog.ts';
import type { ReplyReader, UpstreamRequest } from '#core/gateway/model-call/adapter.ts';
import { GatewayError } from '#core/platform/errors/table.ts';

export interface PreparedCall {
  readonly request: UpstreamRequest;
  createReader(): ReplyReader;
}

/** Prepares each call when it is first needed. */
export class PreparedCalls<C extends PreparedCall> {
  readonly #prepare: (route: Route) => C;
  readonly #calls = new Map<Route, C | GatewayError>();

  /** @param prepare prepares a call, and throws a GatewayError if the route cannot serve the request */
  constructor(prepare: (route: Route) => C) {
    this.#prepare = prepare;
  }

  find(route: Route): C | GatewayError {
    const call = this.#calls.get(route) ?? this.#tryToPrepare(route);
    this.#calls.set(route, call);
    return call;
  }

  /** @throws GatewayError if the route cannot serve the request */
  get(route: Route): C {
    const call = this.find(route);
    if (call instanceof GatewayError) throw call;
    return call;
  }

  #tryToPrepare(route: Route): C | GatewayError {
    try {
      return this.#prepare(route);
    } catch (error) {
      if (error instanceof GatewayError) return error;
      throw error;
    }
  }
}
