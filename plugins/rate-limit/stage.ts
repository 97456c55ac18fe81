import { whenSettled } from '#core/platform/timing/when-settled.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import {
  type AllowanceState,
  entitlement,
  principal,
  rateLimitState,
  slotWait,
  slotWaited,
} from '#core/gateway/facts.ts';
import { defineFact } from '#core/gateway/pipeline/fact.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import { contactOf } from '#core/gateway/host/contact.ts';
import { defineStage } from '#core/gateway/pipeline/stage.ts';
import type { Limits, Take } from '#core/platform/shared/shared.ts';
import { limiterOf, servingOf, slotQueueOf } from './allowance.ts';
import { describeLimits, limitHeaders } from './headers.ts';
import { limitNotices } from './limit-notices.ts';
import { type CallLimits, limitsOfCalls, limitsOfOthers, optionsSchema } from './options.ts';

const heldSlot = defineFact<{ readonly key: string; readonly lease: string }>('held_slot');

/**
 * Limits the requests of each key. Model calls are limited per period and in flight. All other requests (lists, the key, token counts,
 * stored responses, unknown paths) have a separate, wider allowance per period. The key's limits precede the limits of the running plan,
 * and these precede the configured limits.
 *
 * @throws GatewayError `rate_limited` with the seconds to wait
 */
export const rateLimitStage = defineStage({
  name: 'rate-limit',
  description: 'Limits the requests of each key: per period, and model calls also in flight.',
  reads: [principal],
  // The running plan may have limits.
  after: ['plan'],
  writes: [rateLimitState, slotWaited],
  options: optionsSchema,
  notices: limitNotices,
  documentation: describeLimits,
  create(options, host) {
    const limiter = limiterOf(host);
    const slots = slotQueueOf(host);
    const contact = contactOf(host.service);
    return {
      activate() {
        servingOf(host).options = options;
      },
      enter(exchange) {
        if (exchange.endpoint.isPublic) return;
        const { keyId, limits: own } = exchange.get(principal);
        const limits = limitsOfCalls(options, own, exchange.find(entitlement)?.limits);
        if (!exchange.endpoint.isMetered) return enterOther(exchange, keyId, limits);
        const wait = exchange.find(slotWait);
        const result = wait === undefined ? limiter.take(keyId, limits) : waitForSlot(exchange, keyId, limits, wait);
        return whenSettled(result, (take) => settleCall(exchange, keyId, limits, take));
      },
      leave(exchange, reply) {
        const state = exchange.find(rateLimitState);
        if (state === undefined) return;
        const headers = limitHeaders(exchange.dialect, state.other ?? state, host.now());
        return { ...reply, headers: { ...reply.headers, ...headers } };
      },
      done(exchange) {
        const held = exchange.find(heldSlot);
        if (held !== undefined) slots.release(held.key, held.lease);
      },
    };

    async function waitForSlot(exchange: Exchange, key: string, limits: CallLimits, wait: number): Promise<Take> {
      const since = host.monotonic();
      try {
        return await slots.take(key, limits, exchange, wait);
      } finally {
        exchange.set(slotWaited, host.monotonic() - since);
      }
    }

    function settleCall(exchange: Exchange, key: string, limits: CallLimits, take: Take): void {
      const state = { ...limits, ...leftOf(take) };
      exchange.set(rateLimitState, state);
      const { lease } = take;
      // If the client disconnected during the call to the store, `done` may already have run.
      if (lease !== undefined && exchange.isAborted) slots.release(key, lease);
      else if (lease !== undefined) exchange.set(heldSlot, { key, lease });
      refuse(exchange, take, limits, state);
    }

    /** Takes from the allowance of other requests. `GET /v1/key` needs the state of the model call limits. */
    function enterOther(exchange: Exchange, keyId: string, calls: CallLimits): void | Promise<void> {
      const limits = limitsOfOthers(options.other, calls);
      const settle = (ofCalls: Take, take: Take): void => {
        const other = { ...limits, ...leftOf(take) };
        exchange.set(rateLimitState, { ...calls, ...leftOf(ofCalls), other });
        refuse(exchange, take, limits, other);
      };
      const ofCalls = limiter.peek(keyId, calls);
      const take = limiter.take(`${keyId}:other`, limits);
      if (ofCalls instanceof Promise || take instanceof Promise)
        return Promise.all([ofCalls, take]).then((both) => settle(...both));
      settle(ofCalls, take);
    }

    function refuse(exchange: Exchange, take: Take, limits: Limits, state: AllowanceState): void {
      if (take.refusedBy === undefined) return;
      throw new GatewayError('rate_limited', explainRefusal(take, limits, exchange.endpoint.isMetered, contact), {
        retryAfter: take.retryAfter,
        headers: limitHeaders(exchange.dialect, state, host.now()),
      });
    }
  },
});

function leftOf({ remaining, resetAfter }: Take): Pick<AllowanceState, 'remaining' | 'resetAfter'> {
  return { remaining, resetAfter };
}

/** Writes the error message. @param isModelCall false for the allowance of other requests */
function explainRefusal(
  { refusedBy, retryAfter }: Take,
  limits: Limits,
  isModelCall: boolean,
  contact: string | undefined,
): string {
  const { limit, period, burst, concurrent = Infinity } = limits;
  const more = contact === undefined ? '' : ` For a higher limit, contact ${contact}.`;
  if (refusedBy === 'concurrency')
    return `Concurrency limit reached: ${count(concurrent, 'request')} in flight. Wait for one to finish.${more}`;
  const rate = `${count(limit, 'request')} per ${count(period, 'second')}, at most ${burst} at once`;
  const scope = isModelCall ? '' : ' for requests other than model calls';
  return `Rate limit${scope} reached: ${rate}. Try again in ${count(Math.ceil(retryAfter), 'second')}.${more}`;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
