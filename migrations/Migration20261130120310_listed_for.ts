import { Migration } from '@mikro-orm/migrations';

/** Stores for which key a vendor listed a route's model, because other keys may see other lists. */
export class Migration20261130120310_listed_for extends Migration {
  static readonly since = '0.6.0';

  override up(): void {
    this.addSql('ALTER TABLE retirement_route ADD COLUMN listed_for text');
  }

  override down(): void {
    this.addSql('ALTER TABLE retirement_route DROP COLUMN listed_for');
  }
}
