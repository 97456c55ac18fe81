import { Migration } from '@mikro-orm/migrations';

/** Indexes for listing requests by model (under any of its names), by route, by status, and failed ones. */
export class Migration20261122000006_request_filters extends Migration {
  static readonly since = '0.1.0';

  override up(): void {
    this.addSql('DROP INDEX request_log_model');
    this.addSql(
      'CREATE INDEX request_log_model ON request_log (account_id, (coalesce(alias_of, model)), started_at DESC)',
    );
    this.addSql('CREATE INDEX request_log_route ON request_log (account_id, route, started_at DESC)');
    this.addSql('DROP INDEX request_log_errors');
    this.addSql(
      'CREATE INDEX request_log_status ON request_log (account_id, started_at DESC, status) WHERE status <> 200',
    );
    this.addSql(`
      CREATE INDEX request_log_bad ON request_log (account_id, started_at DESC)
        WHERE outcome IN ('refused', 'failed', 'interrupted')`);
  }

  override down(): void {
    this.addSql('DROP INDEX request_log_model, request_log_route, request_log_status, request_log_bad');
    this.addSql('CREATE INDEX request_log_model ON request_log (account_id, model, started_at DESC)');
    this.addSql(
      'CREATE INDEX request_log_errors ON request_log (account_id, started_at DESC, status) WHERE status >= 400',
    );
  }
}
