import { Migration } from '@mikro-orm/migrations';

export class Migration20261122000001_start extends Migration {
  override up(): void {
    this.addSql('CREATE TABLE first_note (id integer PRIMARY KEY, text text NOT NULL)');
  }
}
