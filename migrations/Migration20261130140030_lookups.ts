import { Migration } from '@mikro-orm/migrations';

/** Indexes for an order's period and an attempt's payments. Finding them used to require reading all periods and all payments. */
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
