import { Migration } from '@mikro-orm/migrations';

export class Migration20261126000050_configuration_history extends Migration {
  static readonly since = '0.2.0';

  override up(): void {
    this.addSql(`
      CREATE TABLE served_configuration (
        id integer PRIMARY KEY,
        text text NOT NULL, -- variables are not filled in, and secrets masked
        digest text NOT NULL,
        served_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        brought_by text NOT NULL
      )`);
    this.addSql(`
      CREATE TABLE configuration_rollback (
        id smallint PRIMARY KEY, -- always 1
        file_digest text NOT NULL,
        configuration_id integer NOT NULL,
        operator text NOT NULL,
        note text,
        created_at timestamptz NOT NULL DEFAULT clock_timestamp()
      )`);
  }

  override down(): void {
    this.addSql('DROP TABLE configuration_rollback');
    this.addSql('DROP TABLE served_configuration');
  }
}
