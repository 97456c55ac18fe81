import { Migration } from '@mikro-orm/migrations';

/**
 * What was asked and answered, where the option `content` of `log` keeps it. A table of its own beside request_log, so
 * that nobody who lists requests reads past it; in partitions by day (UTC), which the `log` plugin makes and drops.
 */
export class Migration20261121000003_request_content extends Migration {
  override up(): void {
    this.addSql(`
      CREATE TABLE request_content (
        id text NOT NULL,
        started_at timestamptz NOT NULL,
        part text NOT NULL CHECK (part IN ('request', 'reply')),
        is_cut boolean NOT NULL, -- there was more than may be kept
        body text NOT NULL,
        PRIMARY KEY (started_at, id, part)
      ) PARTITION BY RANGE (started_at)`);
  }

  override down(): void {
    this.addSql('DROP TABLE request_content');
  }
}
