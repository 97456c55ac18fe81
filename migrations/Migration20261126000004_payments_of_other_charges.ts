import { Migration } from '@mikro-orm/migrations';

const outcomes = `'activated', 'wrong_amount', 'wrong_currency', 'second', 'returned'`;

/** Records money paid for a charge that was never shown, under the provider's name for that charge. */
export class Migration20261126000004_payments_of_other_charges extends Migration {
  static readonly since = '0.2.0';

  override up(): void {
    this.addSql(`
      ALTER TABLE payment
        ADD COLUMN provider_reference text,
        DROP CONSTRAINT payment_outcome_check,
        ADD CONSTRAINT payment_outcome_check CHECK (outcome IN (${outcomes}, 'wrong_reference'))`);
  }

  override down(): void {
    this.addSql("UPDATE payment SET outcome = 'second' WHERE outcome = 'wrong_reference'");
    this.addSql(`
      ALTER TABLE payment
        DROP COLUMN provider_reference,
        DROP CONSTRAINT payment_outcome_check,
        ADD CONSTRAINT payment_outcome_check CHECK (outcome IN (${outcomes}))`);
  }
}
