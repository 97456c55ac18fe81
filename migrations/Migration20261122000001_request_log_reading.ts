import { Migration } from '@mikro-orm/migrations';

/**
 * Indexes for the pages of an account's requests, newest first. Those for rare properties are partial, so that most inserts do not touch
 * them. Finding a single id needs no index of its own: the id contains `started_at`, with which the primary key begins.
 */
export class Migration20261122000001_request_log_reading extends Migration {
  static readonly since = '0.1.0';

  override up(): void {
    this.addSql(`
      ALTER TABLE request_log
        ADD COLUMN is_metered boolean, -- counts against limits
        ADD COLUMN has_failover boolean -- more than one route was tried`);
    this.addSql('CREATE INDEX request_log_model ON request_log (account_id, model, started_at DESC)');
    this.addSql(
      'CREATE INDEX request_log_errors ON request_log (account_id, started_at DESC, status) WHERE status >= 400',
    );
    this.addSql('CREATE INDEX request_log_failovers ON request_log (account_id, started_at DESC) WHERE has_failover');
    this.addSql(`CREATE INDEX request_log_hits ON request_log (account_id, started_at DESC) WHERE cache = 'hit'`);
  }

  override down(): void {
    this.addSql('DROP INDEX request_log_model, request_log_errors, request_log_failovers, request_log_hits');
    this.addSql('ALTER TABLE request_log DROP COLUMN is_metered, DROP COLUMN has_failover');
  }
}
