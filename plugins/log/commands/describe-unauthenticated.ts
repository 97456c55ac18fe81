import { formatTime } from '#core/extension/commands/table-text.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { readUnauthenticated, type UnauthenticatedBlock } from '#core/gateway/records/unauthenticated.ts';
import type { UsageFilter } from '#core/gateway/records/usage.ts';
import { getFormatter } from '#core/web/texts/formatter.ts';

const maxListedBlocks = 3;

export function includesUnauthenticated({ accountId, model, route }: UsageFilter): boolean {
  return accountId === undefined && model === undefined && route === undefined;
}

export async function describeUnauthenticated(
  { database }: Pick<Host, 'database'>,
  filter: UsageFilter,
  timeZone: string,
): Promise<string[]> {
  if (!includesUnauthenticated(filter)) return [];
  const { requests, blocks } = await readUnauthenticated(database, filter.since, maxListedBlocks);
  if (requests === 0) return [];
  const { number } = getFormatter('en', timeZone);
  const formatStatuses = ({ statuses }: UnauthenticatedBlock) =>
    statuses.map(({ requests: count, status }) => `${number(count)} × ${status ?? 'client left'}`).join(', ');
  const blockTexts = blocks.map((block) => `${block.block ?? 'other addresses'} (${formatStatuses(block)})`).join('; ');
  const since = formatTime(new Date(filter.since), timeZone, true);
  return [
    '',
    `without an account since ${since} (${timeZone}): ${number(requests)}, only a few of which have a record. Most from ${blockTexts}`,
  ];
}
