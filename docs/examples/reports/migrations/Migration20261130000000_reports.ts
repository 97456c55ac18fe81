import { Migration } from 'daypass';

export class Migration20261130000000_reports extends Migration {
  override up(): void {
    this.addSql(`
      CREATE TABLE reports (
        id uuid PRIMARY KEY,
        account_id uuid NOT NULL REFERENCES account ON DELETE CASCADE,
        text text NOT NULL,
        answer text,
        created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        closed_at timestamptz
      )`);
  }
}
