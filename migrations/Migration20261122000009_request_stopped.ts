import { Migration } from '@mikro-orm/migrations';

/**
 * Index for requests whose clients left. Without it, listing them for an account that has few would read all of its requests. Includes
 * status and model, like the other indexes of rare requests.
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
