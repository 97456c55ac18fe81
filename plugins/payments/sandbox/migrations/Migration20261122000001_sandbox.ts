import { Migration } from '@mikro-orm/migrations';

/** Tables that simulate a bank: sandbox charges, their refunds, and the secret that signs notifications. */
export class Migration20261122000001_sandbox extends Migration {
  static readonly since = '0.1.0';

  override up(): void {
    this.addSql(`
      CREATE TABLE payments_sandbox_charge (
        reference text PRIMARY KEY,
        provider_reference text NOT NULL UNIQUE,
        amount bigint NOT NULL CHECK (amount > 0),
        currency text NOT NULL,
        qr text NOT NULL,
        state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'paid', 'expired', 'failed')),
        expires_at timestamptz NOT NULL,
        notification_url text NOT NULL,
        paid_amount bigint,
        payment_id text,
        paid_at timestamptz,
        created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        CHECK ((state = 'paid') = (paid_at IS NOT NULL AND paid_amount IS NOT NULL AND payment_id IS NOT NULL))
      )`);
    this.addSql(`
      CREATE TABLE payments_sandbox_refund (
        key text PRIMARY KEY,
        reference text NOT NULL REFERENCES payments_sandbox_charge (reference),
        amount bigint NOT NULL CHECK (amount > 0),
        created_at timestamptz NOT NULL DEFAULT clock_timestamp()
      )`);
    this.addSql(`
      CREATE TABLE payments_sandbox_secret (
        id boolean PRIMARY KEY DEFAULT true CHECK (id),
        secret text NOT NULL
      )`);
  }

  override down(): void {
    this.addSql('DROP TABLE payments_sandbox_secret, payments_sandbox_refund, payments_sandbox_charge');
  }
}
