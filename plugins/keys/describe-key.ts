import { getAccountDirectory } from '#core/business/accounts/directory.ts';
import {
  type AllowanceState,
  type Entitlement,
  entitlement,
  type Principal,
  principal,
  type RateLimitState,
  rateLimitState,
} from '#core/gateway/facts.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import type { Reply } from '#core/gateway/pipeline/reply.ts';
import { GatewayError } from '#core/platform/errors/table.ts';

const maxCountAgeSeconds = 1;

export async function createKeyReply(host: Host, exchange: Exchange): Promise<Reply> {
  const caller = exchange.find(principal);
  if (caller === undefined) {
    throw new GatewayError(
      'not_supported',
      'This gateway has no API keys: no stage of its pipeline authenticates callers.',
    );
  }
  const currentEntitlement = exchange.find(entitlement);
  const body = {
    object: 'key',
    remaining_balance: { unit: 'second', amount: currentEntitlement?.secondsLeft ?? 0 },
    request_count: await readRequestCount(host, caller),
    active_period: describePeriod(currentEntitlement),
    rate_limit: describeLimit(exchange.find(rateLimitState)),
    plan: currentEntitlement?.period?.label ?? null,
    plan_days: currentEntitlement?.period?.days ?? null,
    key: caller.keyHint,
    renew_url: `${host.service.baseUrl}/buy`,
  };
  return {
    status: 200,
    headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' },
    body: JSON.stringify(body),
  };
}

async function readRequestCount(host: Host, caller: Principal): Promise<number> {
  try {
    const account = await getAccountDirectory(host).findById(caller.accountId, maxCountAgeSeconds);
    return account?.requestCount ?? caller.requestCount;
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'unavailable') return caller.requestCount;
    throw error;
  }
}

function describePeriod(currentEntitlement: Entitlement | undefined): object | null {
  if (currentEntitlement?.period === undefined) return null;
  const { startsAt, endsAt } = currentEntitlement.period;
  return { active: true, starts_at: startsAt.toISOString(), ends_at: endsAt.toISOString() };
}

function describeLimit(state: RateLimitState | undefined): object | null {
  if (state === undefined) return null;
  const { concurrent, other } = state;
  return { ...describeAllowance(state), concurrent, ...(other && { other: describeAllowance(other) }) };
}

function describeAllowance({ limit, period, burst, remaining }: AllowanceState): object {
  return { limit, period, burst, remaining };
}
