import { Migration } from '@mikro-orm/migrations';

/** Accounts imported from another gateway, each at most once. */
export class Migration20261130000200_imported_accounts extends Migration {
  static readonly since = '0.6.0';

  override up(): void {
    this.addSql(
      `CREATE TABLE import_account (
         source text NOT NULL,
         source_id text NOT NULL,
         account_id uuid NOT NULL REFERENCES account (id),
         created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
         PRIMARY KEY (source, source_id)
       )`,
    );
    this.addSql('CREATE INDEX import_account_account ON import_account (account_id)');
  }

  override down(): void {
    this.addSql('DROP TABLE import_account');
  }
}
