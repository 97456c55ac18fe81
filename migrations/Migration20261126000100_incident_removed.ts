import { Migration } from '@mikro-orm/migrations';

/** Incidents that ended because their model was removed, which does not count as a recovery. */
export class Migration20261126000100_incident_removed extends Migration {
  static readonly since = '0.3.0';

  override up(): void {
    this.addSql('ALTER TABLE incident ADD COLUMN is_removed boolean NOT NULL DEFAULT false');
  }

  override down(): void {
    this.addSql('ALTER TABLE incident DROP COLUMN is_removed');
  }
}
