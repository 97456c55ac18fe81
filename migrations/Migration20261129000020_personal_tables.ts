import { Migration } from '@mikro-orm/migrations';

/** Lists tables with columns about customers, so that they are still known once the capability that uses them is gone. */
export class Migration20261129000020_personal_tables extends Migration {
  static readonly since = '0.6.0';

  override up(): void {
    this.addSql('CREATE TABLE personal_table (name text PRIMARY KEY, description jsonb NOT NULL)');
  }

  override down(): void {
    this.addSql('DROP TABLE personal_table');
  }
}
