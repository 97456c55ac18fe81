import { Migration } from '@mikro-orm/migrations';

/**
 * Makes `account.request_count` count every recorded request, as all pages do. It used to omit rejected requests and those that are
 * not model calls. The last 400 days come from usage; for older requests, the previous count stays.
 */
export class Migration20261126000011_count_all_requests extends Migration {
  static readonly since = '0.2.0';

  override up(): void {
    this.addSql(`
      UPDATE account SET request_count = greatest(request_count, counted.requests)
      FROM (
        SELECT account_id, sum(answered + refused + failed + aborted + interrupted) AS requests FROM (
          SELECT account_id, answered, refused, failed, aborted, interrupted FROM usage_account
          UNION ALL SELECT account_id, answered, refused, failed, aborted, interrupted FROM usage_delta
        ) AS parts WHERE account_id IS NOT NULL GROUP BY account_id
      ) AS counted WHERE account.id = counted.account_id`);
  }

  /** The previous counts are not stored. */
  override down(): void {}
}
