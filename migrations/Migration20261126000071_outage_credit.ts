import { Migration } from '@mikro-orm/migrations';

const former = `'grant', 'order', 'voucher', 'refund', 'revoke', 'shift'`;

/** Outages, and the time with which accounts were credited for them. */
export class Migration20261126000071_outage_credit extends Migration {
  static readonly since = '0.3.0';

  override up(): void {
    this.addSql(`
      CREATE TABLE outage (
        id uuid PRIMARY KEY,
        incident_id uuid NOT NULL, -- incidents are removed earlier
        model text NOT NULL,
        from_at timestamptz NOT NULL,
        until_at timestamptz NOT NULL,
        credited_at timestamptz, -- when all accounts had their time back
        CONSTRAINT outage_span CHECK (until_at > from_at)
      )`);
    this.addSql('CREATE UNIQUE INDEX outage_once ON outage (incident_id, from_at)');
    this.addSql(`
      CREATE TABLE outage_credit (
        outage_id uuid NOT NULL REFERENCES outage (id),
        account_id uuid NOT NULL REFERENCES account (id),
        seconds integer NOT NULL,
        period_id uuid REFERENCES plan_period (id),
        created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        PRIMARY KEY (outage_id, account_id),
        CONSTRAINT outage_credit_seconds_check CHECK (seconds >= 0)
      )`);
    this.addSql('CREATE INDEX outage_credit_account ON outage_credit (account_id)');
    this.addSql(`
      ALTER TABLE plan_period
        DROP CONSTRAINT plan_period_reason_check,
        ADD CONSTRAINT plan_period_reason_check CHECK (reason IN (${former}, 'outage'))`);
  }

  // Credited time stays in the ledger, which must not change. Reverting is therefore possible only until the first credit.
  override down(): void {
    this.addSql(`
      ALTER TABLE plan_period
        DROP CONSTRAINT plan_period_reason_check,
        ADD CONSTRAINT plan_period_reason_check CHECK (reason IN (${former}))`);
    this.addSql('DROP TABLE outage_credit');
    this.addSql('DROP TABLE outage');
  }
}
