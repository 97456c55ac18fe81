import { Migration } from '@mikro-orm/migrations';

/** Lets an event be sent on several channels: to the customer, and to the operator by mail and webhook. */
export class Migration20261125000021_alerts extends Migration {
  static readonly since = '0.2.0';

  override up(): void {
    this.addSql(`
      ALTER TABLE mail_message
        ADD COLUMN channel text NOT NULL DEFAULT 'customer' CHECK (channel IN ('customer', 'operator', 'webhook')),
        ALTER COLUMN account_id DROP NOT NULL, -- null: for the operator
        DROP CONSTRAINT mail_message_pkey`);
    this.addSql('ALTER TABLE mail_message ADD PRIMARY KEY (event_id, channel)');
  }

  override down(): void {
    this.addSql(`DELETE FROM mail_message WHERE channel <> 'customer'`);
    this.addSql(`
      ALTER TABLE mail_message
        DROP CONSTRAINT mail_message_pkey,
        DROP COLUMN channel,
        ALTER COLUMN account_id SET NOT NULL`);
    this.addSql('ALTER TABLE mail_message ADD PRIMARY KEY (event_id)');
  }
}
