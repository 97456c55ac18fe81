import { activePeriod, type PeriodRecord } from '#core/accounts/account-record.ts';
import { type AccountDirectory, accountDirectory, type KnownAccount } from '#core/accounts/directory.ts';
import { GatewayError } from '#core/errors/table.ts';
import { entitlement, principal } from '#core/facts.ts';
import type { Endpoint, Exchange } from '#core/pipeline/exchange.ts';
import { defineStage } from '#core/pipeline/stage.ts';

/**
 * Refuses calls of models by accounts without an active period, the counting of tokens included: it asks the vendor with
 * the operator's key as well. Asked once, when the request comes: a plan that ends during a stream does not cut it.
 *
 * @throws GatewayError `plan_inactive` with the end of the last period and where to renew
 */
export const plan = defineStage({
  name: 'plan',
  description: 'Lets in accounts whose paid period is active.',
  reads: [principal],
  writes: [entitlement],
  options: {
    type: 'object',
    properties: {
      grace: {
        type: 'integer',
        minimum: 0,
        maximum: 2_592_000,
        default: 0,
        description: 'Seconds for which models can be called after the end of a period.',
      },
    },
    additionalProperties: false,
  },
  async create({ grace }, host) {
    const directory = accountDirectory(host);
    await directory.ready();
    const check = (exchange: Exchange, account: KnownAccount | undefined): void => {
      const standing = standingOf(account, directory, grace);
      if (needsPeriod(exchange.endpoint) && standing.period === undefined) {
        throw inactive(account?.periods.at(-1), host.service.baseUrl);
      }
      exchange.set(entitlement, standing);
    };

    return {
      enter(exchange) {
        if (exchange.endpoint.isPublic) return;
        const found = directory.findById(exchange.get(principal).accountId);
        if (found instanceof Promise) return found.then((account) => check(exchange, account));
        check(exchange, found);
      },
    };
  },
});

/** Lists, the key and stored responses are the caller's to read whatever has run out. */
function needsPeriod({ format, method, isMetered }: Endpoint): boolean {
  return isMetered || (format !== undefined && method === 'POST');
}

function standingOf(account: KnownAccount | undefined, directory: AccountDirectory, grace: number) {
  const last = account?.periods.at(-1);
  if (account === undefined || last === undefined) return { period: undefined, secondsLeft: 0 };
  const now = directory.databaseTime(account);
  const left = (last.endsAt.getTime() - now) / 1_000;
  const isInGrace = left <= 0 && left + grace > 0;
  return {
    period: isInGrace ? last : activePeriod(account, now),
    secondsLeft: Math.max(0, Math.floor(left)),
  };
}

function inactive(last: PeriodRecord | undefined, baseUrl: string): GatewayError {
  if (last === undefined) return new GatewayError('plan_inactive', `no plan is active; choose one at ${baseUrl}`);
  return new GatewayError('plan_inactive', `your plan ended at ${last.endsAt.toISOString()}; renew at ${baseUrl}`);
}
