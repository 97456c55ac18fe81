import { Migration } from '@mikro-orm/migrations';

/**
 * Requests whose clients left: without an index, the list of an account with few of them would read all of its requests.
 * With status and model, like the other indexes of rare requests.
 */
export class Migration20261122000009_request_stopped extends Migration {
  static readonly since = '0.1.0';

  override up(): void {
    this.addSql(`
      CREATE INDEX request_log_stopped ON request_log (account_id, started_at DESC, status, (coalesce(alias_of, model)))
        WHERE outcome = 'aborted'`);
  }

  override down(): void {
    this.addSql('DROP INDEX request_log_stopped');
  }
}
