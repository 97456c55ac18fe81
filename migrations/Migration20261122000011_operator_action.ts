import { Migration } from '@mikro-orm/migrations';

export class Migration20261122000011_operator_action extends Migration {
  static readonly since = '0.1.0';

  override up(): void {
    this.addSql(`
      CREATE TABLE operator_action (
        id uuid PRIMARY KEY,
        operator_id uuid NOT NULL, -- account; without a foreign key: an action outlives it
        operator text NOT NULL, -- e-mail address at the time
        action text NOT NULL,
        subject text NOT NULL, -- id of the account or order, or the route
        note text,
        created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        finished_at timestamptz, -- null: running, or the process died meanwhile
        error text
      )`);
    this.addSql('CREATE INDEX operator_action_subject ON operator_action (subject, created_at)');
    this.addSql('CREATE INDEX operator_action_created ON operator_action (created_at DESC)');
  }

  override down(): void {
    this.addSql('DROP TABLE operator_action');
  }
}
