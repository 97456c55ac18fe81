import { Migration } from '@mikro-orm/migrations';

/** Keeps that an account was paused by its owner when an operator blocks it. */
export class Migration20261130150010_pause_before_block extends Migration {
  static readonly since = '0.6.0';

  override up(): void {
    this.addSql('ALTER TABLE account ADD COLUMN pause_before_block timestamptz');
  }

  override down(): void {
    this.addSql('ALTER TABLE account DROP COLUMN pause_before_block');
  }
}
