import { Migration } from '@mikro-orm/migrations';

/** Stores the digest of the key that the last rotation replaced. */
export class Migration20261126000020_former_key extends Migration {
  static readonly since = '0.2.0';

  override up(): void {
    this.addSql('ALTER TABLE api_key ADD COLUMN former_sha256 bytea NULL UNIQUE');
  }

  override down(): void {
    this.addSql('ALTER TABLE api_key DROP COLUMN former_sha256');
  }
}
