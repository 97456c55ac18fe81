import { nameWithAddress } from '#core/business/accounts/account-names.ts';
import type { Account } from '#core/business/accounts/entities.ts';
import type { UsageFiguresReader } from '#core/extension/commands/usage-figures.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { quantile } from '#core/gateway/records/latency-histogram.ts';
import { readRouteUsage, type RouteUsage } from '#core/gateway/records/route-usage.ts';
import {
  toCounts,
  type CountsRow,
  countUsage,
  readUsage,
  storedCounts,
  type TimedUsage,
  type UsageBy,
  type UsageCounts,
  type UsageFilter,
  usageReach,
  cacheSharesToJson,
} from '#core/gateway/records/usage.ts';
import type { Row } from '#core/platform/database/rows.ts';
import { toOperatorJson } from '#core/web/resources/operator-json.ts';
import { describeUnauthenticated, includesUnauthenticated } from './describe-unauthenticated.ts';
import {
  describeUsage,
  timedGroupings,
  type UsageGrouping,
  type UsageLine,
  type UsageTable,
} from './describe-usage.ts';
import type { CommandOutput } from './selection.ts';
import { readUnauthenticatedJson } from './unauthenticated-reading.ts';

type UsageHost = Pick<Host, 'database' | 'section' | 'now'>;

async function readUsageTable(
  host: UsageHost,
  filter: UsageFilter,
  by: UsageGrouping,
  figuresReader: UsageFiguresReader | undefined,
): Promise<UsageTable> {
  const { database } = host;
  const [lines, { since: completeSince }, figures] = await Promise.all([
    by === 'plan' ? [] : readLines(database, filter, by),
    usageReach(database),
    by === 'hour' || by === 'client' ? undefined : figuresReader?.read(host, filter, by),
  ]);
  const groups = new Map(figures?.groups.map((group) => [group.key, { figures: group }]));
  return { by, lines: addByKey(lines, groups), since: filter.since, completeSince, figures };
}

export async function readUsageJson(...parameters: Parameters<typeof readUsageTable>): Promise<object> {
  const [host, filter] = parameters;
  const table = await readUsageTable(...parameters);
  const unauthenticated = includesUnauthenticated(filter)
    ? { unauthenticated: await readUnauthenticatedJson(host, filter.since) }
    : {};
  return { ...toUsageJson(table), ...unauthenticated, ...table.figures?.json };
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
  for (const line of describeUsage(await readUsageTable(host, filter, by, figuresReader), timeZone)) print(line);
  for (const line of await describeUnauthenticated(host, filter, timeZone)) print(line);
}

async function readLines(database: Host['database'], filter: UsageFilter, by: UsageBy): Promise<UsageLine[]> {
  const [usage, names, routes] = await Promise.all([
    readCounts(database, filter, by),
    by === 'account' ? readNames(database) : undefined,
    by === 'route' ? readAttempts(database, filter) : undefined,
  ]);
  const lines = usage.map(({ firstContent = [], [by]: key = null, ...counts }) => ({
    ...counts,
    key,
    account: names?.get(String(key)),
    firstContent: { median: quantile(firstContent, 0.5), p95: quantile(firstContent, 0.95) },
  }));
  const attempts = new Map(routes?.map((attempted) => [attempted.route, { attempts: attempted }]));
  const allLines = addByKey(lines, attempts);
  return by === 'hour' ? allLines : allLines.toSorted((a, b) => b.requests - a.requests);
}

function addByKey(
  lines: readonly UsageLine[],
  values: ReadonlyMap<UsageLine['key'], Pick<UsageLine, 'attempts' | 'figures'>>,
): UsageLine[] {
  const unusedKeys = new Set(values.keys()).difference(new Set(lines.map(({ key }) => key)));
  // For example, attempts that served nothing, or flat prices that were not used.
  const linesWithoutUsage = Array.from(unusedKeys, (key) => {
    const value = values.get(key);
    return { ...emptyCounts, ...value?.figures?.counts, key, ...value };
  });
  return [...lines.map((line) => ({ ...line, ...values.get(line.key) })), ...linesWithoutUsage];
}

const emptyCounts: Omit<UsageLine, 'key'> = {
  ...toCounts(Object.fromEntries(storedCounts.map((name) => [name, 0])) as CountsRow),
  firstContent: { median: undefined, p95: undefined },
};

type GroupedCounts = UsageCounts &
  Partial<Record<UsageBy, string | number | null>> &
  Partial<Pick<TimedUsage, 'firstContent'>>;

async function readAttempts(database: Host['database'], filter: UsageFilter): Promise<RouteUsage[]> {
  const { accountId, model, route } = filter;
  // Attempts are counted over all accounts and models, not for a single one.
  if (accountId !== undefined || model !== undefined) return [];
  const usage = await readRouteUsage(database, filter);
  return route === undefined ? usage : usage.filter((attempted) => attempted.route === route);
}

function readCounts(database: Host['database'], filter: UsageFilter, by: UsageBy): Promise<GroupedCounts[]> {
  // Response times are slow to compute, so groups by account or client have none.
  return by === 'account' || by === 'client' ? countUsage(database, filter, [by]) : readUsage(database, filter, [by]);
}

async function readNames(database: Host['database']): Promise<Map<string, string>> {
  const rows = await database.query<Row<typeof Account, 'id' | 'name' | 'email'>>(
    'SELECT id, name, email FROM account',
  );
  return new Map(rows.map(({ id, name, email }) => [id, nameWithAddress(name, email)]));
}

function toUsageJson({ by, lines, since, completeSince }: UsageTable): object {
  return {
    since: new Date(since),
    completeSince: completeSince === undefined ? null : new Date(completeSince),
    usage: lines.map(({ key, account, firstContent, attempts, figures, ...counts }) => ({
      [by]: by === 'hour' ? new Date(key as number) : key,
      ...(by === 'account' && { name: account }),
      ...counts,
      ...figures?.json,
      ...cacheSharesToJson(counts),
      ...(timedGroupings.includes(by) && {
        firstTokenMs: { p50: roundOrNull(firstContent.median), p95: roundOrNull(firstContent.p95) },
      }),
      ...(by === 'route' && { attempts: attempts && toAttemptsJson(attempts) }),
    })),
  };
}

function toAttemptsJson({ lastServedAt, lastFault, ...counts }: RouteUsage): object {
  return {
    ...counts,
    lastServedAt: lastServedAt === undefined ? null : new Date(lastServedAt),
    lastFault: lastFault && { ...lastFault, at: new Date(lastFault.at) },
  };
}

function roundOrNull(ms: number | undefined): number | null {
  return ms === undefined ? null : Math.round(ms);
}
