import { Migration } from '@mikro-orm/migrations';

/**
 * For operators' lists of rare requests of all accounts: like `request_log_notable`, with all that they are filtered by, so that a filter
 * that finds little reads no other rows. While it is built, inserts wait in the journals: some seconds for each million of records.
 */
export class Migration20261130140010_notable_columns extends Migration {
  static readonly since = '0.6.0';

  override up(): void {
    this.addSql(`
      CREATE INDEX request_log_rare ON request_log
        (started_at DESC, id DESC, status, outcome, has_failover, cache, route, (coalesce(alias_of, model)))
        WHERE coalesce(status <> 200 OR outcome <> 'answered' OR has_failover, false)`);
  }

  override down(): void {
    this.addSql('DROP INDEX request_log_rare');
  }
}
