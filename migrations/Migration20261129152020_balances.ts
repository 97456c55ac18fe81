import { Migration } from '@mikro-orm/migrations';

export class Migration20261129152020_balances extends Migration {
  static readonly since = '0.6.0';

  override up(): void {
    this.addSql(`
      CREATE TABLE balance_reading (
        id uuid PRIMARY KEY,
        digest text NOT NULL,
        read_at timestamptz NOT NULL,
        amount double precision,
        currency text,
        is_available boolean,
        error text
      )`);
    this.addSql('CREATE INDEX balance_reading_of_key ON balance_reading (digest, read_at)');
  }

  override down(): void {
    this.addSql('DROP TABLE balance_reading');
  }
}
