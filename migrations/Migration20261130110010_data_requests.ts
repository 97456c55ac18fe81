import { Migration } from '@mikro-orm/migrations';

export class Migration20261130110010_data_requests extends Migration {
  static readonly since = '0.6.0';

  override up(): void {
    this.addSql('ALTER TABLE account ADD COLUMN paused_at timestamptz');
    this.addSql(`
      CREATE TABLE data_request (
        id uuid PRIMARY KEY,
        kind text NOT NULL CHECK (kind IN ('access', 'correction', 'limiting', 'deletion', 'other')),
        channel text NOT NULL CHECK (channel IN ('page', 'mail', 'chat', 'other')),
        account_id uuid, -- null: of a person without an account
        person text, -- how a person without an account is reached
        text text,
        received_at timestamptz NOT NULL,
        due_at timestamptz NOT NULL,
        answered_at timestamptz,
        outcome text CHECK (outcome IN ('done', 'rejected')),
        answer text,
        created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        CONSTRAINT data_request_answered CHECK ((answered_at IS NULL) = (outcome IS NULL)),
        CONSTRAINT data_request_due CHECK (received_at < due_at)
      )`);
    this.addSql('CREATE INDEX data_request_open ON data_request (due_at) WHERE answered_at IS NULL');
    this.addSql('CREATE INDEX data_request_account ON data_request (account_id)');
  }

  override down(): void {
    this.addSql('DROP TABLE data_request');
    this.addSql('ALTER TABLE account DROP COLUMN paused_at');
  }
}
