import { Migration } from '@mikro-orm/migrations';

/**
 * One account per address, regardless of the case of its ASCII letters and of the collation of the database: the Turkish one does not fold
 * `INFO` to `info`. If two accounts already share an address, the index is not created until an operator has decided; each start tries
 * again (core/business/accounts/duplicate-addresses.ts).
 */
export class Migration20261128000050_ascii_addresses extends Migration {
  static readonly since = '0.6.0';

  override up(): void {
    this.addSql(`
      DO $$ BEGIN
        IF NOT EXISTS (SELECT FROM account GROUP BY lower(email COLLATE "C") HAVING count(email) > 1) THEN
          CREATE UNIQUE INDEX account_email_ascii ON account (lower(email COLLATE "C"));
        END IF;
      END $$`);
  }

  override down(): void {
    this.addSql('DROP INDEX IF EXISTS account_email_ascii');
  }
}
