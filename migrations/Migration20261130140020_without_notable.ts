import { Migration } from '@mikro-orm/migrations';

/** Not part of the migration that builds the replacement, because dropping the index waits for reads and may have to be repeated. */
export class Migration20261130140020_without_notable extends Migration {
  static readonly since = '0.6.0';

  override up(): void {
    this.addSql('DROP INDEX request_log_notable');
  }

  override down(): void {
    this.addSql(`
      CREATE INDEX request_log_notable ON request_log (started_at DESC, id DESC)
        WHERE coalesce(status <> 200 OR outcome <> 'answered' OR has_failover, false)`);
  }
}
