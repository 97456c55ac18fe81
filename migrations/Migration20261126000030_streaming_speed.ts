import { Migration } from '@mikro-orm/migrations';
import { deltasOf } from './Migration20261122000005_usage.ts';

const tables = ['usage_delta', 'usage_total']; // for whole hours only the totals, because nothing else is read

/**
 * Streamed answers long enough to measure a speed: at least 50 tokens, and more than half a second from first content to end, as for the
 * throughput of routes.
 */
const isTimed = `is_stream AND outcome = 'answered' AND cache IS DISTINCT FROM 'hit' AND output_tokens >= 50
    AND duration_ms - first_content_ms >= 500`;

export const timedDeltas = `
  INSERT INTO usage_delta (hour, account_id, model, route, first_content_bucket, answered, refused, failed, aborted,
    interrupted, failovers, cached, input_tokens, output_tokens, streamed_tokens, streamed_ms)
  SELECT date_bin('1 hour', started_at, timestamptz 'epoch'), account_id, coalesce(alias_of, model), route,
    -- Bucket n ends at 10 ms times 1.1 to the power of n; the last one begins at an hour.
    CASE WHEN first_content_ms IS NOT NULL
      THEN least(greatest(ceil(ln(greatest(first_content_ms, 1) / 10.0::float8) / ln(1.1::float8)), 0), 135)::smallint END,
    count(*) FILTER (WHERE outcome = 'answered'), count(*) FILTER (WHERE outcome = 'refused'),
    count(*) FILTER (WHERE outcome = 'failed'), count(*) FILTER (WHERE outcome = 'aborted'),
    count(*) FILTER (WHERE outcome = 'interrupted'),
    count(*) FILTER (WHERE has_failover), count(*) FILTER (WHERE cache = 'hit'),
    coalesce(sum(input_tokens), 0), coalesce(sum(output_tokens), 0),
    coalesce(sum(output_tokens) FILTER (WHERE ${isTimed}), 0),
    coalesce(sum(duration_ms - first_content_ms) FILTER (WHERE ${isTimed}), 0)
  FROM fresh GROUP BY 1, 2, 3, 4, 5`;

/**
 * Adds the tokens of streams and the time they took to usage, for the tokens per second of models in real requests. Deltas that an instance
 * of an earlier version adds to the hours are missing from the speed, but from nothing else.
 */
export class Migration20261126000030_streaming_speed extends Migration {
  static readonly since = '0.2.0';

  override up(): void {
    for (const table of tables)
      this.addSql(`
        ALTER TABLE ${table} ADD COLUMN streamed_tokens bigint NOT NULL DEFAULT 0,
          ADD COLUMN streamed_ms bigint NOT NULL DEFAULT 0`);
    this.replaceFunction(timedDeltas);
  }

  override down(): void {
    this.replaceFunction(deltasOf('fresh'));
    for (const table of tables)
      this.addSql(`ALTER TABLE ${table} DROP COLUMN streamed_tokens, DROP COLUMN streamed_ms`);
  }

  replaceFunction(statement: string): void {
    this.addSql(`
      CREATE OR REPLACE FUNCTION append_usage() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        ${statement};
        RETURN NULL;
      END $$`);
  }
}
