import { Migration } from '@mikro-orm/migrations';

/** Configurations that serve a share of the accounts, and which requests they served. */
export class Migration20261127000010_canary extends Migration {
  static readonly since = '0.4.0';

  override up(): void {
    this.addSql(`
      CREATE TABLE configuration_canary (
        id integer PRIMARY KEY,
        base_digest text NOT NULL,
        text text NOT NULL, -- variables are not filled in, and secrets masked
        digest text NOT NULL,
        salt text NOT NULL,
        share double precision NOT NULL,
        operator text NOT NULL,
        note text,
        started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        until timestamptz NOT NULL,
        looks integer NOT NULL DEFAULT 0,
        late_looks integer NOT NULL DEFAULT 0,
        next_look integer NOT NULL,
        judge_after timestamptz NOT NULL DEFAULT clock_timestamp(),
        counts jsonb,
        verdict text CHECK (verdict IN ('too_few', 'undecided', 'no_worse', 'worse')),
        ended_at timestamptz,
        outcome text CHECK (outcome IN ('full', 'worse', 'ended')),
        reason text
      )`);
    this.addSql(
      'CREATE UNIQUE INDEX configuration_canary_running ON configuration_canary ((true)) WHERE ended_at IS NULL',
    );
    this.addSql('ALTER TABLE configuration_rollback ADD COLUMN canary integer');
    this.addSql('ALTER TABLE request_log ADD COLUMN canary integer');
  }

  override down(): void {
    this.addSql('ALTER TABLE request_log DROP COLUMN canary');
    this.addSql('ALTER TABLE configuration_rollback DROP COLUMN canary');
    this.addSql('DROP TABLE configuration_canary');
  }
}
