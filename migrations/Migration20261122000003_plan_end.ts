import { Migration } from '@mikro-orm/migrations';

/** Index for the job that finds plans that have ended or soon will. */
export class Migration20261122000003_plan_end extends Migration {
  static readonly since = '0.1.0';

  override up(): void {
    this.addSql('CREATE INDEX plan_period_end ON plan_period (ends_at)');
  }

  override down(): void {
    this.addSql('DROP INDEX plan_period_end');
  }
}
