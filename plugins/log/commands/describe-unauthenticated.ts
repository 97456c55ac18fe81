import { formatterFor } from '#core/web/texts/formatter.ts';
import type { RequestFilter } from '#core/gateway/records/filter.ts';
import type { UnauthenticatedBlock, UnauthenticatedUsage } from '#core/gateway/records/unauthenticated.ts';
import { timeOf } from './describe-requests.ts';

/** Blocks that a line names. */
export const namedBlocks = 3;

/** False where requests without an account cannot be among what is asked for. */
export function includesUnauthenticated({ accountId, model, route }: RequestFilter): boolean {
  return accountId === undefined && model === undefined && route === undefined;
}

/** Requests of no account in one sentence; no line without any. @param since epoch ms */
export function describeUnauthenticated(
  { requests, blocks }: UnauthenticatedUsage,
  since: number,
  timeZone: string,
): string[] {
  if (requests === 0) return [];
  const { number } = formatterFor('en', timeZone);
  const statusesOf = ({ statuses }: UnauthenticatedBlock) =>
    statuses.map((one) => `${number(one.requests)} × ${one.status ?? 'client left'}`).join(', ');
  const most = blocks.map((one) => `${one.block ?? 'other addresses'} (${statusesOf(one)})`).join('; ');
  return [
    '',
    `without an account since ${timeOf(since, timeZone)} (${timeZone}): ${number(requests)}, only a few of which have a record. Most from ${most}`,
  ];
}
