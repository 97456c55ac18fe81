import { Migration } from '@mikro-orm/migrations';

/** Counts of requests without an account. Anyone can send any number of them, so most are not recorded individually. */
export class Migration20261128000040_unauthenticated_requests extends Migration {
  static readonly since = '0.6.0';

  override up(): void {
    this.addSql(`
      CREATE TABLE unauthenticated_minute (
        minute timestamptz NOT NULL, /* its start */
        address_block text, /* null: all blocks that are not counted alone */
        status smallint, /* null: the client left before any */
        requests integer NOT NULL
      )`);
    this.addSql(`
      CREATE UNIQUE INDEX unauthenticated_minute_key ON unauthenticated_minute (minute, address_block, status)
        NULLS NOT DISTINCT`);
  }

  override down(): void {
    this.addSql('DROP TABLE unauthenticated_minute');
  }
}
