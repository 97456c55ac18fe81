import { Migration } from '@mikro-orm/migrations';

export class Migration20261130130010_consents extends Migration {
  static readonly since = '0.6.0';

  override up(): void {
    this.addSql(`
      CREATE TABLE consent (
        id uuid PRIMARY KEY,
        account_id uuid NOT NULL REFERENCES account (id) ON DELETE CASCADE,
        name text NOT NULL,
        label jsonb NOT NULL,
        digest text NOT NULL,
        language text NOT NULL,
        place text NOT NULL CHECK (place IN ('checkout', 'account')),
        given_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        withdrawn_at timestamptz
      )`);
    this.addSql('CREATE INDEX consent_account ON consent (account_id, name)');
    this.addSql('CREATE INDEX consent_given ON consent (digest, id) WHERE withdrawn_at IS NULL');
    this.addSql('CREATE UNIQUE INDEX consent_in_force ON consent (account_id, digest) WHERE withdrawn_at IS NULL');
  }

  override down(): void {
    this.addSql('DROP TABLE consent');
  }
}
