import { Migration } from '@mikro-orm/migrations';

const former = `'grant', 'order', 'voucher', 'refund', 'revoke', 'shift', 'outage'`;

/** Gifts: orders whose days go to the account that redeems a code. A gift's voucher belongs to its order, not to a batch. */
export class Migration20261127000020_gifts extends Migration {
  static readonly since = '0.4.0';

  override up(): void {
    this.addSql('ALTER TABLE plan_order ADD COLUMN is_gift boolean NOT NULL DEFAULT false');
    this.addSql(`
      ALTER TABLE voucher
        ALTER COLUMN batch_id DROP NOT NULL,
        ADD COLUMN order_id uuid UNIQUE REFERENCES plan_order (id),
        ADD COLUMN expires_at timestamptz,
        ADD CONSTRAINT voucher_of_batch_or_order CHECK ((batch_id IS NULL) = (order_id IS NOT NULL)),
        ADD CONSTRAINT voucher_of_order_expires CHECK ((order_id IS NULL) = (expires_at IS NULL))`);
    this.addSql(`
      CREATE INDEX voucher_open_gift ON voucher (expires_at)
        WHERE order_id IS NOT NULL AND redeemed_at IS NULL AND revoked_at IS NULL`);
    this.addSql(`
      ALTER TABLE plan_period
        DROP CONSTRAINT plan_period_reason_check,
        DROP CONSTRAINT plan_period_replaces,
        DROP CONSTRAINT plan_period_of_order,
        DROP CONSTRAINT plan_period_of_voucher,
        ADD CONSTRAINT plan_period_reason_check CHECK (reason IN (${former}, 'gift')),
        ADD CONSTRAINT plan_period_replaces CHECK ((reason IN ('grant', 'order', 'voucher', 'gift')) = (replaces IS NULL)),
        ADD CONSTRAINT plan_period_of_order CHECK (order_id IS NOT NULL OR NOT (reason IN ('order', 'gift'))),
        ADD CONSTRAINT plan_period_of_voucher CHECK ((reason IN ('voucher', 'gift')) = (voucher_id IS NOT NULL))`);
    this.addSql('DROP INDEX plan_period_activates_once');
    this.addSql(
      `CREATE UNIQUE INDEX plan_period_activates_once ON plan_period (order_id) WHERE reason IN ('order', 'gift')`,
    );
  }

  // Days from gifts stay in the ledger, which must not change. Reverting is therefore possible only until the first gift is paid.
  override down(): void {
    this.addSql('DROP INDEX plan_period_activates_once');
    this.addSql(`CREATE UNIQUE INDEX plan_period_activates_once ON plan_period (order_id) WHERE reason = 'order'`);
    this.addSql(`
      ALTER TABLE plan_period
        DROP CONSTRAINT plan_period_reason_check,
        DROP CONSTRAINT plan_period_replaces,
        DROP CONSTRAINT plan_period_of_order,
        DROP CONSTRAINT plan_period_of_voucher,
        ADD CONSTRAINT plan_period_reason_check CHECK (reason IN (${former})),
        ADD CONSTRAINT plan_period_replaces CHECK ((reason IN ('grant', 'order', 'voucher')) = (replaces IS NULL)),
        ADD CONSTRAINT plan_period_of_order CHECK (reason <> 'order' OR order_id IS NOT NULL),
        ADD CONSTRAINT plan_period_of_voucher CHECK ((reason = 'voucher') = (voucher_id IS NOT NULL))`);
    this.addSql(`
      ALTER TABLE voucher
        DROP CONSTRAINT voucher_of_batch_or_order,
        DROP COLUMN order_id,
        DROP COLUMN expires_at,
        ALTER COLUMN batch_id SET NOT NULL`);
    this.addSql('ALTER TABLE plan_order DROP COLUMN is_gift');
  }
}
