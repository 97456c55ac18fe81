import { Migration } from '@mikro-orm/migrations';

export class Migration20261130120010_order_lines extends Migration {
  static readonly since = '0.6.0';

  override up(): void {
    this.addSql(
      'CREATE TABLE order_lines (order_id uuid PRIMARY KEY REFERENCES plan_order (id) ON UPDATE CASCADE ON DELETE CASCADE, lines jsonb NOT NULL)',
    );
  }

  override down(): void {
    this.addSql('DROP TABLE order_lines');
  }
}
