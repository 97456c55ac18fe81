import { findActivePeriod, type PeriodRecord } from '#core/business/accounts/account-record.ts';
import { type AccountDirectory, getAccountDirectory, type CachedAccount } from '#core/business/accounts/directory.ts';
import { type Entitlement, entitlement, principal } from '#core/gateway/facts.ts';
import type { Endpoint, Exchange } from '#core/gateway/pipeline/exchange.ts';
import { defineStage } from '#core/gateway/pipeline/stage.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import { integer, object } from '#core/platform/schema.ts';
import { whenSettled } from '#core/platform/timing/when-settled.ts';

/** A rejection needs an account record at most this old: after the database's clock is set back, a paid account must still pass. */
const maxRefusedAgeSeconds = 1;

/**
 * Rejects model calls by accounts without an active period. Counting tokens needs one too, because it uses the operator's vendor key. The
 * check runs once, when the request arrives, so a plan that ends during a stream does not cut it off.
 *
 * @throws GatewayError `plan_inactive`, which says when the last period ended and where to renew
 */
export const planStage = defineStage({
  name: 'plan',
  description: 'Requires an active plan for model calls.',
  reads: [principal],
  writes: [entitlement],
  options: object({
    grace: integer(
      { minimum: 0, maximum: 2_592_000, default: 0 },
      'Grace period: how many seconds model calls still work after a plan ends.',
    ),
  }),
  async create({ grace }, host) {
    const directory = getAccountDirectory(host);
    await directory.ready();
    const describe = (account: CachedAccount | undefined) =>
      describeEntitlement(account, directory, grace, host.service.baseUrl);

    return {
      enter(exchange) {
        if (exchange.endpoint.isPublic) return;
        const { accountId } = exchange.get(principal);
        const entitle = (account: CachedAccount | undefined) => setEntitlement(exchange, describe(account));
        const cachedAccount = directory.findCachedById(accountId);
        if (cachedAccount instanceof Promise) return cachedAccount.then(entitle);
        const cachedEntitlement = describe(cachedAccount);
        if (cachedEntitlement.inactiveReason === undefined) return setEntitlement(exchange, cachedEntitlement);
        return whenSettled(directory.findById(accountId, maxRefusedAgeSeconds), entitle);
      },
    };
  },
});

function setEntitlement(exchange: Exchange, current: Entitlement): void {
  const { inactiveReason } = current;
  if (inactiveReason !== undefined && needsPlan(exchange.endpoint))
    throw new GatewayError('plan_inactive', inactiveReason);
  exchange.set(entitlement, current);
}

/** Lists, the key and stored responses can be read without a plan. */
function needsPlan({ format, method, isMetered }: Endpoint): boolean {
  return isMetered || (format !== undefined && method === 'POST');
}

function describeEntitlement(
  account: CachedAccount | undefined,
  directory: AccountDirectory,
  grace: number,
  baseUrl: string,
): Entitlement {
  const lastPeriod = account?.periods.at(-1);
  if (account === undefined || lastPeriod === undefined)
    return { period: undefined, secondsLeft: 0, inactiveReason: `No active plan. Choose one at ${baseUrl}/buy` };
  const now = directory.databaseTime(account);
  const remainingSeconds = (lastPeriod.endsAt.getTime() - now) / 1_000;
  const isInGrace = remainingSeconds <= 0 && remainingSeconds + grace > 0;
  const period = isInGrace ? lastPeriod : findActivePeriod(account, now);
  return {
    period,
    limits: period?.limits,
    secondsLeft: Math.max(0, Math.floor(remainingSeconds)),
    inactiveReason: period === undefined ? explainInactive(lastPeriod, now, baseUrl) : undefined,
  };
}

function explainInactive({ startsAt, endsAt }: PeriodRecord, now: number, baseUrl: string): string {
  if (startsAt.getTime() > now) return `Your plan starts at ${startsAt.toISOString()}.`;
  return `Your plan ended at ${endsAt.toISOString()}. Renew at ${baseUrl}/buy`;
}
