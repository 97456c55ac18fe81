import { Migration } from '@mikro-orm/migrations';

/** Notes on translations, and a flag for estimated token counts. The upstream format of an attempt is stored in `attempts`. */
export class Migration20261121000005_request_log_notes extends Migration {
  static readonly since = '0.1.0';

  override up(): void {
    this.addSql(`
      ALTER TABLE request_log
        ADD COLUMN notes text[], -- parts of the request that the serving route did not get, or got in another form
        ADD COLUMN usage_estimated boolean -- the upstream did not count; null when there are no counts`);
  }

  override down(): void {
    this.addSql('ALTER TABLE request_log DROP COLUMN notes, DROP COLUMN usage_estimated');
  }
}
