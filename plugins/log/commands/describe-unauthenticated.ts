import { formatTime } from '#core/extension/commands/table-text.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { readUnauthenticated, type UnauthenticatedBlock } from '#core/gateway/records/unauthenticated.ts';
import type { UsageFilter } from '#core/gateway/records/usage.ts';
import { formatterFor } from '#core/web/texts/formatter.ts';

/** Maximum number of blocks that a line names. */
const namedBlocks = 3;

/** False if the filter excludes requests without an account. */
export function includesUnauthenticated({ accountId, model, route }: UsageFilter): boolean {
  return accountId === undefined && model === undefined && route === undefined;
}

/** Describes requests without an account in one sentence; no lines if there are none or the filter excludes them. */
export async function describeUnauthenticated(
  { database }: Pick<Host, 'database'>,
  filter: UsageFilter,
  timeZone: string,
): Promise<string[]> {
  if (!includesUnauthenticated(filter)) return [];
  const { requests, blocks } = await readUnauthenticated(database, filter.since, namedBlocks);
  if (requests === 0) return [];
  const { number } = formatterFor('en', timeZone);
  const statusesOf = ({ statuses }: UnauthenticatedBlock) =>
    statuses.map((one) => `${number(one.requests)} × ${one.status ?? 'client left'}`).join(', ');
  const most = blocks.map((one) => `${one.block ?? 'other addresses'} (${statusesOf(one)})`).join('; ');
  const since = formatTime(new Date(filter.since), timeZone, true);
  return [
    '',
    `without an account since ${since} (${timeZone}): ${number(requests)}, only a few of which have a record. Most from ${most}`,
  ];
}
