import { Migration } from '@mikro-orm/migrations';

/** Notifies open pages when an order changes, whichever process changed it. */
export class Migration20261122000015_order_notify extends Migration {
  static readonly since = '0.1.0';

  override up(): void {
    this.addSql(`
      CREATE FUNCTION notify_order() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        PERFORM pg_notify('account_order', NEW.account_id::text);
        RETURN NULL;
      END $$`);
    this.addSql(
      `CREATE TRIGGER plan_order_notify AFTER INSERT OR UPDATE ON plan_order
        FOR EACH ROW EXECUTE FUNCTION notify_order()`,
    );
    this.addSql(`
      CREATE FUNCTION notify_part_of_order() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        PERFORM pg_notify('account_order', account_id::text) FROM plan_order WHERE id = NEW.order_id;
        RETURN NULL;
      END $$`);
    // A check that brings nothing new changes none of these columns.
    this.addSql(
      `CREATE TRIGGER payment_attempt_notify AFTER INSERT OR UPDATE OF charge, qr, state ON payment_attempt
        FOR EACH ROW EXECUTE FUNCTION notify_part_of_order()`,
    );
    this.addSql(
      `CREATE TRIGGER order_flag_notify AFTER INSERT OR UPDATE ON order_flag
        FOR EACH ROW EXECUTE FUNCTION notify_part_of_order()`,
    );
  }

  override down(): void {
    this.addSql('DROP TRIGGER plan_order_notify ON plan_order');
    this.addSql('DROP TRIGGER payment_attempt_notify ON payment_attempt');
    this.addSql('DROP TRIGGER order_flag_notify ON order_flag');
    this.addSql('DROP FUNCTION notify_order(), notify_part_of_order()');
  }
}
