import { Migration } from '@mikro-orm/migrations';

/**
 * Responses API answers that can be continued and fetched by id for a limited time. JSON is stored as text, because PostgreSQL's `jsonb`
 * cannot hold every character that JSON allows.
 */
export class Migration20261121000004_response_store extends Migration {
  static readonly since = '0.1.0';

  override up(): void {
    this.addSql(`
      CREATE TABLE response_store (
        account_id uuid NOT NULL REFERENCES account ON DELETE CASCADE,
        id text NOT NULL, -- as the client got it
        input text NOT NULL, -- JSON: every item before the output, those of the responses continued included
        response text NOT NULL, -- JSON: the response object; its output belongs behind the input
        item_ids text[] NOT NULL, -- ids of the output's items, for references to them
        created_at timestamptz NOT NULL,
        expires_at timestamptz NOT NULL,
        PRIMARY KEY (account_id, id)
      )`);
    this.addSql('CREATE INDEX response_store_expires_at ON response_store (expires_at)');
    this.addSql('CREATE INDEX response_store_item_ids ON response_store USING gin (item_ids)');
  }

  override down(): void {
    this.addSql('DROP TABLE response_store');
  }
}
