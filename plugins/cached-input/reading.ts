import type { OperatorReading } from '#core/business/operator-actions/operator-reading.ts';
import { choiceOf } from '#core/business/operator-actions/query.ts';
import { countUsage, startOfHours, writeShares } from '#core/gateway/records/usage.ts';

const groups = ['route', 'model', 'client', 'account'] as const;
/** Hours, by the name of a span. */
const spans = { '24h': 24, '7d': 7 * 24, '30d': 30 * 24 } as const;
const spanNames = Object.keys(spans) as (keyof typeof spans)[];
/** Groups that are listed. */
const largestList = 1_000;

export const cachedInputReading: OperatorReading = {
  path: '/cached-input',
  summary: 'read which part of the input the caches of vendors read and wrote, the groups with the most input first',
  query: {
    by: `One of ${groups.join(', ')}. Default: route. Clients name themselves.`,
    span: `One of ${spanNames.join(', ')}, with the running hour. Default: 24h.`,
  },
  async read({ database, now }, _handle, query) {
    const by = choiceOf(query, 'by', groups) ?? 'route';
    const since = startOfHours(now(), spans[choiceOf(query, 'span', spanNames) ?? '24h']);
    const rows = await countUsage(database.records, { since }, [by]);
    const shown = rows.filter(({ inputTokens }) => inputTokens > 0).toSorted((a, b) => b.inputTokens - a.inputTokens);
    return {
      since: new Date(since),
      cut: shown.length > largestList,
      cachedInput: shown.slice(0, largestList).map((row) => ({
        [by]: (row as Partial<Record<(typeof groups)[number], string | null>>)[by] ?? null,
        requests: row.requests,
        inputTokens: row.inputTokens,
        cacheReadTokens: row.cacheReadTokens,
        cacheWriteTokens: row.cacheWriteTokens,
        ...writeShares(row),
      })),
    };
  },
};
