import { Migration } from '@mikro-orm/migrations';

/** When a route last responded since an incident began. It ends the incident even after it has left the recent traffic. */
export class Migration20261128000030_incident_served extends Migration {
  static readonly since = '0.6.0';

  override up(): void {
    this.addSql('ALTER TABLE incident ADD COLUMN served_at timestamptz');
  }

  override down(): void {
    this.addSql('ALTER TABLE incident DROP COLUMN served_at');
  }
}
