import { Migration } from '@mikro-orm/migrations';

/**
 * Index for operators' lists of rare requests over all accounts. Like `request_log_notable`, but with all columns by which they are
 * filtered, so that a filter with few matches reads no other rows. While it is being built, inserts wait in the journals, a few seconds per
 * million records.
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
