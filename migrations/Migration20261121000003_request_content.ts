import { Migration } from '@mikro-orm/migrations';

/**
 * Bodies of requests and replies, if the `content` option of `log` keeps them. In a separate table, so that lists of requests do not read
 * them, and in partitions by day (UTC) that the `log` plugin creates and drops.
 */
export class Migration20261121000003_request_content extends Migration {
  static readonly since = '0.1.0';

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
