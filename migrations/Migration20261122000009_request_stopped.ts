import { Migration } from '@mikro-orm/migrations';

/**
 * Requests whose clients left: the list of an account that has few of them, or none, would read all others. With status and
 * model, as the other indexes of rare requests.
 */
export class Migration20261122000009_request_stopped extends Migration {
  override up(): void {
    this.addSql(`
      CREATE INDEX request_log_stopped ON request_log (account_id, started_at DESC, status, (coalesce(alias_of, model)))
        WHERE outcome = 'aborted'`);
  }

  override down(): void {
    this.addSql('DROP INDEX request_log_stopped');
  }
}
