import { Migration } from '@mikro-orm/migrations';

/** Probes that confirm an incident, and outages that an operator declined to credit. */
export class Migration20261127000030_outage_proof extends Migration {
  static readonly since = '0.4.0';

  override up(): void {
    this.addSql('ALTER TABLE incident ADD COLUMN confirmed_at timestamptz'); // when a probe had failed on every route
    this.addSql('ALTER TABLE outage ADD COLUMN declined_at timestamptz');
  }

  override down(): void {
    this.addSql('ALTER TABLE outage DROP COLUMN declined_at');
    this.addSql('ALTER TABLE incident DROP COLUMN confirmed_at');
  }
}
