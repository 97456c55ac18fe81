import { Migration } from '@mikro-orm/migrations';

/** Tokens of the operator API, and the responses stored for repeated calls. */
export class Migration20261125000023_operator_api extends Migration {
  static readonly since = '0.2.0';

  override up(): void {
    this.addSql(`
      CREATE TABLE operator_token (
        id uuid PRIMARY KEY,
        name text NOT NULL UNIQUE,
        sha256 bytea NOT NULL UNIQUE CHECK (length(sha256) = 32),
        scope text NOT NULL CHECK (scope IN ('read', 'act')),
        created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        expires_at timestamptz NOT NULL,
        last_used_at timestamptz,
        revoked_at timestamptz
      )`);
    this.addSql(`
      CREATE TABLE operator_call (
        token_id uuid NOT NULL REFERENCES operator_token (id) ON DELETE CASCADE,
        key text NOT NULL,
        sha256 bytea NOT NULL, -- of method, path and body
        status integer, -- null: it is running, or the process died meanwhile
        answer text,
        created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        PRIMARY KEY (token_id, key)
      )`);
    this.addSql('CREATE INDEX operator_call_created ON operator_call (created_at)');
  }

  override down(): void {
    this.addSql('DROP TABLE operator_call, operator_token');
  }
}
