import { Migration } from '@mikro-orm/migrations';

/** Identities, orders, payments, ledger corrections, and events that must not be lost. */
export class Migration20261122000002_payments extends Migration {
  static readonly since = '0.1.0';

  override up(): void {
    this.#accounts();
    this.#orders();
    this.#payments();
    this.#ledger();
    this.#events();
  }

  #accounts(): void {
    this.addSql(`
      ALTER TABLE account
        ADD COLUMN language text, -- of mails: en, id
        ADD COLUMN blocked_at timestamptz,
        ADD COLUMN blocked_reason text,
        ADD COLUMN deleted_at timestamptz`);
    // One e-mail address, one account. If several accounts have the same one, the oldest keeps it.
    this.addSql(`
      UPDATE account a SET email = NULL WHERE EXISTS (
        SELECT FROM account b WHERE lower(b.email) = lower(a.email) AND (b.created_at, b.id) < (a.created_at, a.id))`);
    this.addSql('DROP INDEX account_email');
    this.addSql('CREATE UNIQUE INDEX account_email ON account (lower(email))');
    // Null if the key was never shown. Existing keys were printed when they were created.
    this.addSql('ALTER TABLE api_key ADD COLUMN shown_at timestamptz DEFAULT now()');
    this.addSql(`
      CREATE FUNCTION notify_own_account() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        PERFORM pg_notify('account', NEW.id::text);
        RETURN NULL;
      END $$`);
    this.addSql(
      `CREATE TRIGGER account_notify AFTER UPDATE OF blocked_at, deleted_at ON account
        FOR EACH ROW EXECUTE FUNCTION notify_own_account()`,
    );
    this.addSql(`
      CREATE TABLE identity (
        provider text NOT NULL,
        subject text NOT NULL, -- the provider's id of the person; never the e-mail address, which changes hands
        account_id uuid NOT NULL REFERENCES account (id) ON DELETE CASCADE,
        email text,
        name text NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        last_used_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (provider, subject)
      )`);
    this.addSql('CREATE INDEX identity_account ON identity (account_id)');
  }

  #orders(): void {
    // Copies the plan at the time of the order, so that a changed price does not affect open orders.
    this.addSql(`
      CREATE TABLE plan_order (
        id uuid PRIMARY KEY,
        code text NOT NULL UNIQUE, -- what people read
        account_id uuid NOT NULL REFERENCES account (id),
        days integer NOT NULL CHECK (days > 0),
        price bigint NOT NULL CHECK (price > 0),
        currency text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
        label text,
        limits jsonb,
        provider text NOT NULL,
        state text NOT NULL DEFAULT 'created'
          CHECK (state IN ('created', 'pending', 'expired', 'failed', 'cancelled', 'paid', 'refunded')),
        is_late boolean NOT NULL DEFAULT false, -- paid after it had expired, failed or been cancelled
        created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        expires_at timestamptz NOT NULL,
        paid_at timestamptz,
        CHECK ((state IN ('paid', 'refunded')) = (paid_at IS NOT NULL))
      )`);
    this.addSql('CREATE INDEX plan_order_account ON plan_order (account_id, created_at DESC, id DESC)');
    this.addSql("CREATE INDEX plan_order_open ON plan_order (expires_at) WHERE state IN ('created', 'pending')");
    this.addSql('CREATE INDEX plan_order_created ON plan_order (created_at DESC, id DESC)');
    this.addSql(`
      CREATE TABLE order_flag (
        id uuid PRIMARY KEY,
        order_id uuid NOT NULL REFERENCES plan_order (id),
        kind text NOT NULL CHECK (kind IN ('wrong_amount', 'wrong_currency', 'second_payment', 'disputed', 'refund_failed', 'reversed', 'wrong_reference', 'deleted_account')),
        subject text NOT NULL, -- the payment or refund that it is about
        detail jsonb NOT NULL DEFAULT '{}',
        created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        resolved_at timestamptz,
        resolution text,
        UNIQUE (order_id, kind, subject)
      )`);
    this.addSql('CREATE INDEX order_flag_open ON order_flag (created_at) WHERE resolved_at IS NULL');
  }

  #payments(): void {
    this.addSql(`
      CREATE TABLE payment_attempt (
        reference text PRIMARY KEY, -- ours, at the provider
        order_id uuid NOT NULL REFERENCES plan_order (id),
        number integer NOT NULL CHECK (number > 0),
        provider text NOT NULL,
        provider_reference text,
        charge text NOT NULL DEFAULT 'unknown' -- none: it certainly does not exist, and may be tried again
          CHECK (charge IN ('unknown', 'none', 'created', 'rejected')),
        qr text,
        payment_url text,
        amount bigint NOT NULL CHECK (amount > 0), -- to be paid, with the provider's fee where it adds one
        currency text NOT NULL,
        expires_at timestamptz NOT NULL,
        created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        state text NOT NULL DEFAULT 'unknown', -- that the provider stated last
        checked_at timestamptz,
        checks integer NOT NULL DEFAULT 0,
        failures integer NOT NULL DEFAULT 0, -- of checks, since one succeeded
        next_check_at timestamptz, -- null: it is settled
        error text,
        UNIQUE (order_id, number),
        UNIQUE (provider, provider_reference)
      )`);
    this.addSql('CREATE INDEX payment_attempt_due ON payment_attempt (next_check_at) WHERE next_check_at IS NOT NULL');
    this.addSql(`
      CREATE TABLE payment (
        id uuid PRIMARY KEY,
        order_id uuid NOT NULL REFERENCES plan_order (id),
        reference text NOT NULL REFERENCES payment_attempt (reference),
        provider text NOT NULL,
        payment_id text NOT NULL, -- the provider's
        amount bigint NOT NULL,
        currency text NOT NULL,
        paid_at timestamptz NOT NULL,
        issuer text,
        outcome text NOT NULL CHECK (outcome IN ('activated', 'wrong_amount', 'wrong_currency', 'second')),
        raw json NOT NULL,
        recorded_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        UNIQUE (provider, payment_id)
      )`);
    this.addSql('CREATE INDEX payment_order ON payment (order_id)');
    this.addSql("CREATE UNIQUE INDEX payment_activates_once ON payment (order_id) WHERE outcome = 'activated'");
    this.addSql(`
      CREATE TABLE refund (
        key text PRIMARY KEY, -- makes it idempotent at the provider
        order_id uuid NOT NULL REFERENCES plan_order (id),
        payment_id uuid REFERENCES payment (id),
        amount bigint NOT NULL CHECK (amount > 0),
        currency text NOT NULL,
        state text NOT NULL CHECK (state IN ('pending', 'done', 'failed')),
        is_manual boolean NOT NULL DEFAULT false, -- paid back by the operator, outside the provider
        reason text NOT NULL,
        raw json,
        created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        failures integer NOT NULL DEFAULT 0, -- of calls to the provider, since one succeeded
        next_check_at timestamptz, -- null: it is finished, or by hand
        finished_at timestamptz
      )`);
    this.addSql('CREATE INDEX refund_order ON refund (order_id)');
    this.addSql(`
      CREATE TABLE payment_notification (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        provider text NOT NULL,
        event_key text NOT NULL,
        reference text, -- ours; the order may not be committed yet, or be none of ours
        provider_reference text,
        refund_key text,
        payment_id text, -- the provider's, for the status read
        body text NOT NULL,
        evidence json, -- not jsonb, which refuses some texts that JSON allows
        received_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        tries integer NOT NULL DEFAULT 0,
        next_try_at timestamptz DEFAULT clock_timestamp(), -- null: processed
        outcome text,
        UNIQUE (provider, event_key)
      )`);
    this.addSql(
      'CREATE INDEX payment_notification_due ON payment_notification (next_try_at) WHERE next_try_at IS NOT NULL',
    );
  }

  /** A refund or correction appends a period that replaces another. The periods in force are those that none replaces. */
  #ledger(): void {
    this.addSql(`
      ALTER TABLE plan_period
        ADD COLUMN order_id uuid REFERENCES plan_order (id),
        ADD COLUMN replaces uuid UNIQUE REFERENCES plan_period (id),
        ADD COLUMN limits jsonb,
        DROP CONSTRAINT plan_period_reason_check,
        DROP CONSTRAINT plan_period_check,
        ADD CONSTRAINT plan_period_reason_check CHECK (reason IN ('grant', 'order', 'refund', 'revoke', 'shift')),
        ADD CONSTRAINT plan_period_length CHECK (ends_at > starts_at OR (ends_at = starts_at AND replaces IS NOT NULL)),
        ADD CONSTRAINT plan_period_replaces CHECK ((reason IN ('grant', 'order')) = (replaces IS NULL)),
        ADD CONSTRAINT plan_period_of_order CHECK (reason <> 'order' OR order_id IS NOT NULL)`);
    this.addSql("CREATE UNIQUE INDEX plan_period_activates_once ON plan_period (order_id) WHERE reason = 'order'");
  }

  /** Events are written in the transaction of the change that they report, published after the commit, and retried if publishing fails. */
  #events(): void {
    this.addSql(`
      CREATE TABLE account_event (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        name text NOT NULL,
        payload jsonb NOT NULL,
        dedupe_key text NOT NULL UNIQUE,
        created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        published_at timestamptz
      )`);
    this.addSql('CREATE INDEX account_event_unpublished ON account_event (id) WHERE published_at IS NULL');
  }

  override down(): void {
    this.addSql(
      'DROP TABLE account_event, payment_notification, refund, payment, payment_attempt, order_flag, identity',
    );
    this.addSql(
      `ALTER TABLE plan_period
        DROP COLUMN order_id, DROP COLUMN replaces, DROP COLUMN limits,
        DROP CONSTRAINT plan_period_reason_check,
        DROP CONSTRAINT plan_period_length,
        ADD CONSTRAINT plan_period_reason_check CHECK (reason IN ('grant', 'order')),
        ADD CONSTRAINT plan_period_check CHECK (ends_at > starts_at)`,
    );
    this.addSql('DROP TABLE plan_order');
    this.addSql('DROP TRIGGER account_notify ON account');
    this.addSql('DROP FUNCTION notify_own_account()');
    this.addSql('ALTER TABLE api_key DROP COLUMN shown_at');
    this.addSql('DROP INDEX account_email');
    this.addSql('CREATE INDEX account_email ON account (lower(email))');
    this.addSql(
      'ALTER TABLE account DROP COLUMN language, DROP COLUMN blocked_at, DROP COLUMN blocked_reason, DROP COLUMN deleted_at',
    );
  }
}
