import { GatewayError } from '#core/errors/table.ts';
import { principal, type RateLimits, rateLimitState } from '#core/facts.ts';
import { defineFact } from '#core/pipeline/fact.ts';
import type { Exchange } from '#core/pipeline/exchange.ts';
import { defineStage } from '#core/pipeline/stage.ts';
import type { Limits, Take } from '#core/shared/shared.ts';
import { limitHeaders } from './headers.ts';
import { LocalFallback } from './local-fallback.ts';

/** The concurrency slot of an exchange, released when the exchange is over. */
const heldSlot = defineFact<{ readonly key: string; readonly lease: string }>('held_slot');

/**
 * Limits the requests of each key per period and in flight. Unmetered requests (lists, token counts) do not count.
 *
 * @throws GatewayError `rate_limited` with the seconds to wait
 */
export const rateLimitStage = defineStage({
  name: 'rate-limit',
  description: 'Limits the requests of each key: per period, and in flight.',
  reads: [principal],
  writes: [rateLimitState],
  options: {
    type: 'object',
    properties: {
      limit: { type: 'integer', minimum: 1, maximum: 1_000_000_000, default: 60, description: 'Requests per period.' },
      period: { type: 'number', minimum: 1, maximum: 86_400, default: 60, description: 'Seconds.' },
      burst: {
        type: 'integer',
        minimum: 1,
        maximum: 1_000_000_000,
        default: 20,
        description: 'Requests that may be sent at once after a pause.',
      },
      concurrent: {
        type: 'integer',
        minimum: 1,
        maximum: 1_000_000,
        default: 8,
        description: 'Requests in flight at the same time.',
      },
    },
    additionalProperties: false,
  },
  create(options, host) {
    // Survives a reload, and with it the counts that this instance keeps while the store is unavailable.
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
      // The client may have left while the store was asked. The exchange may then be over, and its `done` has run.
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

/** The limits of a key: its own, else the configured ones. */
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
    return `Concurrency limit reached: ${count(concurrent, 'request')} in flight. Wait for one to finish.`;
  const rate = `${count(limit, 'request')} per ${count(period, 'second')}, at most ${burst} at once`;
  return `Rate limit reached: ${rate}. Try again in ${count(Math.ceil(retryAfter), 'second')}.`;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
