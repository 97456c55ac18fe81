import { Migration } from '@mikro-orm/migrations';

/** The outcome of each mail, by account; mails that are sent again; accounts that want no reminders and announcements. */
export class Migration20261128000060_mail_outcome extends Migration {
  static readonly since = '0.6.0';

  override up(): void {
    this.addSql(`
      ALTER TABLE mail_message
        ADD COLUMN uncertain_tries integer NOT NULL DEFAULT 0,
        ADD COLUMN asked_at timestamptz -- when an operator asked to send it again`);
    this.addSql('CREATE INDEX mail_message_account ON mail_message (account_id, created_at)');
    this.addSql('ALTER TABLE account ADD COLUMN unsubscribed_at timestamptz');
  }

  override down(): void {
    this.addSql('ALTER TABLE account DROP COLUMN unsubscribed_at');
    this.addSql('DROP INDEX mail_message_account');
    this.addSql('ALTER TABLE mail_message DROP COLUMN uncertain_tries, DROP COLUMN asked_at');
  }
}
