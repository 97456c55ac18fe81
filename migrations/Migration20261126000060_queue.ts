import { Migration } from '@mikro-orm/migrations';

/** How long a request waited for a free slot of an upstream with a declared capacity. */
export class Migration20261126000060_queue extends Migration {
  static readonly since = '0.3.0';

  override up(): void {
    this.addSql('ALTER TABLE request_log ADD COLUMN queue_ms bigint');
  }

  override down(): void {
    this.addSql('ALTER TABLE request_log DROP COLUMN queue_ms');
  }
}
