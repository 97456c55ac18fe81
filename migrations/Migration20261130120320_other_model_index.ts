import { Migration } from '@mikro-orm/migrations';

/**
 * For the list of routes that answer with another model. Apart from the migration that adds the columns: beside it, reads would wait until
 * the index is built, which takes seconds for each million of records.
 */
export class Migration20261130120320_other_model_index extends Migration {
  static readonly since = '0.6.0';

  override up(): void {
    // Builds of 0.6.0 from before its release have it.
    this.addSql(
      'CREATE INDEX IF NOT EXISTS request_log_other_model ON request_log (started_at DESC) WHERE is_other_model',
    );
  }

  override down(): void {
    this.addSql('DROP INDEX request_log_other_model');
  }
}
