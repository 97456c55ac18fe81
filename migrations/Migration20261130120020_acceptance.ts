import { Migration } from '@mikro-orm/migrations';

export class Migration20261130120020_acceptance extends Migration {
  static readonly since = '0.6.0';

  override up(): void {
    this.addSql(`
      CREATE TABLE acceptance_text (
        digest text PRIMARY KEY,
        page text NOT NULL,
        address text,
        texts jsonb,
        created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        shown_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        CONSTRAINT acceptance_text_check CHECK ((address IS NULL) <> (texts IS NULL))
      )`);
    this.addSql(`
      CREATE TABLE acceptance (
        id uuid PRIMARY KEY,
        account_id uuid NOT NULL,
        order_id uuid NOT NULL,
        code text NOT NULL,
        page text NOT NULL,
        digest text NOT NULL,
        version text,
        language text NOT NULL,
        accepted_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        CONSTRAINT acceptance_order_id_digest_unique UNIQUE (order_id, digest)
      )`);
    this.addSql('CREATE INDEX acceptance_account ON acceptance (account_id, accepted_at)');
    // What was shown and who accepted it is evidence, so it must not change.
    this.addSql(`
      CREATE FUNCTION keep_acceptance() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF to_jsonb(NEW) - 'shown_at' IS DISTINCT FROM to_jsonb(OLD) - 'shown_at' THEN
          RAISE EXCEPTION 'acceptances never change';
        END IF;
        RETURN NEW;
      END $$`);
    for (const table of ['acceptance_text', 'acceptance'])
      this.addSql(
        `CREATE TRIGGER ${table}_kept BEFORE UPDATE ON ${table} FOR EACH ROW EXECUTE FUNCTION keep_acceptance()`,
      );
  }

  override down(): void {
    this.addSql('DROP TABLE acceptance, acceptance_text');
    this.addSql('DROP FUNCTION keep_acceptance');
  }
}
