import { Migration } from '@mikro-orm/migrations';

const kinds = `'wrong_amount', 'wrong_currency', 'second_payment', 'disputed', 'refund_failed', 'reversed', 'wrong_reference', 'deleted_account', 'refunded_twice', 'not_in_books', 'not_at_provider', 'invalid_qr', 'refund_unconfirmed', 'unusual_qr'`;

/** Flags gifts that were paid while no plugin created codes; their days went to the buyer. */
export class Migration20261129000030_gift_without_code extends Migration {
  static readonly since = '0.6.0';

  override up(): void {
    this.addSql('ALTER TABLE order_flag DROP CONSTRAINT order_flag_kind_check');
    this.addSql(
      `ALTER TABLE order_flag ADD CONSTRAINT order_flag_kind_check CHECK (kind IN (${kinds}, 'gift_without_code'))`,
    );
  }

  override down(): void {
    this.addSql(`DELETE FROM order_flag WHERE kind = 'gift_without_code'`);
    this.addSql('ALTER TABLE order_flag DROP CONSTRAINT order_flag_kind_check');
    this.addSql(`ALTER TABLE order_flag ADD CONSTRAINT order_flag_kind_check CHECK (kind IN (${kinds}))`);
  }
}
