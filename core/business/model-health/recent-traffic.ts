import type { Catalog } from '#core/config/catalog/catalog.ts';
import type { Database } from '#core/platform/database/database.ts';
import { ownFaults } from '#core/gateway/facts.ts';
import { timestamp } from '#core/gateway/records/filter.ts';
import { type RecentTraffic, trafficWindow } from './trouble.ts';

interface Row {
  readonly model: string;
  readonly answered: number;
  readonly failed: number;
  readonly timed: number;
  readonly first_token_ms: number | null;
}

/**
 * What the records of the last minutes say of each model, by public name. Counted from records, not from the hourly usage, whose
 * hour shows neither that a fault has begun nor that it is over. Answers from the cache count as answered, and not as fast.
 *
 * @param now epoch ms
 */
export async function readRecentTraffic(
  database: Pick<Database, 'query'>,
  catalog: Pick<Catalog, 'resolve'>,
  now: number,
): Promise<ReadonlyMap<string, RecentTraffic>> {
  const timed = `outcome = 'answered' AND first_content_ms IS NOT NULL AND cache IS DISTINCT FROM 'hit'`;
  const isOwn = `attempts IS NOT NULL AND (${ownFaults.map((fault) => `attempts @> '[{"fault": "${fault}"}]'`).join(' OR ')})`;
  const rows = await database.query<Row>(
    `SELECT model, count(*) FILTER (WHERE outcome = 'answered')::float8 AS answered,
       count(*) FILTER (WHERE outcome IN ('failed', 'interrupted') AND NOT (${isOwn}))::float8 AS failed,
       count(*) FILTER (WHERE ${timed})::float8 AS timed,
       percentile_disc(0.5) WITHIN GROUP (ORDER BY first_content_ms) FILTER (WHERE ${timed})::float8 AS first_token_ms
     FROM request_log WHERE started_at >= ? AND started_at <= ? AND model IS NOT NULL AND is_metered GROUP BY model`,
    [timestamp(now - trafficWindow), timestamp(now)],
  );
  const byModel = new Map<string, RecentTraffic>();
  for (const row of rows) {
    const name = catalog.resolve(row.model)?.publicName;
    if (name !== undefined) byModel.set(name, add(byModel.get(name), row));
  }
  return byModel;
}

/** Requests by alias are added to those by name; of two medians the one of more answers counts. */
function add(sum: RecentTraffic | undefined, row: Row): RecentTraffic {
  const firstTokenMs = row.first_token_ms ?? undefined;
  if (sum === undefined) return { answered: row.answered, failed: row.failed, timed: row.timed, firstTokenMs };
  return {
    answered: sum.answered + row.answered,
    failed: sum.failed + row.failed,
    timed: sum.timed + row.timed,
    firstTokenMs: row.timed > sum.timed ? firstTokenMs : sum.firstTokenMs,
  };
}
