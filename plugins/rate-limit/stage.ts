import {
  type AllowanceState,
  entitlement,
  principal,
  rateLimitState,
  slotWait,
  slotWaited,
} from '#core/gateway/facts.ts';
import { formatContact } from '#core/gateway/host/contact.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import { defineFact } from '#core/gateway/pipeline/fact.ts';
import { defineStage } from '#core/gateway/pipeline/stage.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import type { Limits, Take } from '#core/platform/shared/shared.ts';
import { whenSettled } from '#core/platform/timing/when-settled.ts';
import { getLimiter, getServingOptions, getSlotQueue } from './allowance.ts';
import { describeLimits, createLimitHeaders } from './headers.ts';
import { findLimitNotices } from './limit-notices.ts';
import { type CallLimits, resolveCallLimits, resolveOtherLimits, optionsSchema } from './options.ts';

const heldSlot = defineFact<{ readonly key: string; readonly lease: string }>('held_slot');

/**
 * Limits the requests of each key. Model calls are limited per period and in flight. All other requests (lists, the key, token counts,
 * stored responses, unknown paths) share a separate, wider allowance per period. The key's own limits override those of the active plan,
 * which override the configured ones.
 *
 * @throws GatewayError `rate_limited` with the seconds to wait
 */
export const rateLimitStage = defineStage({
  name: 'rate-limit',
  description: 'Limits the requests of each key: per period, and model calls also in flight.',
  reads: [principal],
  // The active plan may have limits.
  after: ['plan'],
  writes: [rateLimitState, slotWaited],
  options: optionsSchema,
  notices: findLimitNotices,
  documentation: describeLimits,
  create(options, host) {
    const limiter = getLimiter(host);
    const slotQueue = getSlotQueue(host);
    const contact = formatContact(host.service);
    return {
      activate() {
        getServingOptions(host).options = options;
      },
      enter(exchange) {
        if (exchange.endpoint.isPublic) return;
        const { keyId, limits: keyLimits } = exchange.get(principal);
        const limits = resolveCallLimits(options, keyLimits, exchange.find(entitlement)?.limits);
        if (!exchange.endpoint.isMetered) return enterOther(exchange, keyId, limits);
        const maxWaitMs = exchange.find(slotWait);
        const result =
          maxWaitMs === undefined ? limiter.take(keyId, limits) : waitForSlot(exchange, keyId, limits, maxWaitMs);
        return whenSettled(result, (take) => settleCall(exchange, keyId, limits, take));
      },
      leave(exchange, reply) {
        const state = exchange.find(rateLimitState);
        if (state === undefined) return;
        const headers = createLimitHeaders(exchange.dialect, state.other ?? state, host.now());
        return { ...reply, headers: { ...reply.headers, ...headers } };
      },
      done(exchange) {
        const slot = exchange.find(heldSlot);
        if (slot !== undefined) slotQueue.release(slot.key, slot.lease);
      },
    };

    async function waitForSlot(exchange: Exchange, key: string, limits: CallLimits, maxWaitMs: number): Promise<Take> {
      const waitStartedAt = host.monotonic();
      try {
        return await slotQueue.take(key, limits, exchange, maxWaitMs);
      } finally {
        exchange.set(slotWaited, host.monotonic() - waitStartedAt);
      }
    }

    function settleCall(exchange: Exchange, key: string, limits: CallLimits, take: Take): void {
      const state = { ...limits, ...pickRemaining(take) };
      exchange.set(rateLimitState, state);
      const { lease } = take;
      // If the client disconnected while the store was being called, `done` may already have run.
      if (lease !== undefined && exchange.isAborted) slotQueue.release(key, lease);
      else if (lease !== undefined) exchange.set(heldSlot, { key, lease });
      refuse(exchange, take, limits, state);
    }

    /** `GET /v1/key` also needs the state of the model call limits. */
    function enterOther(exchange: Exchange, keyId: string, calls: CallLimits): void | Promise<void> {
      const limits = resolveOtherLimits(options.other, calls);
      const settle = (callsTake: Take, take: Take): void => {
        const otherState = { ...limits, ...pickRemaining(take) };
        exchange.set(rateLimitState, { ...calls, ...pickRemaining(callsTake), other: otherState });
        refuse(exchange, take, limits, otherState);
      };
      const callsTake = limiter.peek(keyId, calls);
      const take = limiter.take(`${keyId}:other`, limits);
      if (callsTake instanceof Promise || take instanceof Promise)
        return Promise.all([callsTake, take]).then((takes) => settle(...takes));
      settle(callsTake, take);
    }

    function refuse(exchange: Exchange, take: Take, limits: Limits, state: AllowanceState): void {
      if (take.refusedBy === undefined) return;
      throw new GatewayError('rate_limited', describeRefusal(take, limits, exchange.endpoint.isMetered, contact), {
        retryAfter: take.retryAfter,
        headers: createLimitHeaders(exchange.dialect, state, host.now()),
      });
    }
  },
});

function pickRemaining({ remaining, resetAfter }: Take): Pick<AllowanceState, 'remaining' | 'resetAfter'> {
  return { remaining, resetAfter };
}

function describeRefusal(
  { refusedBy, retryAfter }: Take,
  limits: Limits,
  isModelCall: boolean,
  contact: string | undefined,
): string {
  const { limit, period, burst, concurrent = Infinity } = limits;
  const contactAdvice = contact === undefined ? '' : ` For a higher limit, contact ${contact}.`;
  if (refusedBy === 'concurrency')
    return `Concurrency limit reached: ${formatCount(concurrent, 'request')} in flight. Wait for one to finish.${contactAdvice}`;
  const rate = `${formatCount(limit, 'request')} per ${formatCount(period, 'second')}, at most ${burst} at once`;
  const scope = isModelCall ? '' : ' for requests other than model calls';
  return `Rate limit${scope} reached: ${rate}. Try again in ${formatCount(Math.ceil(retryAfter), 'second')}.${contactAdvice}`;
}

function formatCount(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
