import type { OperatorReading } from '#core/business/operator-actions/operator-reading.ts';
import { countUsage, startOfHours, cacheSharesToJson } from '#core/gateway/records/usage.ts';
import { object } from '#core/platform/schema.ts';
import { describeQuery, readQuery } from '#core/web/resources/resource.ts';

const hoursBySpan = { '24h': 24, '7d': 7 * 24, '30d': 30 * 24 } as const;
const cachedInputQuery = object({
  by: { enum: ['route', 'model', 'client', 'account'], description: 'Default: route. Clients name themselves.' },
  span: { enum: ['24h', '7d', '30d'], description: 'Includes the current hour. Default: 24h.' },
});
const maxListed = 1_000;

export const cachedInputReading: OperatorReading = {
  path: '/cached-input',
  summary: 'read what share of the input vendors read from and wrote to their caches, largest input first',
  query: describeQuery(cachedInputQuery),
  async read({ database, now }, _handle, query) {
    const { by = 'route', span = '24h' } = await readQuery(cachedInputQuery, query);
    const since = startOfHours(now(), hoursBySpan[span]);
    const rows = await countUsage(database.records, { since }, [by]);
    const groups = rows.filter(({ inputTokens }) => inputTokens > 0).toSorted((a, b) => b.inputTokens - a.inputTokens);
    return {
      since: new Date(since),
      cut: groups.length > maxListed,
      cachedInput: groups.slice(0, maxListed).map((row) => ({
        [by]: (row as Partial<Record<typeof by, string | null>>)[by] ?? null,
        requests: row.requests,
        inputTokens: row.inputTokens,
        cacheReadTokens: row.cacheReadTokens,
        cacheWriteTokens: row.cacheWriteTokens,
        ...cacheSharesToJson(row),
      })),
    };
  },
};
