import { randomUUID } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Route } from '#core/config/catalog/catalog.ts';
import type { Queries, Transactions } from '#core/platform/database/database.ts';
import {
  earlierClockSql,
  epochs,
  type RecordOf,
  type Row,
  selectColumns,
  toRecord,
} from '#core/platform/database/rows.ts';
import type { CheckName, Reason, CheckVerdict } from './checks/check.ts';
import type { ProbeResult } from './entities.ts';
import type { Samples } from './fingerprint.ts';

const maxCheckMs = 20 * 60_000; // an older unfinished check belongs to a killed process
const budgetPeriodMs = 24 * 3_600_000;
const clockToleranceMs = 60_000;
const retentionDays = 60; // baselines never expire

const measurementColumns = ['detail', 'tokens', 'first_content_ms', 'tokens_per_second', 'score'] as const;
type ResultRow = Row<typeof ProbeResult, 'route' | 'started_at' | (typeof measurementColumns)[number]> & {
  readonly check: CheckName;
  readonly state: CheckVerdict['state'];
  readonly reason: Reason | null;
};

export type LastResult = RecordOf<ResultRow>;

export interface Measurements {
  readonly tokens: number;
  readonly firstContentMs?: number | undefined;
  readonly tokensPerSecond?: number | undefined;
  readonly score?: number | undefined;
  readonly samples?: Samples | undefined;
  readonly isBaseline?: boolean;
}

type Budget = number | undefined; // tokens per 24 hours for one upstream; undefined for checks that an operator started

export interface CheckLimits {
  readonly budget: Budget;
  /** Last start of the check that the caller knows of, epoch ms. Undefined for checks that an operator started. */
  readonly lastTryAt?: number | undefined;
}

/**
 * Reserves the maximum tokens that the check can use. Only one of several processes can start it, unless an operator does.
 *
 * @returns the check's id; undefined if another process is running it; `over_budget` if too few tokens are left
 */
export function startCheck(
  database: Queries & Transactions,
  route: Route,
  check: CheckName,
  tokens: number,
  { budget, lastTryAt }: CheckLimits,
  now: number,
): Promise<string | 'over_budget' | undefined> {
  return database.fork().transactional(async (transaction) => {
    await lockUpstream(transaction, route.upstream.name);
    if (lastTryAt !== undefined) {
      const [competingCheck] = await transaction.execute<unknown[]>(
        `select 1 from probes_result where route = ? and check_name = ?
           and (started_at > ? or (state = 'running' and started_at > ?))`,
        [route.id, check, new Date(lastTryAt), new Date(now - maxCheckMs)],
      );
      if (competingCheck !== undefined) return undefined;
    }
    if (!(await fitsBudget(transaction, route.upstream.name, tokens, budget, now))) return 'over_budget';
    const id = randomUUID();
    await transaction.execute(
      `insert into probes_result (id, route, upstream, check_name, started_at, state, tokens) values (?, ?, ?, ?, ?, 'running', ?)`,
      [id, route.id, route.upstream.name, check, new Date(now), tokens],
    );
    return id;
  });
}

export function reserveTokens(
  database: Queries & Transactions,
  { upstream }: Route,
  id: string,
  tokens: number,
  budget: Budget,
  now: number,
): Promise<boolean> {
  return database.fork().transactional(async (transaction) => {
    await lockUpstream(transaction, upstream.name);
    if (!(await fitsBudget(transaction, upstream.name, tokens, budget, now))) return false;
    await transaction.execute('update probes_result set tokens = tokens + ? where id = ?', [tokens, id]);
    return true;
  });
}

async function lockUpstream(transaction: EntityManager, upstream: string): Promise<void> {
  await transaction.execute('select pg_advisory_xact_lock(hashtextextended(?, 0))', [`probes ${upstream}`]);
}

