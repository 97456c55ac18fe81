import { Migration } from '@mikro-orm/migrations';

/** Accounts, their keys, and the ledger of paid time. */
export class Migration20261121000001_accounts extends Migration {
  static readonly since = '0.1.0';

  override up(): void {
    this.addSql(`
      CREATE TABLE account (
        id uuid PRIMARY KEY,
        email text,
        name text NOT NULL,
        avatar_url text,
        request_count bigint NOT NULL DEFAULT 0,
        created_at timestamptz NOT NULL DEFAULT now()
      )`);
    this.addSql('CREATE INDEX account_email ON account (lower(email))');
    this.addSql(`
      CREATE TABLE api_key (
        id uuid PRIMARY KEY,
        account_id uuid NOT NULL UNIQUE REFERENCES account (id) ON DELETE CASCADE,
        sha256 bytea NOT NULL UNIQUE CHECK (length(sha256) = 32),
        hint text NOT NULL,
        limits jsonb,
        created_at timestamptz NOT NULL DEFAULT now(),
        rotated_at timestamptz
      )`);
    this.addSql(`
      CREATE TABLE plan_period (
        id uuid PRIMARY KEY,
        account_id uuid NOT NULL REFERENCES account (id),
        starts_at timestamptz NOT NULL,
        ends_at timestamptz NOT NULL,
        days integer NOT NULL CHECK (days > 0),
        label text,
        reason text NOT NULL CHECK (reason IN ('grant', 'order')),
        note text,
        created_at timestamptz NOT NULL DEFAULT now(),
        CHECK (ends_at > starts_at)
      )`);
    this.addSql('CREATE INDEX plan_period_account ON plan_period (account_id, ends_at)');

    // The ledger records what was sold. A mistake is corrected by another entry, never by changing one.
    this.addSql(`
      CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        RAISE EXCEPTION '% is append-only: add an entry instead of changing one', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
      END $$`);
    this.addSql(
      'CREATE TRIGGER plan_period_append_only BEFORE UPDATE OR DELETE ON plan_period FOR EACH ROW EXECUTE FUNCTION refuse_change()',
    );
    this.addSql(
      'CREATE TRIGGER plan_period_keep_all BEFORE TRUNCATE ON plan_period FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()',
    );

    // Notifies every process on this database once a new key or period is committed.
    this.addSql(`
      CREATE FUNCTION notify_account() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        PERFORM pg_notify('account', COALESCE(NEW.account_id, OLD.account_id)::text);
        RETURN NULL;
      END $$`);
    for (const table of ['api_key', 'plan_period']) {
      this.addSql(
        `CREATE TRIGGER ${table}_notify AFTER INSERT OR UPDATE OR DELETE ON ${table} FOR EACH ROW EXECUTE FUNCTION notify_account()`,
      );
    }
  }

  override down(): void {
    this.addSql('DROP TABLE plan_period, api_key, account');
    this.addSql('DROP FUNCTION notify_account(), refuse_change()');
  }
}
