import { Migration } from '@mikro-orm/migrations';

const former = `'routes_out', 'failing', 'recovering', 'slow'`;

/** An incident ends only when a response succeeds, so each stores the latest trouble and the last failure of its model. */
export class Migration20261126000010_incident_memory extends Migration {
  static readonly since = '0.2.0';

  override up(): void {
    this.addSql('ALTER TABLE incident DROP CONSTRAINT incident_cause_check');
    this.addSql(`
      ALTER TABLE incident
        ADD COLUMN latest_kind text CHECK (latest_kind IN ('degraded', 'down')), -- null: as kind
        ADD COLUMN latest_cause text CHECK (latest_cause IN (${former}, 'last_failed')),
        ADD COLUMN failed_at timestamptz, -- of the last failed request, as far as known
        ADD COLUMN quiet_since timestamptz, -- no request since it failed
        ADD CONSTRAINT incident_cause_check CHECK (cause IN (${former}, 'last_failed'))`);
  }

  override down(): void {
    this.addSql(`DELETE FROM incident WHERE cause = 'last_failed'`);
    this.addSql('ALTER TABLE incident DROP CONSTRAINT incident_cause_check');
    this.addSql(`
      ALTER TABLE incident
        DROP COLUMN latest_kind, DROP COLUMN latest_cause, DROP COLUMN failed_at, DROP COLUMN quiet_since,
        ADD CONSTRAINT incident_cause_check CHECK (cause IN (${former}))`);
  }
}
