import { type Gauge, gaugeBy } from '#core/gateway/health/gauge.ts';
import { type Host, cacheReading } from '#core/gateway/host/host.ts';
import { countUsage, calculateCacheShares, startOfHours, type UsageCounts } from '#core/gateway/records/usage.ts';
import { toKnownClient } from './known-clients.ts';

const coveredHours = 24;
const maxAgeMs = 60_000;
const timeoutMs = 5_000;

const dimensions = ['route', 'model', 'client'] as const;

interface NamedShare {
  readonly by: (typeof dimensions)[number];
  readonly name: string;
  readonly read: number;
  readonly written: number;
}

/** Cached for a minute, so that both metrics and all scrapers see the same shares. */
const shareReading = cacheReading({ maxAgeMs, staleWhileReadMs: maxAgeMs, timeoutMs }, async (host) =>
  (await Promise.all(dimensions.map((by) => readShares(host, by)))).flat(),
);

async function readShares({ database, now, catalog }: Host, by: NamedShare['by']): Promise<NamedShare[]> {
  const rows = await countUsage(database.records, { since: startOfHours(now(), coveredHours) }, [by]);
  const rowsByName = Map.groupBy(rows, (row) =>
    findKnownName(by, (row as Partial<Record<NamedShare['by'], string | null>>)[by], catalog),
  );
  return [...rowsByName].flatMap(([name, namedRows]) => {
    const share = name === undefined ? undefined : calculateCacheShares(sumTokens(namedRows));
    return name === undefined || share === undefined ? [] : [{ by, name, ...share }];
  });
}

/** The names come from clients, and only known ones may create a series. */
function findKnownName(
  by: NamedShare['by'],
  name: string | null | undefined,
  { models }: Host['catalog'],
): string | undefined {
  if (name === null || name === undefined) return undefined;
  if (by === 'client') return toKnownClient(name);
  if (by === 'model') return models.find(({ publicName }) => publicName === name)?.id;
  return models.some(({ routes }) => routes.some(({ id }) => id === name)) ? name : undefined;
}

type Tokens = Pick<UsageCounts, 'inputTokens' | 'cacheReadTokens' | 'cacheWriteTokens'>;

function sumTokens(rows: readonly Tokens[]): Tokens {
  const total = (read: (row: Tokens) => number) => rows.reduce((sum, row) => sum + read(row), 0);
  return {
    inputTokens: total(({ inputTokens }) => inputTokens),
    cacheReadTokens: total(({ cacheReadTokens }) => cacheReadTokens),
    cacheWriteTokens: total(({ cacheWriteTokens }) => cacheWriteTokens),
  };
}

const createShareGauge = (name: string, description: string, value: (line: NamedShare) => number): Gauge =>
  gaugeBy(['by', 'name'], name, description, async (host) =>
    (await shareReading(host).get()).map((line) => [line.by, line.name, value(line)]),
  );

export const cachedInputGauge = createShareGauge(
  'cached_input_ratio',
  "Share of the last 24 hours' input tokens that vendors read from their caches, by route, model and client.",
  ({ read }) => read,
);

export const writtenInputGauge = createShareGauge(
  'written_input_ratio',
  "Share of the last 24 hours' input tokens that vendors wrote to their caches, by route, model and client.",
  ({ written }) => written,
);
