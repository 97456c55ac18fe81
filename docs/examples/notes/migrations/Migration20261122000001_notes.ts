import { Migration } from 'daypass';

export class Migration20261122000001_notes extends Migration {
  override up(): void {
    this.addSql(`
      CREATE TABLE notes (
        id uuid PRIMARY KEY,
        account_id uuid NOT NULL REFERENCES account ON DELETE CASCADE,
        text text NOT NULL,
        created_at timestamptz NOT NULL
      )`);
    this.addSql('CREATE INDEX notes_account_id ON notes (account_id, created_at)');
  }
}
