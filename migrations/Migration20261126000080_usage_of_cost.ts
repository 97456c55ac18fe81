import { Migration } from '@mikro-orm/migrations';
import { countedDeltas } from './Migration20261126000040_policy_refusals.ts';

const tables = ['usage_delta', 'usage_account', 'usage_hour', 'usage_total'];
const counts = ['cache_read_tokens', 'cache_write_tokens', 'images'];
const sums = counts.map((name) => `coalesce(sum(${name}), 0)`).join(', ');

const billedDeltas = countedDeltas
  .replace('policy_refusals)', `policy_refusals, ${counts.join(', ')})`)
  .replace('FROM fresh', `, ${sums} FROM fresh`);

/**
 * Counts what vendors bill besides input and output tokens: tokens that their caches read and write, and images. Tokens in earlier records
 * are counted too, but their images were not recorded. Deltas that an instance of an earlier version adds to the hours are missing from
 * these counts, but from nothing else.
 */
export class Migration20261126000080_usage_of_cost extends Migration {
  static readonly since = '0.3.0';

  override up(): void {
    this.addSql('ALTER TABLE request_log ADD COLUMN images integer');
    for (const table of tables)
      this.addSql(`
        ALTER TABLE ${table} ADD COLUMN cache_read_tokens bigint NOT NULL DEFAULT 0,
          ADD COLUMN cache_write_tokens bigint NOT NULL DEFAULT 0, ADD COLUMN images integer NOT NULL DEFAULT 0`);
    this.replaceFunction(billedDeltas);
    // Changing `usage_delta` locks out writers until this transaction ends, so no row is missed.
    this.addSql(`
      INSERT INTO usage_delta (hour, account_id, model, route, answered, refused, failed, aborted, interrupted, failovers, cached,
        input_tokens, output_tokens, ${counts.join(', ')})
      SELECT date_bin('1 hour', started_at, timestamptz 'epoch'), account_id, coalesce(alias_of, model), route,
        0, 0, 0, 0, 0, 0, 0, 0, 0, ${sums}
      FROM request_log WHERE cache_read_tokens > 0 OR cache_write_tokens > 0 GROUP BY 1, 2, 3, 4`);
  }

  override down(): void {
    this.replaceFunction(countedDeltas);
    for (const table of tables)
      this.addSql(`
        ALTER TABLE ${table} DROP COLUMN cache_read_tokens, DROP COLUMN cache_write_tokens, DROP COLUMN images`);
    this.addSql('ALTER TABLE request_log DROP COLUMN images');
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
