import { findActivePeriod } from '#core/business/accounts/account-record.ts';
import type { ReadAllowance } from '#core/business/accounts/allowance.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { LocalFallback } from './local-fallback.ts';
import { resolveCallLimits, type RateLimitOptions } from './options.ts';
import { SlotQueue } from './slot-queue.ts';

/** Options of the running configuration's stage, which readers of allowances share; undefined without the stage. */
interface ServingOptions {
  options: RateLimitOptions | undefined;
}

export function getServingOptions(host: Pick<Host, 'keep'>): ServingOptions {
  return host.keep('rate-limit.serving', (): ServingOptions => ({ options: undefined }));
}

/** The limiter survives a reload, and so do the counts that this instance uses while the store is unavailable. */
export function getLimiter(host: Host): LocalFallback {
  return host.keep(
    'rate-limit.limiter',
    () => new LocalFallback(host.shared.limiter, host.log, () => host.monotonic()),
  );
}

/** Requests stay in the queue across a reload. */
export function getSlotQueue(host: Host): SlotQueue {
  return host.keep('rate-limit.slot-queue', () => new SlotQueue(getLimiter(host), () => host.monotonic()));
}

export const readAllowance: ReadAllowance = async (host, account, now) => {
  const { options } = getServingOptions(host);
  if (options === undefined || account.key === undefined) return undefined;
  const limits = resolveCallLimits(options, account.key.limits, findActivePeriod(account, now)?.limits);
  const { remaining, resetAfter, running = 0 } = await getLimiter(host).peek(account.key.id, limits);
  return { ...limits, remaining, resetAfter, running };
};
