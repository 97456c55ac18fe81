import { Migration } from '@mikro-orm/migrations';
import { timedDeltas } from './Migration20261126000030_streaming_speed.ts';

const tables = ['usage_delta', 'usage_account', 'usage_hour', 'usage_total'];

export const countedDeltas = timedDeltas
  .replace('streamed_ms)', 'streamed_ms, policy_refusals)')
  .replace('FROM fresh', ', count(*) FILTER (WHERE is_policy_refusal) FROM fresh');

/**
 * Records requests that vendors refused because of their policies, and counts them by account: vendors ban keys for what end users send.
 * Deltas that an instance of an earlier version adds to the hours are missing from this count, but from nothing else.
 */
export class Migration20261126000040_policy_refusals extends Migration {
  static readonly since = '0.2.0';

  override up(): void {
    this.addSql('ALTER TABLE request_log ADD COLUMN is_policy_refusal boolean');
    for (const table of tables)
      this.addSql(`ALTER TABLE ${table} ADD COLUMN policy_refusals integer NOT NULL DEFAULT 0`);
    this.replaceFunction(countedDeltas);
  }

  override down(): void {
    this.replaceFunction(timedDeltas);
    for (const table of tables) this.addSql(`ALTER TABLE ${table} DROP COLUMN policy_refusals`);
    this.addSql('ALTER TABLE request_log DROP COLUMN is_policy_refusal');
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
