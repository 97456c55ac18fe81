import { Migration } from '@mikro-orm/migrations';

/** Index for a charge's refunds, which used to require scanning all refunds. */
export class Migration20261130150020_sandbox_refunds extends Migration {
  static readonly since = '0.6.0';

  override up(): void {
    this.addSql('CREATE INDEX payments_sandbox_refund_reference ON payments_sandbox_refund (reference)');
  }

  override down(): void {
    this.addSql('DROP INDEX payments_sandbox_refund_reference');
  }
}
