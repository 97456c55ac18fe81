import { Migration } from '@mikro-orm/migrations';

export class Migration20261129150010_receipts extends Migration {
  static readonly since = '0.6.0';

  override up(): void {
    this.addSql(`
      CREATE TABLE receipt (
        id uuid PRIMARY KEY,
        kind text NOT NULL,
        payment_id uuid NOT NULL,
        refund_key text UNIQUE,
        order_id uuid NOT NULL,
        account_id uuid NOT NULL,
        code text NOT NULL,
        made_at timestamptz NOT NULL,
        currency text NOT NULL,
        amount bigint NOT NULL,
        tax bigint,
        buyer text NOT NULL,
        company text,
        npwp text,
        content jsonb NOT NULL,
        added_company text,
        added_npwp text,
        added_at timestamptz,
        is_test boolean NOT NULL,
        number bigint,
        numbered_at timestamptz,
        created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        CONSTRAINT receipt_kind_check CHECK (kind IN ('payment', 'refund')),
        CONSTRAINT receipt_amount_check CHECK (amount > 0),
        CONSTRAINT receipt_of_refund CHECK ((kind = 'refund') = (refund_key IS NOT NULL)),
        CONSTRAINT receipt_numbered CHECK ((number IS NULL) = (numbered_at IS NULL)),
        CONSTRAINT receipt_test_has_no_number CHECK (NOT is_test OR number IS NULL),
        CONSTRAINT receipt_added_company CHECK ((added_company IS NULL) = (added_at IS NULL)),
        CONSTRAINT receipt_kind_number_unique UNIQUE (kind, number)
      )`);
    this.addSql(`CREATE UNIQUE INDEX receipt_of_payment ON receipt (payment_id) WHERE kind = 'payment'`);
    this.addSql('CREATE INDEX receipt_order ON receipt (order_id)');
    this.addSql('CREATE INDEX receipt_account ON receipt (account_id)');
    this.addSql('CREATE INDEX receipt_made_at ON receipt (made_at)');
    this.addSql('CREATE INDEX receipt_waiting ON receipt (kind, made_at) WHERE number IS NULL AND NOT is_test');
    // A receipt's content never changes; its number and a company can each be added once.
    this.addSql(`
      CREATE FUNCTION keep_receipt() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF (NEW.id, NEW.kind, NEW.payment_id, NEW.refund_key, NEW.order_id, NEW.account_id, NEW.code, NEW.made_at, NEW.currency, NEW.amount,
            NEW.tax, NEW.buyer, NEW.company, NEW.npwp, NEW.content, NEW.is_test, NEW.created_at)
          IS DISTINCT FROM (OLD.id, OLD.kind, OLD.payment_id, OLD.refund_key, OLD.order_id, OLD.account_id, OLD.code, OLD.made_at,
            OLD.currency, OLD.amount, OLD.tax, OLD.buyer, OLD.company, OLD.npwp, OLD.content, OLD.is_test, OLD.created_at)
          OR (OLD.number IS NOT NULL AND NEW.number IS DISTINCT FROM OLD.number)
          OR (OLD.added_at IS NOT NULL AND (NEW.added_company, NEW.added_npwp, NEW.added_at)
            IS DISTINCT FROM (OLD.added_company, OLD.added_npwp, OLD.added_at))
        THEN
          RAISE EXCEPTION 'receipts never change';
        END IF;
        RETURN NEW;
      END $$`);
    this.addSql('CREATE TRIGGER receipt_kept BEFORE UPDATE ON receipt FOR EACH ROW EXECUTE FUNCTION keep_receipt()');
    this.addSql('CREATE TABLE receipt_series (kind text PRIMARY KEY, last bigint NOT NULL)');
    this.addSql(`INSERT INTO receipt_series (kind, last) VALUES ('payment', 0), ('refund', 0)`);
  }

  override down(): void {
    this.addSql('DROP TABLE receipt_series, receipt');
    this.addSql('DROP FUNCTION keep_receipt');
  }
}