async function fitsBudget(
  transaction: EntityManager,
  upstream: string,
  tokens: number,
  budget: Budget,
  now: number,
): Promise<boolean> {
  if (budget === undefined) return true;
  const [spent] = await transaction.execute<{ tokens: string }[]>(
    'select coalesce(sum(tokens), 0) as tokens from probes_result where upstream = ? and started_at > ?',
    [upstream, new Date(now - budgetPeriodMs)],
  );
  return Number(spent?.tokens ?? 0) + tokens <= budget;
}

/** Also releases the reserved tokens that the check did not use. */
export async function finishCheck(
  database: Queries & Transactions,
  id: string,
  verdict: CheckVerdict,
  measurements: Measurements,
): Promise<void> {
  const { tokens, firstContentMs, tokensPerSecond, score, samples, isBaseline = false } = measurements;
  const { state, detail } = verdict;
  await database.query(
    `update probes_result set state = ?, reason = ?, detail = ?, tokens = ?, first_content_ms = ?, tokens_per_second = ?, score = ?,
       samples = ?::jsonb, is_baseline = ? where id = ?`,
    [
      state,
      verdict.state === 'ok' ? null : verdict.reason,
      detail ?? null,
      tokens,
      firstContentMs === undefined ? null : Math.round(firstContentMs),
      tokensPerSecond ?? null,
      score ?? null,
      samples === undefined ? null : JSON.stringify(samples),
      isBaseline,
      id,
    ],
  );
}

/** An inconclusive result counts only if there is no other. */
export async function readLastResults(database: Queries, routes: readonly string[]): Promise<LastResult[]> {
  const rows = await database.query<ResultRow>(
    `select distinct on (route, check_name) route, check_name as "check", ${epochs('started_at')}, state, reason, ${selectColumns(measurementColumns)}
     from probes_result where route in (?) and state <> 'running'
     order by route, check_name, state = 'unknown', probes_result.started_at desc`,
    [routes],
  );
  return rows.map(toRecord);
}

interface LastTry {
  readonly at: number; // epoch ms of its start
  readonly state: LastResult['state'] | 'running';
}

/** Keys have the form `route check`. */
export async function readLastTries(
  database: Queries,
  routes: readonly string[],
): Promise<ReadonlyMap<string, LastTry>> {
  const rows = await database.query<{ route: string; check_name: string; started_at: string; state: LastTry['state'] }>(
    `select distinct on (route, check_name) route, check_name, started_at, state from probes_result where route in (?)
     order by route, check_name, started_at desc`,
    [routes],
  );
  return new Map(
    rows.map(({ route, check_name: check, started_at: at, state }) => [
      `${route} ${check}`,
      { at: Date.parse(at), state },
    ]),
  );
}

export async function readBaseline(database: Queries, route: string): Promise<Samples | undefined> {
  const [row] = await database.query<{ samples: Samples }>(
    `select samples from probes_result where route = ? and check_name = 'fingerprint' and is_baseline order by started_at desc limit 1`,
    [route],
  );
  return row?.samples;
}

export async function readSpending(database: Queries, now: number): Promise<ReadonlyMap<string, number>> {
  const rows = await database.query<{ upstream: string; tokens: string }>(
    'select upstream, sum(tokens) as tokens from probes_result where started_at > ? group by upstream',
    [new Date(now - budgetPeriodMs)],
  );
  return new Map(rows.map(({ upstream, tokens }) => [upstream, Number(tokens)]));
}

/**
 * Results lie in the future after a clock was set back. Until that time, none of their checks would be due, they would count as the latest,
 * and their tokens would count against the budget until a day later.
 */
export async function redateFutureResults(database: Queries, now: number): Promise<void> {
  await database.query('update probes_result set started_at = ? where started_at > ?', [
    new Date(now),
    new Date(now + clockToleranceMs),
  ]);
}

export async function removeOldResults(database: Queries, now: number): Promise<void> {
  await database.query(
    `delete from probes_result where started_at < ${earlierClockSql} - make_interval(days => ?) and not is_baseline`,
    [new Date(now), retentionDays],
  );
}
