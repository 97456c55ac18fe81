import { Migration } from '@mikro-orm/migrations';

/** One mail per event. The recipient's address is not stored, but read when the mail is sent. */
export class Migration20261122000004_mail extends Migration {
  static readonly since = '0.1.0';

  override up(): void {
    this.addSql(`
      CREATE TABLE mail_message (
        event_id bigint PRIMARY KEY, -- of account_event
        account_id uuid NOT NULL REFERENCES account (id) ON DELETE CASCADE,
        state text NOT NULL DEFAULT 'waiting'
          CHECK (state IN ('waiting', 'sending', 'sent', 'skipped', 'failed', 'uncertain')),
        tries integer NOT NULL DEFAULT 0,
        next_at timestamptz NOT NULL DEFAULT clock_timestamp(), -- of the next try; while sending, when its sender counts as dead
        error text,
        created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        finished_at timestamptz
      )`);
    this.addSql(`CREATE INDEX mail_message_due ON mail_message (next_at) WHERE state IN ('waiting', 'sending')`);
  }

  override down(): void {
    this.addSql('DROP TABLE mail_message');
  }
}
