import { Migration } from '@mikro-orm/migrations';

/** When an outage was found. Those found after the first approval are credited without asking. */
export class Migration20261129000050_outage_found extends Migration {
  static readonly since = '0.6.0';

  override up(): void {
    this.addSql('ALTER TABLE outage ADD COLUMN found_at timestamptz');
    // Outages that are already waiting continue to wait: those that needed no approval were credited within a minute.
    this.addSql('UPDATE outage SET found_at = until_at');
    this.addSql(
      'ALTER TABLE outage ALTER COLUMN found_at SET NOT NULL, ALTER COLUMN found_at SET DEFAULT clock_timestamp()',
    );
  }

  override down(): void {
    this.addSql('ALTER TABLE outage DROP COLUMN found_at');
  }
}
