import { accountDirectory } from '#core/accounts/directory.ts';
import { GatewayError } from '#core/errors/table.ts';
import {
  type Entitlement,
  entitlement,
  type Principal,
  principal,
  type RateLimitState,
  rateLimitState,
} from '#core/facts.ts';
import type { Host } from '#core/host.ts';
import type { Exchange } from '#core/pipeline/exchange.ts';
import type { Reply } from '#core/pipeline/reply.ts';

/** Seconds for which the count of requests may be behind the database. */
const countMaxAge = 1;

/** `GET /v1/key`: where the caller stands. Time is the only balance. */
export async function describeKey(host: Host, exchange: Exchange): Promise<Reply> {
  const caller = exchange.find(principal);
  if (caller === undefined) {
    throw new GatewayError('not_supported', 'this gateway knows no keys: no stage of its pipeline writes "principal"');
  }
  const standing = exchange.find(entitlement);
  const body = {
    object: 'key',
    remaining_balance: { unit: 'second', amount: standing?.secondsLeft ?? 0 },
    request_count: await countRequests(host, caller),
    active_period: describePeriod(standing),
    rate_limit: describeLimit(exchange.find(rateLimitState)),
    plan: standing?.period?.label ?? null,
    key: caller.keyHint,
  };
  return {
    status: 200,
    headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' },
    body: JSON.stringify(body),
  };
}

async function countRequests(host: Host, caller: Principal): Promise<number> {
  try {
    const account = await accountDirectory(host).findById(caller.accountId, countMaxAge);
    return account?.requestCount ?? caller.requestCount;
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'unavailable') return caller.requestCount;
    throw error;
  }
}

function describePeriod(standing: Entitlement | undefined): object | null {
  if (standing?.period === undefined) return null;
  const { startsAt, endsAt } = standing.period;
  return { active: true, starts_at: startsAt.toISOString(), ends_at: endsAt.toISOString() };
}

/** Null when the pipeline has no stage that limits. */
function describeLimit(state: RateLimitState | undefined): object | null {
  if (state === undefined) return null;
  const { limit, period, burst, concurrent, remaining } = state;
  return { limit, period, burst, concurrent, remaining };
}
