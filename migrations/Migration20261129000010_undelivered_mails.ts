import { Migration } from '@mikro-orm/migrations';

/** Index for undelivered mails, which readiness and metrics count. They are few among all that are kept. */
export class Migration20261129000010_undelivered_mails extends Migration {
  static readonly since = '0.6.0';

  override up(): void {
    this.addSql(
      `CREATE INDEX mail_message_undelivered ON mail_message (finished_at) WHERE state IN ('failed', 'uncertain')`,
    );
  }

  override down(): void {
    this.addSql('DROP INDEX mail_message_undelivered');
  }
}
