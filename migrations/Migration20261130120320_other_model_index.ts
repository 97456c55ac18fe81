import { Migration } from '@mikro-orm/migrations';

/**
 * Index for the list of routes that answer with a different model. Not part of the migration that adds the columns, because reads would
 * wait there until the index is built, which takes seconds per million records.
 */
export class Migration20261130120320_other_model_index extends Migration {
  static readonly since = '0.6.0';

  override up(): void {
    // Builds of 0.6.0 from before its release already have it.
    this.addSql(
      'CREATE INDEX IF NOT EXISTS request_log_other_model ON request_log (started_at DESC) WHERE is_other_model',
    );
  }

  override down(): void {
    this.addSql('DROP INDEX request_log_other_model');
  }
}
