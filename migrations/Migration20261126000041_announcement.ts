import { Migration } from '@mikro-orm/migrations';

export class Migration20261126000041_announcement extends Migration {
  static readonly since = '0.2.0';

  override up(): void {
    this.addSql(`
      CREATE TABLE announcement (
        id uuid PRIMARY KEY,
        kind text NOT NULL CHECK (kind IN ('maintenance', 'note')),
        audience text NOT NULL CHECK (audience IN ('all', 'customers')),
        model text, -- public name; null: about the whole service
        text_en text NOT NULL,
        text_id text NOT NULL,
        starts_at timestamptz NOT NULL,
        ends_at timestamptz NOT NULL,
        created_by text NOT NULL, -- name of the operator
        created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        ended_at timestamptz, -- when an operator ended it; null: its span decides
        CONSTRAINT announcement_span_check CHECK (starts_at < ends_at)
      )`);
    this.addSql('CREATE INDEX announcement_open ON announcement (ends_at) WHERE ended_at IS NULL');
  }

  override down(): void {
    this.addSql('DROP TABLE announcement');
  }
}
