import { Migration } from '@mikro-orm/migrations';

/** Outages confirmed by a probe or by other accounts. Only these are credited without approval. */
export class Migration20261128000040_outage_confirmed extends Migration {
  static readonly since = '0.6.0';

  override up(): void {
    this.addSql('ALTER TABLE outage ADD COLUMN is_confirmed boolean NOT NULL DEFAULT false');
  }

  override down(): void {
    this.addSql('ALTER TABLE outage DROP COLUMN is_confirmed');
  }
}
