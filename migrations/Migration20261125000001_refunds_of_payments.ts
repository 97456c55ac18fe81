import { Migration } from '@mikro-orm/migrations';

/**
 * Refunds belong to payments and have states of their own. Payments and refunds keep what the provider's books say about them. A flag may
 * be about money that belongs to no order.
 */
export class Migration20261125000001_refunds_of_payments extends Migration {
  static readonly since = '0.2.0';

  override up(): void {
    this.#payments();
    this.#refunds();
    this.#flags();
  }

  #payments(): void {
    this.addSql(`
      ALTER TABLE payment
        ADD COLUMN fee bigint, -- of the provider, where it is known
        ADD COLUMN reconciled_at timestamptz, -- found in the provider's books
        DROP CONSTRAINT payment_outcome_check,
        ADD CONSTRAINT payment_outcome_check
          CHECK (outcome IN ('activated', 'wrong_amount', 'wrong_currency', 'second', 'returned')),
        ADD CONSTRAINT payment_fee_check CHECK (fee >= 0)`);
  }

  #refunds(): void {
    this.addSql(`
      ALTER TABLE refund
        DROP CONSTRAINT refund_state_check,
        ADD COLUMN days text NOT NULL DEFAULT 'unused', -- taken back, of what the payment gave
        ADD COLUMN provider_refund_id text,
        ADD COLUMN reconciled_at timestamptz`);
    // A refund whose `raw` has a response was sent to the provider.
    this.addSql(`UPDATE refund SET state = CASE WHEN raw IS NULL THEN 'asked' ELSE 'sent' END WHERE state = 'pending'`);
    this.addSql(`
      UPDATE refund r SET payment_id = (
        SELECT p.id FROM payment p WHERE p.order_id = r.order_id ORDER BY p.outcome = 'activated' DESC, p.id LIMIT 1)
      WHERE payment_id IS NULL`);
    this.addSql(`
      ALTER TABLE refund
        ALTER COLUMN payment_id SET NOT NULL,
        ADD CONSTRAINT refund_state_check CHECK (state IN ('asked', 'sent', 'done', 'failed')),
        ADD CONSTRAINT refund_days_check CHECK (days IN ('whole', 'unused', 'none'))`);
    this.addSql('CREATE UNIQUE INDEX refund_stated_once ON refund (payment_id, provider_refund_id)');
    this.addSql("CREATE INDEX refund_due ON refund (next_check_at) WHERE state IN ('asked', 'sent')");
  }

  #flags(): void {
    this.addSql(`
      ALTER TABLE order_flag
        ALTER COLUMN order_id DROP NOT NULL,
        DROP CONSTRAINT order_flag_kind_check,
        ADD CONSTRAINT order_flag_kind_check CHECK (kind IN (
          'wrong_amount', 'wrong_currency', 'second_payment', 'disputed', 'refund_failed', 'reversed', 'wrong_reference',
          'deleted_account', 'refunded_twice', 'not_in_books', 'not_at_provider'))`);
    this.addSql('CREATE UNIQUE INDEX order_flag_of_no_order ON order_flag (kind, subject) WHERE order_id IS NULL');
  }

  override down(): void {
    this.addSql('DROP INDEX order_flag_of_no_order, refund_due, refund_stated_once');
    this.addSql(
      "DELETE FROM order_flag WHERE order_id IS NULL OR kind IN ('refunded_twice', 'not_in_books', 'not_at_provider')",
    );
    this.addSql(`
      ALTER TABLE order_flag
        ALTER COLUMN order_id SET NOT NULL,
        DROP CONSTRAINT order_flag_kind_check,
        ADD CONSTRAINT order_flag_kind_check CHECK (kind IN (
          'wrong_amount', 'wrong_currency', 'second_payment', 'disputed', 'refund_failed', 'reversed', 'wrong_reference',
          'deleted_account'))`);
    this.addSql('ALTER TABLE refund DROP CONSTRAINT refund_state_check, ALTER COLUMN payment_id DROP NOT NULL');
    this.addSql("UPDATE refund SET state = 'pending' WHERE state IN ('asked', 'sent')");
    this.addSql(`
      ALTER TABLE refund
        DROP COLUMN days, DROP COLUMN provider_refund_id, DROP COLUMN reconciled_at,
        ADD CONSTRAINT refund_state_check CHECK (state IN ('pending', 'done', 'failed'))`);
    this.addSql("UPDATE payment SET outcome = 'second' WHERE outcome = 'returned'");
    this.addSql(`
      ALTER TABLE payment
        DROP COLUMN fee, DROP COLUMN reconciled_at,
        DROP CONSTRAINT payment_outcome_check,
        ADD CONSTRAINT payment_outcome_check
          CHECK (outcome IN ('activated', 'wrong_amount', 'wrong_currency', 'second'))`);
  }
}
