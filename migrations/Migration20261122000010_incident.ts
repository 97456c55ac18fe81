import { Migration } from '@mikro-orm/migrations';

/** Periods in which a model was in trouble, for the status page. Kept for more than 90 days. */
export class Migration20261122000010_incident extends Migration {
  static readonly since = '0.1.0';

  override up(): void {
    this.addSql(`
      CREATE TABLE incident (
        id uuid PRIMARY KEY,
        model text NOT NULL, -- public name
        kind text NOT NULL CHECK (kind IN ('degraded', 'down')), -- the worst so far, with its cause
        cause text NOT NULL CHECK (cause IN ('routes_out', 'failing', 'recovering', 'slow')),
        lowest_answered real CHECK (lowest_answered BETWEEN 0 AND 1),
        started_at timestamptz NOT NULL,
        opened_at timestamptz, -- null: only suspected, and shown to nobody
        calm_since timestamptz, -- null: in trouble now, or over
        checked_at timestamptz NOT NULL,
        ended_at timestamptz CHECK (ended_at >= started_at)
      )`);
    // At most one current incident per model, however many instances watch it.
    this.addSql('CREATE UNIQUE INDEX incident_current ON incident (model) WHERE ended_at IS NULL');
    this.addSql('CREATE INDEX incident_started ON incident (started_at DESC)');
  }

  override down(): void {
    this.addSql('DROP TABLE incident');
  }
}
