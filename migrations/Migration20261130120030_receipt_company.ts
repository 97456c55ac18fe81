import { Migration } from '@mikro-orm/migrations';

/** The company that a buyer named at checkout, until the receipt names it. */
export class Migration20261130120030_receipt_company extends Migration {
  static readonly since = '0.6.0';

  override up(): void {
    this.addSql(`
      CREATE TABLE receipt_company (
        order_id uuid PRIMARY KEY REFERENCES plan_order (id) ON UPDATE CASCADE ON DELETE CASCADE,
        company text NOT NULL,
        npwp text
      )`);
  }

  override down(): void {
    this.addSql('DROP TABLE receipt_company');
  }
}
