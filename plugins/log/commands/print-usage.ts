import { fullName } from '#core/business/accounts/shown-names.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { quantile } from '#core/gateway/records/latency-histogram.ts';
import { readRouteUsage, type RouteUsage } from '#core/gateway/records/route-usage.ts';
import {
  countsOf,
  type CountsRow,
  countUsage,
  readUsage,
  storedCounts,
  type TimedUsage,
  type UsageBy,
  type UsageCounts,
  type UsageFilter,
  usageReach,
  writeShares,
} from '#core/gateway/records/usage.ts';
import { readUnauthenticatedJson } from './unauthenticated-reading.ts';
import { describeUnauthenticated, includesUnauthenticated } from './describe-unauthenticated.ts';
import type { FiguredUsage, UsageFiguresReader } from '#core/extension/commands/usage-figures.ts';
import { describeUsage, timed, type UsageGrouping, type UsageLine, type UsageTable } from './describe-usage.ts';
import type { CommandOutput } from './selection.ts';
import { toOperatorJson } from '#core/web/resources/operator-json.ts';
import type { Account } from '#core/business/accounts/entities.ts';
import type { Row } from '#core/platform/database/rows.ts';

type UsageHost = Pick<Host, 'database' | 'section' | 'now'>;

async function readTable(
  host: UsageHost,
  filter: UsageFilter,
  by: UsageGrouping,
  figuresReader: UsageFiguresReader | undefined,
): Promise<UsageTable> {
  const { database } = host;
  const [lines, { since: reach }, figures] = await Promise.all([
    by === 'plan' ? [] : readLines(database, filter, by),
    usageReach(database),
    by === 'hour' || by === 'client' ? undefined : figuresReader?.read(host, filter, by),
  ]);
  const all = figures === undefined ? lines : addFigures(lines, figures.groups);
  return { by, lines: all, since: filter.since, reach, figures };
}

/** Reads usage in the JSON form of commands and the API. */
export async function readUsageJson(...asked: Parameters<typeof readTable>): Promise<object> {
  const [host, filter] = asked;
  const table = await readTable(...asked);
  const unauthenticated = includesUnauthenticated(filter)
    ? { unauthenticated: await readUnauthenticatedJson(host, filter.since) }
    : {};
  return { ...toJson(table), ...unauthenticated, ...table.figures?.json };
}

export async function printUsage(
  host: UsageHost,
  filter: UsageFilter,
  by: UsageGrouping,
  { print, isJson, timeZone }: CommandOutput,
  figuresReader: UsageFiguresReader | undefined,
): Promise<void> {
  if (isJson)
    return print(JSON.stringify(toOperatorJson(await readUsageJson(host, filter, by, figuresReader)), null, 2));
  for (const line of describeUsage(await readTable(host, filter, by, figuresReader), timeZone)) print(line);
  for (const line of await describeUnauthenticated(host, filter, timeZone)) print(line);
}

async function readLines(database: Host['database'], filter: UsageFilter, by: UsageBy): Promise<UsageLine[]> {
  const [usage, names, routes] = await Promise.all([
    read(database, filter, by),
    by === 'account' ? readNames(database) : undefined,
    by === 'route' ? readAttempts(database, filter) : undefined,
  ]);
  const attempts = new Map(routes?.map((one) => [one.route, one]));
  const lines = usage.map(({ firstContent = [], [by]: key = null, ...counts }) => ({
    ...counts,
    key,
    account: names?.get(String(key)),
    attempts: attempts.get(String(key)),
    firstContent: { median: quantile(firstContent, 0.5), slow: quantile(firstContent, 0.95) },
  }));
  const neverServed = [...attempts.keys()].filter((route) => !lines.some(({ key }) => key === route));
  const all = [...lines, ...neverServed.map((route) => ({ ...unused, key: route, attempts: attempts.get(route) }))];
  return by === 'hour' ? all : all.toSorted((a, b) => b.requests - a.requests);
}

/** The lines with their figures, then figures without usage: revenue of accounts without requests, unused flat prices. */
function addFigures(lines: readonly UsageLine[], groups: readonly FiguredUsage[]): UsageLine[] {
  const left = new Map(groups.map((group) => [group.key, group]));
  const found = lines.map((line) => {
    const figures = left.get(line.key as string | null);
    left.delete(line.key as string | null);
    return { ...line, figures };
  });
  return [
    ...found,
    ...[...left.values()].map((figures) => ({ ...unused, ...figures.counts, key: figures.key, figures })),
  ];
}

/** Counts of a route whose attempts served no request. */
const unused: Omit<UsageLine, 'key'> = {
  ...countsOf(Object.fromEntries(storedCounts.map((name) => [name, 0])) as CountsRow),
  firstContent: { median: undefined, slow: undefined },
};

type Counted = UsageCounts &
  Partial<Record<UsageBy, string | number | null>> &
  Partial<Pick<TimedUsage, 'firstContent'>>;

/** Attempts on routes are counted over all accounts and models. */
async function readAttempts(database: Host['database'], filter: UsageFilter): Promise<RouteUsage[]> {
  const { accountId, model, route } = filter;
  if (accountId !== undefined || model !== undefined) return [];
  const all = await readRouteUsage(database, filter);
  return route === undefined ? all : all.filter((one) => one.route === route);
}

/** Reads counts only if grouped by account, because response times of thousands of accounts are slow to compute; clients have none. */
function read(database: Host['database'], filter: UsageFilter, by: UsageBy): Promise<Counted[]> {
  return by === 'account' || by === 'client' ? countUsage(database, filter, [by]) : readUsage(database, filter, [by]);
}

async function readNames(database: Host['database']): Promise<Map<string, string>> {
  const rows = await database.query<Row<typeof Account, 'id' | 'name' | 'email'>>(
    'SELECT id, name, email FROM account',
  );
  return new Map(rows.map(({ id, name, email }) => [id, fullName(name, email)]));
}

function toJson({ by, lines, since, reach }: UsageTable): object {
  return {
    since: new Date(since),
    completeSince: reach === undefined ? null : new Date(reach),
    usage: lines.map(({ key, account, firstContent, attempts, figures, ...counts }) => ({
      [by]: by === 'hour' ? new Date(key as number) : key,
      ...(by === 'account' && { name: account }),
      ...counts,
      ...figures?.json,
      ...writeShares(counts),
      ...(timed.includes(by) && {
        firstTokenMs: { p50: rounded(firstContent.median), p95: rounded(firstContent.slow) },
      }),
      ...(by === 'route' && { attempts: attempts && writeAttempts(attempts) }),
    })),
  };
}

function writeAttempts({ lastServedAt, lastFault, ...counts }: RouteUsage): object {
  return {
    ...counts,
    lastServedAt: lastServedAt === undefined ? null : new Date(lastServedAt),
    lastFault: lastFault && { ...lastFault, at: new Date(lastFault.at) },
  };
}

function rounded(ms: number | undefined): number | null {
  return ms === undefined ? null : Math.round(ms);
}
