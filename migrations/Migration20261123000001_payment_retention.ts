import { Migration } from '@mikro-orm/migrations';

/** Indexes that find payment notifications by order and, once processed, by age. */
export class Migration20261123000001_payment_retention extends Migration {
  static readonly since = '0.1.0';

  override up(): void {
    this.addSql('CREATE INDEX payment_notification_reference ON payment_notification (reference, received_at)');
    this.addSql(
      'CREATE INDEX payment_notification_processed ON payment_notification (received_at) WHERE next_try_at IS NULL',
    );
  }

  override down(): void {
    this.addSql('DROP INDEX payment_notification_reference, payment_notification_processed');
  }
}
