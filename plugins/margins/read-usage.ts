import { periodsInForceSql } from '#core/business/accounts/periods-in-force.ts';
import { formatTimestamp } from '#core/gateway/records/filter.ts';
import {
  toCounts,
  type CountsRow,
  storedCounts,
  selectSums,
  type UsageCounts,
  type UsageKeys,
} from '#core/gateway/records/usage.ts';
import type { Queries } from '#core/platform/database/database.ts';
import { epoch } from '#core/platform/database/rows.ts';
import type { Timespan } from './exact-money.ts';

/** The plan under which usage occurred: its number of days, or `given` for granted days and for codes that were not bought here. */
export type PlanName = string;

export interface RouteCounts {
  readonly model: string | null;
  readonly route: string | null;
  readonly counts: UsageCounts;
}

/** Usage by one account under one plan. The account is null if there is none or it was removed; the plan is null if there is none. */
export interface AccountCounts extends RouteCounts {
  readonly account: string | null;
  readonly plan: PlanName | null;
}

export interface HourCounts extends RouteCounts {
  readonly hour: number; // epoch ms
}

const columns = `hour, model, route, ${storedCounts.join(', ')}`;
const spanFilter = 'hour >= ? AND hour < ?';

/** Groups each table separately: for a union, PostgreSQL would expect as many groups as rows and sort them on disk. */
const selectSumsBy = (keys: string, join = '') =>
  ['usage_hour', 'usage_delta']
    .map((table) => `SELECT ${keys}, ${selectSums} FROM ${table} AS used ${join} WHERE ${spanFilter} GROUP BY ${keys}`)
    .join(' UNION ALL ');

/** One statement, so that all results cover the same records. */
const statement = `
  WITH in_force AS (
    SELECT account_id, CASE WHEN order_id IS NULL THEN 'given' ELSE days::text END AS plan,
      date_bin('1 hour', starts_at, timestamptz 'epoch') AS first_hour, ends_at
    FROM ${periodsInForceSql} p WHERE ends_at > ?::timestamptz AND starts_at < ?::timestamptz
  ), periods AS MATERIALIZED (
    -- The hour in which one period follows another belongs to the earlier one.
    SELECT row_number() OVER () AS number, account_id, plan, ends_at, greatest(first_hour,
      date_bin('1 hour', max(ends_at) OVER earlier - interval '1 microsecond', timestamptz 'epoch') + interval '1 hour') AS first_hour
    FROM in_force WINDOW earlier AS (PARTITION BY account_id ORDER BY first_hour, ends_at ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
  )
  SELECT 'plan' AS of, NULL::float8 AS hour, account_id AS account, plan, model, route, ${selectSums}
  FROM (${selectSumsBy(
    'number, model, route',
    'JOIN periods ON periods.account_id = used.account_id AND hour >= first_hour AND hour < ends_at',
  )}) AS parts
  JOIN periods USING (number) GROUP BY account_id, plan, model, route
  UNION ALL
  SELECT 'account', NULL, account_id, NULL, model, route, ${selectSums}
  FROM (${selectSumsBy('account_id, model, route')}) AS parts GROUP BY account_id, model, route
  UNION ALL
  SELECT 'hour', ${epoch('hour')}, NULL, NULL, model, route, ${selectSums}
  FROM (SELECT ${columns} FROM usage_total WHERE ${spanFilter} UNION ALL SELECT ${columns} FROM usage_delta WHERE ${spanFilter}) AS parts
  GROUP BY hour, model, route`;

const spansInStatement = 7;

/**
 * Reads the usage of a span twice: by account, plan, model and route, and by hour, model and route. A plan includes the hours that begin in
 * its period, and also the hour in which the period begins unless that belongs to another plan.
 *
 * @param span starts and ends at a full hour, or ends after the last request
 */
export async function readUsageCounts(
  database: Queries,
  { from, until }: Timespan,
): Promise<{ readonly accounts: AccountCounts[]; readonly hours: HourCounts[] }> {
  const bounds = [formatTimestamp(from), formatTimestamp(until)];
  const rows = await database.query<Row>(statement, Array.from({ length: spansInStatement }, () => bounds).flat());
  const sums: Record<Row['of'], Sum[]> = { plan: [], account: [], hour: [] };
  for (const row of rows) {
    const { of, hour, account, plan, model, route } = row;
    sums[of].push({ hour, account, plan, model, route, counts: toCounts(row) });
  }
  const withoutPlan = subtract(sums.account, sums.plan, ({ account, model, route }) => [account, model, route]);
  const removed = subtract(sums.hour, sums.account, ({ model, route }) => [model, route]);
  const accounts = [
    ...sums.plan,
    ...withoutPlan.map((row) => ({ ...row, plan: null })),
    ...removed.map((row) => ({ ...row, account: null, plan: null })),
  ];
  return { accounts, hours: sums.hour };
}

interface Sum extends AccountCounts, HourCounts {}

interface Row extends CountsRow, Pick<UsageKeys, 'hour' | 'account' | 'model' | 'route'> {
  readonly of: 'plan' | 'account' | 'hour';
  readonly plan: PlanName | null;
}

/** What remains is usage outside of any plan, or of removed accounts, which only the totals still include. */
function subtract(whole: readonly Sum[], parts: readonly Sum[], keyOf: (row: Sum) => unknown[]): Sum[] {
  const remaining = new Map<string, Sum>();
  const add = (row: Sum, sign: 1 | -1) => {
    const key = JSON.stringify(keyOf(row));
    const previous = remaining.get(key)?.counts ?? noUsage;
    remaining.set(key, { ...row, counts: addCounts(previous, row.counts, sign) });
  };
  for (const row of whole) add(row, 1);
  for (const row of parts) add(row, -1);
  return [...remaining.values()].filter(({ counts }) => Object.values(counts).some((count) => count !== 0));
}

const noCounts = Object.fromEntries(storedCounts.map((name) => [name, 0])) as Record<(typeof storedCounts)[number], 0>;

export const noUsage: UsageCounts = toCounts(noCounts);

export function addCounts(first: UsageCounts, second: UsageCounts, sign: 1 | -1 = 1): UsageCounts {
  const sum: Record<string, number> = {};
  for (const name of countNames) sum[name] = first[name] + sign * second[name];
  return sum as unknown as UsageCounts;
}

const countNames = Object.keys(noUsage) as (keyof UsageCounts)[];
