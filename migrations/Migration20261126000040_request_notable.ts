import { Migration } from '@mikro-orm/migrations';

/** Index for operators' lists of rare requests over all accounts: errors, failovers, and those whose clients left. */
export class Migration20261126000040_request_notable extends Migration {
  static readonly since = '0.2.0';

  override up(): void {
    this.addSql(`
      CREATE INDEX request_log_notable ON request_log (started_at DESC, id DESC)
        WHERE coalesce(status <> 200 OR outcome <> 'answered' OR has_failover, false)`);
  }

  override down(): void {
    this.addSql('DROP INDEX request_log_notable');
  }
}
