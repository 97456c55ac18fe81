import type { Database } from '#core/platform/database/database.ts';
import { cacheReading } from '#core/gateway/host/host.ts';
import {
  countUsage,
  calculateCacheShares,
  startOfHours,
  type UsageCounts,
  hourMs,
} from '#core/gateway/records/usage.ts';

/** Minimum counts of both periods for a report. */
const least = { calls: 200, inputTokens: 2_000_000 };
/** Minimum fall of the share, as a fraction of the input. */
const minFall = 0.15;

const dayHours = 24;
const weekHours = 7 * dayHours;

/** A route, model or client whose prompts vendors read from their caches less often than before. */
export interface FallenShare {
  readonly of: 'route' | 'model' | 'client';
  readonly name: string;
  /** Share of the input, from 0 to 1, in the week before and on the last day. */
  readonly before: number;
  readonly now: number;
  /** Input tokens of the day that would have been read from the cache at the week's share. */
  readonly lostTokens: number;
}

type Counts = Pick<UsageCounts, 'answered' | 'cached' | 'inputTokens' | 'cacheReadTokens' | 'cacheWriteTokens'>;

/** Counts of calls with the same names. A name is null if the calls have none. */
export interface CallCounts {
  readonly route: string | null;
  readonly model: string | null;
  readonly client?: string | null;
  readonly counts: Counts;
}

/** Counts of a period, by route and model, and also by client. */
export interface Times {
  readonly byRoute: readonly CallCounts[];
  readonly byClient: readonly CallCounts[];
}

/**
 * Finds routes whose share has fallen, then models outside these routes, then clients outside these routes and models. The largest
 * loss is first.
 */
export function findFallen(week: Times, day: Times): FallenShare[] {
  const routes = fallenBy('route', week.byRoute, day.byRoute);
  const notOn = (fallen: readonly FallenShare[]) => {
    const names = new Set(fallen.map(({ of, name }) => `${of} ${name}`));
    return ({ route, model }: CallCounts) => !names.has(`route ${route}`) && !names.has(`model ${model}`);
  };
  const models = fallenBy('model', week.byRoute.filter(notOn(routes)), day.byRoute.filter(notOn(routes)));
  const isOther = notOn([...routes, ...models]);
  const clients = fallenBy('client', week.byClient.filter(isOther), day.byClient.filter(isOther));
  return [...routes, ...models, ...clients].toSorted((first, second) => second.lostTokens - first.lostTokens);
}

function fallenBy(of: FallenShare['of'], week: readonly CallCounts[], day: readonly CallCounts[]): FallenShare[] {
  const before = sumBy(of, week);
  return [...sumBy(of, day)].flatMap(([name, counts]) => {
    const [earlier, now] = [shareOf(before.get(name)), shareOf(counts)];
    if (earlier === undefined || now === undefined || earlier - now < minFall) return [];
    return [{ of, name, before: earlier, now, lostTokens: Math.round((earlier - now) * counts.inputTokens) }];
  });
}

/** Returns the share of cached input; undefined if there are too few calls. */
function shareOf(counts: Counts | undefined): number | undefined {
  if (counts === undefined) return undefined;
  // Replies from the gateway's own cache involve no vendor.
  const isEnough = counts.answered - counts.cached >= least.calls && counts.inputTokens >= least.inputTokens;
  return isEnough ? calculateCacheShares(counts)?.read : undefined;
}

function sumBy(of: FallenShare['of'], calls: readonly CallCounts[]): Map<string, Counts> {
  const sums = new Map<string, Counts>();
  for (const call of calls) {
    const name = call[of];
    if (name === null || name === undefined) continue;
    const sum = sums.get(name);
    sums.set(name, sum === undefined ? call.counts : add(sum, call.counts));
  }
  return sums;
}

function add(one: Counts, other: Counts): Counts {
  return {
    answered: one.answered + other.answered,
    cached: one.cached + other.cached,
    inputTokens: one.inputTokens + other.inputTokens,
    cacheReadTokens: one.cacheReadTokens + other.cacheReadTokens,
    cacheWriteTokens: one.cacheWriteTokens + other.cacheWriteTokens,
  };
}

/** Compares the last 24 hours, including the running hour, with the week before. @param now epoch ms */
export async function readFallen(database: Pick<Database, 'query'>, now: number): Promise<FallenShare[]> {
  const since = startOfHours(now, dayHours);
  const [week, day] = await Promise.all([
    readTimes(database, { since: since - weekHours * hourMs, until: since }),
    readTimes(database, { since }),
  ]);
  return findFallen(week, day);
}

async function readTimes(
  database: Pick<Database, 'query'>,
  span: { readonly since: number; readonly until?: number },
): Promise<Times> {
  const [byRoute, byClient] = await Promise.all([
    countUsage(database, span, ['route', 'model']),
    countUsage(database, span, ['route', 'model', 'client']),
  ]);
  return { byRoute: callsOf(byRoute), byClient: callsOf(byClient) };
}

function callsOf(rows: readonly (UsageCounts & Omit<CallCounts, 'counts'>)[]): CallCounts[] {
  return rows.map((row) => ({ route: row.route, model: row.model, client: row.client ?? null, counts: row }));
}

const maxAge = 300_000; // ms
const deadline = 10_000; // ms

/** Returns the cached reading of fallen shares, which are read at most every five minutes. */
export const fallenReading = cacheReading(
  { maxAgeMs: maxAge, staleWhileReadMs: maxAge, timeoutMs: deadline },
  ({ database, now }) => readFallen(database.records, now()),
);
