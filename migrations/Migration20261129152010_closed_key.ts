import { Migration } from '@mikro-orm/migrations';

/** API keys that their vendors have closed, until the vendor accepts them again. */
export class Migration20261129152010_closed_key extends Migration {
  static readonly since = '0.6.0';

  override up(): void {
    this.addSql(`
      CREATE TABLE closed_key (
        id uuid PRIMARY KEY,
        digest text NOT NULL,
        upstream text NOT NULL,
        vendor text NOT NULL,
        part text NOT NULL,
        words text NOT NULL,
        source text NOT NULL,
        closed_at timestamptz NOT NULL,
        retry_at timestamptz NOT NULL,
        refusals integer NOT NULL DEFAULT 1,
        CONSTRAINT closed_key_part_check CHECK (part IN ('key', 'account'))
      )`);
    this.addSql('CREATE UNIQUE INDEX closed_key_once ON closed_key (digest)');
  }

  override down(): void {
    this.addSql('DROP TABLE closed_key');
  }
}
