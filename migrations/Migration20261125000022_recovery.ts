import { Migration } from '@mikro-orm/migrations';

/** Stores the previous address, which is notified of the change. */
export class Migration20261125000022_recovery extends Migration {
  static readonly since = '0.2.0';

  override up(): void {
    this.addSql('ALTER TABLE account ADD COLUMN former_email text');
  }

  override down(): void {
    this.addSql('ALTER TABLE account DROP COLUMN former_email');
  }
}
