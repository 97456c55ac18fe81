import { Migration } from '@mikro-orm/migrations';

const kinds = `'wrong_amount', 'wrong_currency', 'second_payment', 'disputed', 'refund_failed', 'reversed', 'wrong_reference', 'deleted_account', 'refunded_twice', 'not_in_books', 'not_at_provider', 'invalid_qr'`;

/** Flags orders whose refund the provider has neither confirmed nor rejected for a week. */
export class Migration20261126000003_refund_unconfirmed extends Migration {
  static readonly since = '0.2.0';

  override up(): void {
    this.addSql('ALTER TABLE order_flag DROP CONSTRAINT order_flag_kind_check');
    this.addSql(
      `ALTER TABLE order_flag ADD CONSTRAINT order_flag_kind_check CHECK (kind IN (${kinds}, 'refund_unconfirmed'))`,
    );
  }

  override down(): void {
    this.addSql(`DELETE FROM order_flag WHERE kind = 'refund_unconfirmed'`);
    this.addSql('ALTER TABLE order_flag DROP CONSTRAINT order_flag_kind_check');
    this.addSql(`ALTER TABLE order_flag ADD CONSTRAINT order_flag_kind_check CHECK (kind IN (${kinds}))`);
  }
}
