import { Migration } from '@mikro-orm/migrations';

/** For the period of an order and the payments of an attempt, which were found by reading all periods and all payments. */
export class Migration20261130140030_lookups extends Migration {
  static readonly since = '0.6.0';

  override up(): void {
    this.addSql('CREATE INDEX plan_period_order ON plan_period (order_id) WHERE order_id IS NOT NULL');
    this.addSql('CREATE INDEX payment_reference ON payment (reference)');
  }

  override down(): void {
    this.addSql('DROP INDEX payment_reference');
    this.addSql('DROP INDEX plan_period_order');
  }
}
