import { Migration } from '@mikro-orm/migrations';

/** What was decided about money that bought nothing, for its buyer. */
export class Migration20261128000020_flag_outcome extends Migration {
  static readonly since = '0.6.0';

  override up(): void {
    this.addSql(
      `ALTER TABLE order_flag ADD COLUMN outcome text CONSTRAINT order_flag_outcome_check CHECK (outcome IN ('days_given', 'money_back', 'kept'))`,
    );
  }

  override down(): void {
    this.addSql('ALTER TABLE order_flag DROP COLUMN outcome');
  }
}
