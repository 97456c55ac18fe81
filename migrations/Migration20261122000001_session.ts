import { Migration } from '@mikro-orm/migrations';

export class Migration20261122000001_session extends Migration {
  static readonly since = '0.1.0';

  override up(): void {
    this.addSql(`
      CREATE TABLE session (
        id uuid PRIMARY KEY,
        account_id uuid NOT NULL REFERENCES account (id) ON DELETE CASCADE,
        token_sha256 bytea NOT NULL UNIQUE CHECK (length(token_sha256) = 32), -- the token itself is in the browser alone
        user_agent text NOT NULL DEFAULT '',
        created_at timestamptz NOT NULL DEFAULT now(),
        last_used_at timestamptz NOT NULL DEFAULT now(),
        expires_at timestamptz NOT NULL
      )`);
    this.addSql('CREATE INDEX session_account ON session (account_id)');
    this.addSql('CREATE INDEX session_last_use ON session (last_used_at)');
  }

  override down(): void {
    this.addSql('DROP TABLE session');
  }
}
