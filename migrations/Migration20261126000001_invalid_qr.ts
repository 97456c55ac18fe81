import { Migration } from '@mikro-orm/migrations';

const kinds = `'wrong_amount', 'wrong_currency', 'second_payment', 'disputed', 'refund_failed', 'reversed', 'wrong_reference', 'deleted_account', 'refunded_twice', 'not_in_books', 'not_at_provider'`;

/** Flags orders whose QR code was not shown because it was for a different amount. */
export class Migration20261126000001_invalid_qr extends Migration {
  static readonly since = '0.2.0';

  override up(): void {
    this.addSql('ALTER TABLE order_flag DROP CONSTRAINT order_flag_kind_check');
    this.addSql(`ALTER TABLE order_flag ADD CONSTRAINT order_flag_kind_check CHECK (kind IN (${kinds}, 'invalid_qr'))`);
  }

  override down(): void {
    this.addSql(`DELETE FROM order_flag WHERE kind = 'invalid_qr'`);
    this.addSql('ALTER TABLE order_flag DROP CONSTRAINT order_flag_kind_check');
    this.addSql(`ALTER TABLE order_flag ADD CONSTRAINT order_flag_kind_check CHECK (kind IN (${kinds}))`);
  }
}
