import { Migration } from '@mikro-orm/migrations';

/** Secrets that the gateway generates, shared by all instances on this database. */
export class Migration20261122000004_secret extends Migration {
  static readonly since = '0.1.0';

  override up(): void {
    this.addSql(`
      CREATE TABLE secret (
        name text PRIMARY KEY,
        value text NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now()
      )`);
  }

  override down(): void {
    this.addSql('DROP TABLE secret');
  }
}
