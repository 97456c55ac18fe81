import { GatewayError } from '#core/errors/table.ts';
import { principal, type RateLimits, rateLimitState } from '#core/facts.ts';
import { defineFact } from '#core/pipeline/fact.ts';
import type { Exchange } from '#core/pipeline/exchange.ts';
import { defineStage } from '#core/pipeline/stage.ts';
import type { Limits, Take } from '#core/shared/shared.ts';
import { limitHeaders } from './headers.ts';
import { LocalFallback } from './local-fallback.ts';

/** The slot that an exchange holds, to be given back when it is over. */
const heldSlot = defineFact<{ readonly key: string; readonly lease: string }>('held_slot');

/**
 * Lets each key send so many requests in a period and have so many under way. Those that are not metered (lists, token
 * counts) do not count.
 *
 * @throws GatewayError `rate_limited` with the seconds to wait
 */
export const rateLimitStage = defineStage({
  name: 'rate-limit',
  description: 'Limits how many requests a key sends, and how many it has under way.',
  reads: [principal],
  writes: [rateLimitState],
  options: {
    type: 'object',
    properties: {
      limit: { type: 'integer', minimum: 1, maximum: 1_000_000_000, default: 60, description: 'Requests a period.' },
      period: { type: 'number', minimum: 1, maximum: 86_400, default: 60, description: 'Seconds.' },
      burst: {
        type: 'integer',
        minimum: 1,
        maximum: 1_000_000_000,
        default: 20,
        description: 'Requests that may come at once after a pause.',
      },
      concurrent: {
        type: 'integer',
        minimum: 1,
        maximum: 1_000_000,
        default: 8,
        description: 'Requests that may be under way at the same time.',
      },
    },
    additionalProperties: false,
  },
  create(options, host) {
    // Outlives a reload: what was counted here while the store is away stays counted.
    const limiter = host.keep(
      'rate-limit.limiter',
      () => new LocalFallback(host.shared.limiter, host.log, () => host.now()),
    );
    return {
      enter(exchange) {
        if (exchange.endpoint.isPublic) return;
        const { keyId, limits: own } = exchange.get(principal);
        const limits = combine(options, own);
        const result = exchange.endpoint.isMetered ? limiter.take(keyId, limits) : limiter.peek(keyId, limits);
        if (result instanceof Promise) return result.then((take) => settle(exchange, keyId, limits, take));
        settle(exchange, keyId, limits, result);
      },
      leave(exchange, reply) {
        if (!exchange.endpoint.isMetered) return;
        return {
          ...reply,
          headers: { ...reply.headers, ...limitHeaders(exchange.dialect, exchange.get(rateLimitState), host.now()) },
        };
      },
      done(exchange) {
        const held = exchange.find(heldSlot);
        if (held !== undefined) limiter.release(held.key, held.lease);
      },
    };

    function settle(exchange: Exchange, key: string, limits: Limits, take: Take): void {
      const { remaining, resetAfter, lease } = take;
      const state = { ...limits, remaining, resetAfter };
      exchange.set(rateLimitState, state);
      // While the store was asked the client may have left, and the exchange may be over: then nobody gives the slot back.
      if (lease !== undefined && exchange.signal.aborted) limiter.release(key, lease);
      else if (lease !== undefined) exchange.set(heldSlot, { key, lease });
      if (take.refusedBy === undefined) return;
      throw new GatewayError('rate_limited', explain(take, limits), {
        retryAfter: take.retryAfter,
        headers: limitHeaders(exchange.dialect, state, host.now()),
      });
    }
  },
});

/** What holds for a key: its own limits where it has any. */
function combine(common: Limits, own: RateLimits | undefined): Limits {
  if (own === undefined) return common;
  return {
    limit: own.limit ?? common.limit,
    period: own.period ?? common.period,
    burst: own.burst ?? common.burst,
    concurrent: own.concurrent ?? common.concurrent,
  };
}

function explain({ refusedBy, retryAfter }: Take, { limit, period, burst, concurrent }: Limits): string {
  if (refusedBy === 'concurrency')
    return `${concurrent} requests of this key are under way, as many as it may have; wait for one to end`;
  const rate = `${limit} requests in ${seconds(period)}`;
  return `this key may send ${rate}, ${burst} of them at once; try again in ${seconds(Math.ceil(retryAfter))}`;
}

function seconds(count: number): string {
  return count === 1 ? '1 second' : `${count} seconds`;
}
