import type { Catalog } from '#core/config/catalog/catalog.ts';
import { ownFaults } from '#core/gateway/facts.ts';
import { formatTimestamp } from '#core/gateway/records/filter.ts';
import type { Queries } from '#core/platform/database/database.ts';
import { toRecord } from '#core/platform/database/rows.ts';
import { findLatest, type RecentTraffic, trafficWindowMs } from './trouble.ts';

/**
 * Reads each model's traffic from the records of the last minutes, by public name. Hourly usage would show neither the start nor the end of
 * a fault. Responses from the cache count as answered, but do not show that the model responds.
 *
 * @param now epoch ms
 */
export async function readRecentTraffic(
  database: Queries,
  catalog: Pick<Catalog, 'resolve'>,
  now: number,
): Promise<ReadonlyMap<string, RecentTraffic>> {
  const isOwnFault = `attempts IS NOT NULL AND (${ownFaults.map((fault) => `attempts @> '[{"fault": "${fault}"}]'`).join(' OR ')})`;
  const rows = await database.query<{ readonly model: string } & RecentTraffic>(
    `WITH recent AS MATERIALIZED (
       SELECT coalesce(alias_of, model) AS model, account_id, first_content_ms, outcome = 'answered' AS is_answered,
         outcome = 'answered' AND first_content_ms IS NOT NULL AND cache IS DISTINCT FROM 'hit' AS is_served,
         outcome IN ('failed', 'interrupted') AND NOT (${isOwnFault}) AS is_failed,
         started_at + coalesce(first_content_ms, duration_ms, 0) * interval '1 millisecond' AS at
       FROM request_log WHERE started_at >= ? AND started_at <= ? AND model IS NOT NULL AND is_metered
     ), latest AS (
       SELECT model, max(at) FILTER (WHERE is_served) AS served, max(at) FILTER (WHERE is_failed) AS failed
       FROM recent GROUP BY model
     )
     SELECT recent.model, count(*) FILTER (WHERE is_answered)::float8 AS answered,
       count(*) FILTER (WHERE is_failed)::float8 AS failed, count(*) FILTER (WHERE is_served)::float8 AS timed,
       percentile_disc(0.5) WITHIN GROUP (ORDER BY first_content_ms) FILTER (WHERE is_served)::float8 AS "firstTokenMs",
       count(DISTINCT account_id) FILTER (WHERE is_failed)::float8 AS "failedAccounts",
       count(*) FILTER (WHERE is_failed AND (served IS NULL OR at > served))::float8 AS "failedInRow",
       count(*) FILTER (WHERE is_served AND (failed IS NULL OR at > failed))::float8 AS "servedInRow",
       (extract(epoch FROM min(latest.failed)) * 1000)::float8 AS "lastFailedAt",
       (extract(epoch FROM min(latest.served)) * 1000)::float8 AS "lastServedAt"
     FROM recent JOIN latest USING (model) GROUP BY recent.model`,
    [formatTimestamp(now - trafficWindowMs), formatTimestamp(now)],
  );
  const byModel = new Map<string, RecentTraffic>();
  for (const row of rows) {
    const { model, ...traffic } = toRecord(row);
    // A renamed model has traffic under both names.
    const name = catalog.resolve(model)?.publicName;
    if (name !== undefined) byModel.set(name, addTraffic(byModel.get(name), traffic));
  }
  return byModel;
}

function addTraffic(sum: RecentTraffic | undefined, added: RecentTraffic): RecentTraffic {
  if (sum === undefined) return added;
  const lastFailedAt = findLatest(sum.lastFailedAt, added.lastFailedAt);
  const lastServedAt = findLatest(sum.lastServedAt, added.lastServedAt);
  const isFailing = (traffic: RecentTraffic) => (traffic.lastFailedAt ?? 0) > (lastServedAt ?? 0);
  const isServed = (traffic: RecentTraffic) => (traffic.lastServedAt ?? 0) > (lastFailedAt ?? 0);
  const summands = [sum, added];
  return {
    answered: sum.answered + added.answered,
    failed: sum.failed + added.failed,
    timed: sum.timed + added.timed,
    firstTokenMs: added.timed > sum.timed ? added.firstTokenMs : sum.firstTokenMs,
    failedAccounts: Math.max(sum.failedAccounts, added.failedAccounts),
    failedInRow: summands.filter(isFailing).reduce((count, { failedInRow }) => count + failedInRow, 0),
    servedInRow: summands.filter(isServed).reduce((count, { servedInRow }) => count + servedInRow, 0),
    lastFailedAt,
    lastServedAt,
  };
}
