import { type Command as Parser, Option } from 'commander';
import type { OrderFilter } from '#core/business/payments/order.ts';
import { type OrderState, orderStates } from '#core/business/payments/order-types.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { parseLine } from './arguments.ts';
import { parseDay } from './days.ts';

/** Adds the filters of orders, which are those of their money too. */
export function filtered(parser: Parser): Parser {
  return parser
    .addOption(new Option('--state <state>', 'only orders in this state').choices(orderStates))
    .option('--flagged', 'only orders with a flag that is not resolved')
    .option('--day <day>', 'of one day, such as 2026-11-22', parseDay)
    .option('--since <day>', 'from this day on', parseDay)
    .option('--until <day>', 'up to this day, included', parseDay)
    .option('--account <account>', 'of this account: id, e-mail address, name, hint or key', parseLine);
}

/** Filters as they are written on the command line. */
export interface FilterOptions {
  readonly state?: OrderState;
  readonly flagged?: true;
  readonly day?: string;
  readonly since?: string;
  readonly until?: string;
  readonly account?: string;
}

/** @throws AccountError */
export async function readFilter(host: Host, options: FilterOptions, timeZone: string): Promise<OrderFilter> {
  const { state, flagged, day, since = day, until = day, account } = options;
  const { rangeOfDays } = await import('#core/platform/database/day-range.ts');
  const range = await rangeOfDays(host.database, timeZone, since, until);
  return {
    state,
    isFlagged: flagged,
    accountId: account === undefined ? undefined : await findAccountId(host, account),
    ...range,
  };
}

async function findAccountId(host: Host, handle: string): Promise<string> {
  const { findAccountByHandle } = await import('#core/business/accounts/account-list.ts');
  return (await findAccountByHandle(host, handle)).id;
}
