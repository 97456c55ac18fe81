import { Migration } from '@mikro-orm/migrations';

export class Migration20261129152030_retirements extends Migration {
  static readonly since = '0.6.0';

  override up(): void {
    this.addSql(`
      CREATE TABLE retirement_route (
        route text PRIMARY KEY,
        checked_at timestamptz NOT NULL,
        listed_at timestamptz,
        missing_since timestamptz,
        ends_on text,
        successor text,
        error text
      )`);
  }

  override down(): void {
    this.addSql('DROP TABLE retirement_route');
  }
}
