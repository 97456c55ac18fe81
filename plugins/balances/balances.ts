import { periodsInForceSql } from '#core/business/accounts/periods-in-force.ts';
import { findDependents } from '#core/config/catalog/dependents.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { digestKey } from '#core/gateway/model-call/key-digest.ts';
import type { Queries } from '#core/platform/database/database.ts';
import { epoch } from '#core/platform/database/rows.ts';
import { readConfiguredBalances } from './configured-balances.ts';
import { type BalanceAt, forecast, computeForecast, week } from './forecast.ts';
import { listQueryableKeys } from './query-balances.ts';
import { balancesSection } from './section.ts';

/** An account at a vendor and its remaining balance. */
export interface Balance {
  /** Names of the upstreams that use its keys. */
  readonly upstreams: readonly string[];
  readonly source: 'vendor' | 'own';
  /** Undefined until the vendor reports it. */
  readonly amount: number | undefined;
  readonly currency: string | undefined;
  /** Average use per day; undefined until readings cover some hours. */
  readonly perDay: number | undefined;
  /** Days until it runs out; undefined if nothing is used or the use is unknown. */
  readonly days: number | undefined;
  readonly isAvailable: boolean;
  /** Epoch ms; for a figure from gateway.yaml, the start of its day. */
  readonly readAt: number | undefined;
  /** Why the last query failed. */
  readonly error: string | undefined;
  readonly lostModels: readonly string[];
  readonly backedModelCount: number;
}

export async function readBalances(host: Host): Promise<Balance[]> {
  const [reported, ownBalances] = await Promise.all([readReported(host), readConfigured(host)]);
  return [...reported, ...ownBalances].toSorted((first, second) => rank(first) - rank(second));
}

export function selectLowBalances(host: Pick<Host, 'section'>, balances: readonly Balance[]): Balance[] {
  const { alert_days: alertDays } = host.section(balancesSection);
  return balances.filter(({ days, ...rest }) => isUsedUp(rest) || (days !== undefined && days <= alertDays));
}

export function isUsedUp({ amount, isAvailable }: Pick<Balance, 'amount' | 'isAvailable'>): boolean {
  return !isAvailable || (amount !== undefined && amount <= 0);
}

function rank(balance: Balance): number {
  return isUsedUp(balance) ? -1 : (balance.days ?? Infinity);
}

interface Reading {
  readonly digest: string;
  readonly at: number;
  readonly amount: number | null;
  readonly currency: string | null;
  readonly isAvailable: boolean | null;
  readonly error: string | null;
}

async function readReported(host: Host): Promise<Balance[]> {
  if (!host.section(balancesSection).ask) return [];
  const keys = listQueryableKeys(host);
  if (keys.length === 0) return [];
  const rows = await host.database.query<Reading>(
    `select digest, ${epoch('read_at')} as at, amount, currency, is_available as "isAvailable", error
     from balance_reading where digest in (?) and read_at >= ? order by read_at`,
    [keys.map(({ digest }) => digest), new Date(host.now() - week - week / 7)],
  );
  const readingsByKey = Map.groupBy(rows, ({ digest }) => digest);
  // Keys with the same balance at one host are assumed to belong to one account, which must not be counted twice.
  const accounts = Map.groupBy(keys, ({ digest, upstream }) => {
    const latest = readingsByKey.get(digest)?.findLast(({ amount }) => amount !== null);
    const { host: name } = new URL(upstream.baseUrl);
    return latest === undefined ? digest : `${name} ${latest.amount} ${latest.currency}`;
  });
  return [...accounts.values()].map((group) => {
    const digests = new Set(group.map(({ digest }) => digest));
    const readings = readingsByKey.get(group[0]?.digest ?? '') ?? [];
    return { ...summarize(readings), ...findRunOutEffect(host, digests), source: 'vendor' };
  });
}

function summarize(
  readings: readonly Reading[],
): Omit<Balance, 'upstreams' | 'source' | 'lostModels' | 'backedModelCount'> {
  const latest = readings.findLast(({ amount }) => amount !== null);
  const amounts = readings.flatMap(({ at, amount, currency }): BalanceAt[] =>
    amount === null || currency !== latest?.currency ? [] : [{ at, amount }],
  );
  const { perDay, days } = forecast(amounts) ?? {};
  return {
    amount: latest?.amount ?? undefined,
    currency: latest?.currency ?? undefined,
    perDay,
    days,
    isAvailable: latest?.isAvailable !== false,
    readAt: latest?.at,
    error: readings.at(-1)?.error ?? undefined,
  };
}

function findRunOutEffect({ catalog }: Pick<Host, 'catalog'>, digests: ReadonlySet<string>) {
  const affected = catalog.upstreams.filter((upstream) =>
    upstream.apiKeys.some((key) => digests.has(digestKey(upstream, key))),
  );
  const stopped = affected.filter((upstream) => upstream.apiKeys.every((key) => digests.has(digestKey(upstream, key))));
  return {
    upstreams: affected.map(({ name }) => name),
    ...findLosses(
      catalog,
      stopped.map(({ name }) => name),
    ),
  };
}

function findLosses(
  catalog: Host['catalog'],
  upstreams: readonly string[],
): Pick<Balance, 'lostModels' | 'backedModelCount'> {
  const { lostModels, backedModels } = findDependents(catalog, new Set(upstreams));
  return { lostModels: lostModels.map(({ publicName }) => publicName), backedModelCount: backedModels.length };
}

async function readConfigured(host: Host): Promise<Balance[]> {
  const figures = await readConfiguredBalances(host);
  return figures.map(({ upstream, amount, currency, perDay, asOf }) => ({
    ...computeForecast(amount, perDay),
    ...findLosses(host.catalog, [upstream]),
    upstreams: [upstream],
    source: 'own',
    amount,
    currency,
    isAvailable: true,
    readAt: asOf,
    error: undefined,
  }));
}

/** Counts accounts that have paid time now. */
export async function countActivePasses(database: Queries): Promise<number> {
  const [row] = await database.query<{ passes: number }>(
    `select count(distinct p.account_id)::float8 as passes from ${periodsInForceSql} p join account a on a.id = p.account_id
     where p.starts_at <= clock_timestamp() and p.ends_at > clock_timestamp() and a.deleted_at is null and a.blocked_at is null`,
  );
  return row?.passes ?? 0;
}
