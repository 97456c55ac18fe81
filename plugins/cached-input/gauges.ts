import { type Gauge, gaugeBy } from '#core/gateway/health/gauge.ts';
import { type Host, cacheReading } from '#core/gateway/host/host.ts';
import { countUsage, calculateCacheShares, startOfHours, type UsageCounts } from '#core/gateway/records/usage.ts';
import { knownClient } from './known-clients.ts';

/** Hours of input that a share covers. */
const hours = 24;
const maxAge = 60_000; // ms
const deadline = 5_000; // ms

const dimensions = ['route', 'model', 'client'] as const;

interface Line {
  readonly by: (typeof dimensions)[number];
  readonly name: string;
  readonly read: number;
  readonly written: number;
}

/** Returns the cached reading of shares. They are read at most once a minute, so both metrics and all scrapers agree. */
const shares = cacheReading({ maxAgeMs: maxAge, staleWhileReadMs: maxAge, timeoutMs: deadline }, async (host) =>
  (await Promise.all(dimensions.map((by) => readLines(host, by)))).flat(),
);

async function readLines({ database, now, catalog }: Host, by: Line['by']): Promise<Line[]> {
  const rows = await countUsage(database.records, { since: startOfHours(now(), hours) }, [by]);
  const named = Map.groupBy(rows, (row) =>
    nameOf(by, (row as Partial<Record<Line['by'], string | null>>)[by], catalog),
  );
  return [...named].flatMap(([name, some]) => {
    const share = name === undefined ? undefined : calculateCacheShares(sum(some));
    return name === undefined || share === undefined ? [] : [{ by, name, ...share }];
  });
}

/** Returns the name if gateway.yaml or the code has it, because client input must not create series. */
function nameOf(by: Line['by'], name: string | null | undefined, { models }: Host['catalog']): string | undefined {
  if (name === null || name === undefined) return undefined;
  if (by === 'client') return knownClient(name);
  if (by === 'model') return models.find(({ publicName }) => publicName === name)?.id;
  return models.some(({ routes }) => routes.some(({ id }) => id === name)) ? name : undefined;
}

type Tokens = Pick<UsageCounts, 'inputTokens' | 'cacheReadTokens' | 'cacheWriteTokens'>;

function sum(rows: readonly Tokens[]): Tokens {
  const total = (read: (row: Tokens) => number) => rows.reduce((all, row) => all + read(row), 0);
  return {
    inputTokens: total(({ inputTokens }) => inputTokens),
    cacheReadTokens: total(({ cacheReadTokens }) => cacheReadTokens),
    cacheWriteTokens: total(({ cacheWriteTokens }) => cacheWriteTokens),
  };
}

const metric = (name: string, description: string, value: (line: Line) => number): Gauge =>
  gaugeBy(['by', 'name'], name, description, async (host) =>
    (await shares(host).get()).map((line) => [line.by, line.name, value(line)]),
  );

export const cachedInputGauge = metric(
  'cached_input_ratio',
  'Part of the input tokens of the last 24 hours that caches of vendors read, by route, model and client.',
  ({ read }) => read,
);

export const writtenInputGauge = metric(
  'written_input_ratio',
  'Part of the input tokens of the last 24 hours that was written to caches of vendors, by route, model and client.',
  ({ written }) => written,
);
