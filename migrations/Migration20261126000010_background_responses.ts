import { Migration } from '@mikro-orm/migrations';

/** Responses that continue without their client, and the events of their streams for clients that reconnect. */
export class Migration20261126000010_background_responses extends Migration {
  static readonly since = '0.2.0';

  override up(): void {
    // When the lease of the instance that runs it expires; null once the response has ended.
    this.addSql('ALTER TABLE response_store ADD COLUMN running_until timestamptz');
    this.addSql(
      'CREATE INDEX response_store_running ON response_store (running_until) WHERE running_until IS NOT NULL',
    );
    this.addSql(`
      CREATE TABLE response_event (
        account_id uuid NOT NULL,
        response_id text NOT NULL,
        last_sequence integer NOT NULL, -- number of the last event
        events text NOT NULL, -- consecutive events, as they are streamed
        created_at timestamptz NOT NULL,
        PRIMARY KEY (account_id, response_id, last_sequence),
        FOREIGN KEY (account_id, response_id) REFERENCES response_store ON UPDATE CASCADE ON DELETE CASCADE
      )`);
    this.addSql('CREATE INDEX response_event_created_at ON response_event (created_at)');
  }

  override down(): void {
    this.addSql('DROP TABLE response_event');
    this.addSql('ALTER TABLE response_store DROP COLUMN running_until');
  }
}
