import { Migration } from '@mikro-orm/migrations';

export class Migration20261126000070_sales extends Migration {
  static readonly since = '0.3.0';

  override up(): void {
    this.addSql(`
      CREATE TABLE waiting_entry (
        id uuid PRIMARY KEY,
        account_id uuid NOT NULL REFERENCES account (id),
        days integer NOT NULL, -- of the plan
        joined_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        reserved_until timestamptz, -- null: waits
        ended_at timestamptz,
        outcome text,
        CONSTRAINT waiting_entry_days_check CHECK (days > 0),
        CONSTRAINT waiting_entry_outcome_check CHECK (outcome IN ('bought', 'expired', 'left')),
        CONSTRAINT waiting_entry_outcome CHECK ((ended_at IS NULL) = (outcome IS NULL))
      )`);
    this.addSql('CREATE INDEX waiting_entry_open ON waiting_entry (joined_at, id) WHERE ended_at IS NULL');
    this.addSql('CREATE INDEX waiting_entry_account ON waiting_entry (account_id)');
    this.addSql('CREATE UNIQUE INDEX waiting_entry_once ON waiting_entry (account_id) WHERE ended_at IS NULL');
    this.addSql(`
      CREATE TABLE sales_day (
        day date NOT NULL,
        plan_days integer NOT NULL, -- 0: all plans
        max_active integer NOT NULL,
        held integer NOT NULL,
        late integer NOT NULL,
        waiting integer NOT NULL,
        PRIMARY KEY (day, plan_days, max_active)
      )`);
  }

  override down(): void {
    this.addSql('DROP TABLE sales_day');
    this.addSql('DROP TABLE waiting_entry');
  }
}
