import { Migration } from '@mikro-orm/migrations';

/** Vouchers: codes that add days to the account that redeems them. Only a digest of each code is stored. */
export class Migration20261126000050_vouchers extends Migration {
  static readonly since = '0.2.0';

  override up(): void {
    this.addSql(`
      CREATE TABLE voucher_batch (
        id uuid PRIMARY KEY,
        days integer NOT NULL,
        label text,
        note text NOT NULL,
        source text NOT NULL,
        is_for_new boolean NOT NULL,
        expires_at timestamptz NOT NULL,
        created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        CONSTRAINT voucher_batch_days_check CHECK (days > 0),
        CONSTRAINT voucher_batch_source_check CHECK (source IN ('sold', 'given'))
      )`);
    this.addSql(`
      CREATE TABLE voucher (
        id uuid PRIMARY KEY,
        batch_id uuid NOT NULL REFERENCES voucher_batch (id),
        sha256 bytea NOT NULL UNIQUE,
        hint text NOT NULL,
        account_id uuid REFERENCES account (id),
        redeemed_at timestamptz,
        revoked_at timestamptz,
        CONSTRAINT voucher_sha256_check CHECK (length(sha256) = 32),
        CONSTRAINT voucher_redeemed CHECK ((account_id IS NULL) = (redeemed_at IS NULL)),
        CONSTRAINT voucher_ended_once CHECK (redeemed_at IS NULL OR revoked_at IS NULL)
      )`);
    this.addSql('CREATE INDEX voucher_batch_id ON voucher (batch_id)');
    this.addSql('CREATE INDEX voucher_account ON voucher (account_id)');
    this.addSql(`
      ALTER TABLE plan_period
        ADD COLUMN voucher_id uuid REFERENCES voucher (id),
        DROP CONSTRAINT plan_period_reason_check,
        DROP CONSTRAINT plan_period_replaces,
        ADD CONSTRAINT plan_period_reason_check CHECK (reason IN ('grant', 'order', 'voucher', 'refund', 'revoke', 'shift')),
        ADD CONSTRAINT plan_period_replaces CHECK ((reason IN ('grant', 'order', 'voucher')) = (replaces IS NULL)),
        ADD CONSTRAINT plan_period_of_voucher CHECK ((reason = 'voucher') = (voucher_id IS NOT NULL))`);
    this.addSql('CREATE UNIQUE INDEX plan_period_redeems_once ON plan_period (voucher_id)');
  }

  // Days that vouchers added stay in the ledger, which must not change. Reverting is therefore possible only until the first redemption.
  override down(): void {
    this.addSql('DROP INDEX plan_period_redeems_once');
    this.addSql(`
      ALTER TABLE plan_period
        DROP CONSTRAINT plan_period_of_voucher,
        DROP CONSTRAINT plan_period_reason_check,
        DROP CONSTRAINT plan_period_replaces,
        ADD CONSTRAINT plan_period_reason_check CHECK (reason IN ('grant', 'order', 'refund', 'revoke', 'shift')),
        ADD CONSTRAINT plan_period_replaces CHECK ((reason IN ('grant', 'order')) = (replaces IS NULL)),
        DROP COLUMN voucher_id`);
    this.addSql('DROP TABLE voucher');
    this.addSql('DROP TABLE voucher_batch');
  }
}
