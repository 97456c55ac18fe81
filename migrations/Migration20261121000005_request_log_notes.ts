import { Migration } from '@mikro-orm/migrations';

/**
 * What a record says of a translation, and of counts that nobody has counted. The format of an attempt's upstream is a
 * member of `attempts`.
 */
export class Migration20261121000005_request_log_notes extends Migration {
  override up(): void {
    this.addSql(`
      ALTER TABLE request_log
        ADD COLUMN notes text[], -- what of the request the serving route was not told, or otherwise
        ADD COLUMN usage_estimated boolean -- the upstream did not count; null when there are no counts`);
  }

  override down(): void {
    this.addSql('ALTER TABLE request_log DROP COLUMN notes, DROP COLUMN usage_estimated');
  }
}
