import { cacheReading } from '#core/gateway/host/host.ts';
import {
  countUsage,
  calculateCacheShares,
  startOfHours,
  type UsageCounts,
  hourMs,
} from '#core/gateway/records/usage.ts';
import type { Queries } from '#core/platform/database/database.ts';

const minCounts = { calls: 200, inputTokens: 2_000_000 };
const minFall = 0.15;

const hoursPerDay = 24;
const hoursPerWeek = 7 * hoursPerDay;

/** A route, model or client for which vendors read less of the prompts from their caches than before. */
export interface FallenShare {
  readonly of: 'route' | 'model' | 'client';
  readonly name: string;
  /** Cached share of the input, from 0 to 1: in the week before, and on the last day. */
  readonly before: number;
  readonly now: number;
  /** Input tokens of the last day that would have been read from the cache if the week's share had held. */
  readonly lostTokens: number;
}

type Counts = Pick<UsageCounts, 'answered' | 'cached' | 'inputTokens' | 'cacheReadTokens' | 'cacheWriteTokens'>;

export interface CallCounts {
  readonly route: string | null;
  readonly model: string | null;
  readonly client?: string | null;
  readonly counts: Counts;
}

export interface PeriodCounts {
  readonly byRoute: readonly CallCounts[];
  readonly byClient: readonly CallCounts[];
}

/**
 * Finds routes whose share has fallen, then models outside these routes, then clients outside these routes and models. Sorted by loss,
 * largest first.
 */
export function findFallenShares(week: PeriodCounts, day: PeriodCounts): FallenShare[] {
  const fallenRoutes = findFallenBy('route', week.byRoute, day.byRoute);
  const isOutside = (fallen: readonly FallenShare[]) => {
    const names = new Set(fallen.map(({ of, name }) => `${of} ${name}`));
    return ({ route, model }: CallCounts) => !names.has(`route ${route}`) && !names.has(`model ${model}`);
  };
  const fallenModels = findFallenBy(
    'model',
    week.byRoute.filter(isOutside(fallenRoutes)),
    day.byRoute.filter(isOutside(fallenRoutes)),
  );
  const isOutsideAll = isOutside([...fallenRoutes, ...fallenModels]);
  const fallenClients = findFallenBy('client', week.byClient.filter(isOutsideAll), day.byClient.filter(isOutsideAll));
  return [...fallenRoutes, ...fallenModels, ...fallenClients].toSorted(
    (first, second) => second.lostTokens - first.lostTokens,
  );
}

function findFallenBy(of: FallenShare['of'], week: readonly CallCounts[], day: readonly CallCounts[]): FallenShare[] {
  const countsBefore = sumBy(of, week);
  return [...sumBy(of, day)].flatMap(([name, counts]) => {
    const [shareBefore, now] = [calculateShare(countsBefore.get(name)), calculateShare(counts)];
    if (shareBefore === undefined || now === undefined || shareBefore - now < minFall) return [];
    return [{ of, name, before: shareBefore, now, lostTokens: Math.round((shareBefore - now) * counts.inputTokens) }];
  });
}

function calculateShare(counts: Counts | undefined): number | undefined {
  if (counts === undefined) return undefined;
  // Replies from the gateway's own cache involve no vendor.
  const isEnough = counts.answered - counts.cached >= minCounts.calls && counts.inputTokens >= minCounts.inputTokens;
  return isEnough ? calculateCacheShares(counts)?.read : undefined;
}

function sumBy(of: FallenShare['of'], calls: readonly CallCounts[]): Map<string, Counts> {
  const sums = new Map<string, Counts>();
  for (const call of calls) {
    const name = call[of];
    if (name === null || name === undefined) continue;
    const sum = sums.get(name);
    sums.set(name, sum === undefined ? call.counts : addCounts(sum, call.counts));
  }
  return sums;
}

function addCounts(one: Counts, other: Counts): Counts {
  return {
    answered: one.answered + other.answered,
    cached: one.cached + other.cached,
    inputTokens: one.inputTokens + other.inputTokens,
    cacheReadTokens: one.cacheReadTokens + other.cacheReadTokens,
    cacheWriteTokens: one.cacheWriteTokens + other.cacheWriteTokens,
  };
}

/** Compares the 24 hours up to `now` (epoch ms), including the current hour, with the week before. */
export async function readFallenShares(database: Queries, now: number): Promise<FallenShare[]> {
  const since = startOfHours(now, hoursPerDay);
  const [week, day] = await Promise.all([
    readPeriod(database, { since: since - hoursPerWeek * hourMs, until: since }),
    readPeriod(database, { since }),
  ]);
  return findFallenShares(week, day);
}

async function readPeriod(
  database: Queries,
  span: { readonly since: number; readonly until?: number },
): Promise<PeriodCounts> {
  const [byRoute, byClient] = await Promise.all([
    countUsage(database, span, ['route', 'model']),
    countUsage(database, span, ['route', 'model', 'client']),
  ]);
  return { byRoute: toCallCounts(byRoute), byClient: toCallCounts(byClient) };
}

function toCallCounts(rows: readonly (UsageCounts & Omit<CallCounts, 'counts'>)[]): CallCounts[] {
  return rows.map((row) => ({ route: row.route, model: row.model, client: row.client ?? null, counts: row }));
}

const maxAgeMs = 300_000;
const timeoutMs = 10_000;

/** Cached, because each reading scans a week of records. */
export const fallenSharesReading = cacheReading(
  { maxAgeMs, staleWhileReadMs: maxAgeMs, timeoutMs },
  ({ database, now }) => readFallenShares(database.records, now()),
);
