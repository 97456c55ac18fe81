import { Migration } from '@mikro-orm/migrations';

const added = `reason in ('grant', 'order', 'voucher', 'gift')`;

/** Allows time that is credited after a pass has ended to form a period of its own. */
export class Migration20261129000040_credit_after_end extends Migration {
  static readonly since = '0.6.0';

  override up(): void {
    this.addSql(`
      ALTER TABLE plan_period
        DROP CONSTRAINT plan_period_replaces,
        ADD CONSTRAINT plan_period_replaces CHECK (reason = 'outage' OR (${added}) = (replaces IS NULL))`);
  }

  // Reverting is possible only until such time has been credited, because the ledger must not change.
  override down(): void {
    this.addSql(`
      ALTER TABLE plan_period
        DROP CONSTRAINT plan_period_replaces,
        ADD CONSTRAINT plan_period_replaces CHECK ((${added}) = (replaces IS NULL))`);
  }
}
