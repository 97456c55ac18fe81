import { Migration } from '@mikro-orm/migrations';

/** Digests of what answers contained, and the models that they named. */
export class Migration20261129153000_answer_digests extends Migration {
  static readonly since = '0.6.0';

  override up(): void {
    this.addSql(`
      ALTER TABLE request_log
        ADD COLUMN answered_model text,
        ADD COLUMN is_other_model boolean,
        ADD COLUMN digest_received text,
        ADD COLUMN digest_sent text,
        ADD COLUMN digest_changes text[]`);
  }

  override down(): void {
    this.addSql(`
      ALTER TABLE request_log
        DROP COLUMN digest_changes,
        DROP COLUMN digest_sent,
        DROP COLUMN digest_received,
        DROP COLUMN is_other_model,
        DROP COLUMN answered_model`);
  }
}
