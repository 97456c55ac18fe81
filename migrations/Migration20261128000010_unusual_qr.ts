import { Migration } from '@mikro-orm/migrations';

const kinds = `'wrong_amount', 'wrong_currency', 'second_payment', 'disputed', 'refund_failed', 'reversed', 'wrong_reference', 'deleted_account', 'refunded_twice', 'not_in_books', 'not_at_provider', 'invalid_qr', 'refund_unconfirmed'`;

/** Flags orders whose QR code was shown although it does not conform to QRIS. */
export class Migration20261128000010_unusual_qr extends Migration {
  static readonly since = '0.6.0';

  override up(): void {
    this.addSql('ALTER TABLE order_flag DROP CONSTRAINT order_flag_kind_check');
    this.addSql(`ALTER TABLE order_flag ADD CONSTRAINT order_flag_kind_check CHECK (kind IN (${kinds}, 'unusual_qr'))`);
  }

  override down(): void {
    this.addSql(`DELETE FROM order_flag WHERE kind = 'unusual_qr'`);
    this.addSql('ALTER TABLE order_flag DROP CONSTRAINT order_flag_kind_check');
    this.addSql(`ALTER TABLE order_flag ADD CONSTRAINT order_flag_kind_check CHECK (kind IN (${kinds}))`);
  }
}
